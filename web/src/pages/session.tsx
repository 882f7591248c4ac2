import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronsLeft, ChevronsRight } from "lucide-react";
import { Tabs } from "radix-ui";
import { useEffect, useRef } from "react";

import type { Session } from "@/api/client";
import { approvalsOf, session as sessionQuery, shortId } from "@/api/queries";
import { ApprovalCard } from "@/components/approval";
import { Conversation } from "@/components/conversation";
import { DiffPane } from "@/components/diff-pane";
import { LogPane } from "@/components/log-pane";
import { PromptBox } from "@/components/prompt-box";
import { NarrowedNotice } from "@/components/requested-terms";
import { SessionHeader } from "@/components/session-header";
import { SettledApprovals } from "@/components/settled";
import { SettingsPane } from "@/components/settings-pane";
import { TasksPane } from "@/components/tasks-pane";
import { TreePane } from "@/components/tree-pane";
import { TurnsPane } from "@/components/turns-pane";
import { useAllPages } from "@/hooks/use-all-pages";
import { usePageTitle } from "@/hooks/use-page-title";
import { asFlag, useStored } from "@/hooks/use-stored";
import { Button } from "@/ui/button";
import { Loaded } from "@/ui/loaded";
import { panesOf, type Pane } from "@/util/panes";
import { notOwn } from "@/util/session";

const NAMES: Record<Pane, string> = { diff: "Diff", tree: "Tree", turns: "Turns", tasks: "Tasks", log: "Log", settings: "Settings" };

/** One session: its conversation, what it waits for, and panes with what came of it. */
export function SessionPage() {
  const { session: id } = useParams({ from: "/sessions/$session" });
  const query = useQuery(sessionQuery(id));
  usePageTitle(query.data?.title ?? "Session");
  return <Loaded query={query}>{(session) => <Shown key={session.id} session={session} />}</Loaded>;
}

function Shown({ session }: { session: Session }) {
  const id = shortId(session.id);
  const { pane, at } = useSearch({ from: "/sessions/$session" });
  const navigate = useNavigate();
  const [isWide, setWide] = useStored("wide-pane", false, asFlag);
  const panes = panesOf(session);
  const open = panes.find((name) => name === pane) ?? panes[0] ?? "turns";
  const paneArea = useRef<HTMLDivElement>(null);
  // On a phone the panes are below the conversation; beside it they are in view already.
  const reveal = () => paneArea.current?.scrollIntoView({ block: "start" });
  const isAskedFor = pane !== undefined;
  useEffect(() => {
    if (isAskedFor) paneArea.current?.scrollIntoView({ block: "start" });
  }, [isAskedFor]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <SessionHeader id={id} session={session} />
      <NarrowedNotice id={id} />
      <div className="flex min-h-0 flex-1 max-lg:flex-col max-lg:overflow-y-auto">
        <section aria-label="Conversation and prompt" className="flex min-h-0 min-w-0 flex-1 flex-col max-lg:h-[88%] max-lg:flex-none">
          <SettledApprovals session={id} isAsked={!session.shared}>
            <Conversation key={at} session={id} count={session.last_seq} at={at} />
          </SettledApprovals>
          {!session.shared && <Waiting id={id} />}
          <PromptBox id={id} session={session} />
        </section>
        <Tabs.Root
          ref={paneArea}
          value={open}
          onValueChange={(value) => {
            reveal();
            void navigate({
              to: "/sessions/$session",
              params: { session: id },
              search: { pane: value as Pane },
              replace: true,
            });
          }}
          className={`flex min-h-0 ${isWide ? "w-[70%]" : "w-[44%]"} flex-col border-l border-line max-lg:h-[94%] max-lg:w-full max-lg:flex-none max-lg:border-t max-lg:border-l-0`}
        >
          <div className="flex items-center border-b border-line bg-panel px-2">
            <Tabs.List aria-label="Panes" className="flex min-w-0 flex-1 gap-1 overflow-x-auto">
              {panes.map((name) => (
                <Tabs.Trigger
                  key={name}
                  value={name}
                  onClick={reveal}
                  className="border-b-2 border-transparent px-3 py-2 text-muted data-[state=active]:border-accent data-[state=active]:text-text"
                >
                  {NAMES[name]}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            <Button look="quiet" className="px-1.5 max-lg:hidden" aria-pressed={isWide} aria-label="Wide pane" onClick={() => setWide(!isWide)}>
              {isWide ? <ChevronsRight size={16} aria-hidden="true" /> : <ChevronsLeft size={16} aria-hidden="true" />}
            </Button>
          </div>
          <Tabs.Content value="diff" className="min-h-0 flex-1">
            <DiffPane id={id} session={session} />
          </Tabs.Content>
          <Tabs.Content value="tree" className="min-h-0 flex-1">
            <TreePane id={id} refused={notOwn(session)} />
          </Tabs.Content>
          <Tabs.Content value="turns" className="min-h-0 flex-1">
            <TurnsPane id={id} refused={notOwn(session)} />
          </Tabs.Content>
          <Tabs.Content value="tasks" className="min-h-0 flex-1">
            <TasksPane of={{ session: id }} />
          </Tabs.Content>
          <Tabs.Content value="log" className="min-h-0 flex-1">
            <LogPane id={id} />
          </Tabs.Content>
          <Tabs.Content value="settings" className="min-h-0 flex-1">
            <SettingsPane id={id} session={session} />
          </Tabs.Content>
        </Tabs.Root>
      </div>
    </div>
  );
}

/** What the session waits for, where it cannot be overlooked. */
function Waiting({ id }: { id: string }) {
  const own = useAllPages(approvalsOf(id)).data?.rows.filter(({ state }) => state === "pending") ?? [];
  if (own.length === 0) {
    return null;
  }
  return (
    <div className="flex max-h-[45vh] flex-col gap-2 overflow-y-auto border-t border-line bg-sunken p-3">
      {own.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} />
      ))}
    </div>
  );
}
