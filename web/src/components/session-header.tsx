import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Ellipsis } from "lucide-react";
import { useState } from "react";

import type { Session } from "@/api/client";
import { session as sessionAbout, shortId } from "@/api/queries";
import { useManage } from "@/hooks/use-manage";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Menu, MenuItem } from "@/ui/menu";
import { notOwn, sessionCan } from "@/util/session";
import { plain } from "@/util/text";

import { Cost } from "./cost";
import { Name } from "./name";
import { StateBadge } from "./state-badge";

/** What the session is, what it is at, and what can be done with it. */
export function SessionHeader({ id, session }: { id: string; session: Session }) {
  const [isDeleting, setDeleting] = useState(false);
  const manage = useManage(id);
  return (
    <header role="group" aria-label="About this session" className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-2">
      <Link to="/" aria-label="All sessions" className="rounded p-1 text-muted hover:bg-sunken">
        <ArrowLeft size={16} aria-hidden="true" />
      </Link>
      <h1 className="min-w-0 truncate text-base font-semibold">
        <Name>{session.title}</Name>
      </h1>
      <StateBadge state={session.state} />
      {session.archived && <Badge>archived</Badge>}
      {session.forked_from && <ForkedFrom from={session.forked_from} />}
      {session.shared && <Badge>shared with you to {session.shared}</Badge>}
      {session.tools_link === "broken" && <Badge tone="warn">its tools are not connected</Badge>}
      <span className="text-sm text-muted">
        {session.agent}
        {session.model && ` (${plain(session.model)})`} · {session.tokens_used} tokens
        {session.cost_micros > 0 && (
          <>
            {" · "}
            <Cost of={session} />
          </>
        )}
      </span>
      <span className="ml-auto flex gap-2">
        {sessionCan.resume(session) === undefined ? (
          <Button look="primary" disabled={manage.isPending} onClick={() => manage.mutate("start")}>
            Resume
          </Button>
        ) : (
          <Button refused={sessionCan.stop(session)} disabled={manage.isPending} onClick={() => manage.mutate("stop")}>
            Stop
          </Button>
        )}
        <More
          session={session}
          onArchive={() => manage.mutate(session.archived ? "restore" : "archive")}
          onDelete={() => setDeleting(true)}
        />
      </span>
      {session.failure && (
        <p role="alert" className="w-full text-sm break-words text-danger">
          It failed: {plain(session.failure)}
        </p>
      )}
      {session.budget_spent && !session.shared && (
        <p role="status" className="flex w-full items-center gap-2 text-sm text-warn">
          Its budget of {plain(session.budget_spent)} is used up; no prompt is run.
          <Link to="/sessions/$session" params={{ session: id }} search={{ pane: "settings" }} className="underline">
            Raise the budget
          </Link>
        </p>
      )}
      <Confirm
        title="Delete this session?"
        about="It is stopped, and its conversation is deleted for good. Its branch stays."
        action="Delete"
        isOpen={isDeleting}
        isBusy={manage.isPending}
        onClose={() => setDeleting(false)}
        onConfirm={() => manage.mutate("delete", { onSettled: () => setDeleting(false) })}
      />
    </header>
  );
}

/** Links to the session that this one was forked from. */
function ForkedFrom({ from }: { from: NonNullable<Session["forked_from"]> }) {
  const id = shortId(from.session_id);
  const source = useQuery(sessionAbout(id));
  return (
    <span className="min-w-0 truncate text-sm text-muted">
      forked from{" "}
      {source.isError ? (
        `session ${id}`
      ) : (
        <Link to="/sessions/$session" params={{ session: id }} className="text-accent hover:underline">
          {source.data ? <Name>{source.data.title}</Name> : id}
        </Link>
      )}{" "}
      after turn {from.turn}
    </span>
  );
}

interface MoreProps {
  session: Session;
  onArchive: () => void;
  onDelete: () => void;
}

function More({ session, onArchive, onDelete }: MoreProps) {
  const refused = sessionCan.delete(session);
  const trigger = (
    <Button aria-label="More actions">
      <Ellipsis size={16} aria-hidden="true" />
    </Button>
  );
  return (
    <Menu trigger={trigger}>
      <MenuItem refused={notOwn(session)} onSelect={onArchive}>{session.archived ? "Restore" : "Archive"}</MenuItem>
      <MenuItem isDangerous refused={refused} onSelect={onDelete}>
        Delete…
      </MenuItem>
    </Menu>
  );
}
