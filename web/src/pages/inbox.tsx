import { Link } from "@tanstack/react-router";
import { useId, type ReactNode } from "react";

import type { SessionCard } from "@/api/client";
import { ApprovalCard } from "@/components/approval";
import { NotifyButton, SoundButton } from "@/components/notify";
import { SessionCardItem } from "@/components/session-card";
import { useInbox, type Inbox } from "@/hooks/use-inbox";
import { useManage } from "@/hooks/use-manage";
import { useNow } from "@/hooks/use-now";
import { usePageTitle } from "@/hooks/use-page-title";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { sessionCan } from "@/util/session";
import { plain } from "@/util/text";

/** All that waits for a person: answers first, then what broke or ran out. */
export function InboxPage() {
  usePageTitle("Inbox");
  const inbox = useInbox();
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-6 p-6">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Inbox</h1>
          <div className="flex flex-wrap items-center gap-2">
            <SoundButton />
            <NotifyButton />
          </div>
        </div>
        <Loaded query={inbox}>{(contents) => <Contents inbox={contents} />}</Loaded>
        {inbox.hasMore && (
          <Button className="self-center" disabled={inbox.isReadingMore} onClick={() => void inbox.readMore()}>
            Show older
          </Button>
        )}
      </div>
    </div>
  );
}

function Contents({ inbox: { approvals, broken, spent } }: { inbox: Inbox }) {
  if (approvals.length + broken.length + spent.length === 0) {
    return (
      <Empty title="Nothing needs you">
        Permissions that agents ask for, their questions, sessions that broke and budgets that are used up appear here.
      </Empty>
    );
  }
  return (
    <>
      {approvals.length > 0 && (
        <Part title="Waiting for your answer">
          {approvals.map((approval) => (
            <ApprovalCard key={approval.id} approval={approval} withSession />
          ))}
        </Part>
      )}
      <Cards title="Failed or interrupted" sessions={broken} />
      <Cards title="Budget used up" sessions={spent} />
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <h2 id={heading} className="text-sm font-semibold text-muted">
        {title}
      </h2>
      {children}
    </section>
  );
}

function Cards({ title, sessions }: { title: string; sessions: SessionCard[] }) {
  const now = useNow();
  if (sessions.length === 0) {
    return null;
  }
  return (
    <Part title={title}>
      {sessions.map((session) => (
        <div key={session.id} className="relative">
          <SessionCardItem session={session} now={now} />
          <Actions session={session} />
        </div>
      ))}
    </Part>
  );
}

/** What gets a session out of here: it goes on, or is put away. */
function Actions({ session }: { session: SessionCard }) {
  const manage = useManage(session.id);
  const isBusy = manage.isPending || manage.isSuccess;
  return (
    <div className="flex justify-end gap-2 max-sm:mt-1 sm:absolute sm:right-2 sm:bottom-2">
      {session.budget_spent && (
        <Link
          to="/sessions/$session"
          params={{ session: session.id }}
          search={{ pane: "settings" }}
          aria-label={`Raise the budget of ${plain(session.title)}`}
          className="rounded-md border border-line bg-panel px-3 py-1.5 text-sm hover:border-accent"
        >
          Raise budget
        </Link>
      )}
      {sessionCan.resume(session) === undefined && (
        <Button disabled={isBusy} aria-label={`Resume ${plain(session.title)}`} onClick={() => manage.mutate("start")}>
          Resume
        </Button>
      )}
      <Button disabled={isBusy} aria-label={`Archive ${plain(session.title)}`} onClick={() => manage.mutate("archive")}>
        Archive
      </Button>
    </div>
  );
}
