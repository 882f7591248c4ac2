import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { GitFork } from "lucide-react";

import { api, ask, mark, type Turn } from "@/api/client";
import { promptOf, shortId, turnList } from "@/api/queries";
import { useNow } from "@/hooks/use-now";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { toast, toastError } from "@/ui/toast";
import { keepTerms } from "@/util/terms";
import { ago, counted, plain, shortened } from "@/util/text";

import { Cost } from "./cost";
import { StateBadge } from "./state-badge";

/** Of how many turns the prompt is shown; each has to be asked for. */
const PROMPTS_SHOWN = 30;

/** The session's turns, latest first; another session can be begun at the end of each. */
export function TurnsPane({ id, refused }: { id: string; refused: string | undefined }) {
  const turns = useInfiniteQuery(turnList(id));
  const now = useNow();
  const navigate = useNavigate();
  const fork = useMutation({
    mutationFn: (turn: Turn) =>
      ask(
        api.POST("/api/v1/sessions/{session}/forks", {
          params: { path: { session: id }, header: mark() },
          body: { turn: String(turn.number) },
        }),
      ),
    onSuccess: (made) => {
      const hasFiles = made.forked_from?.uncommitted === "taken";
      keepTerms(shortId(made.id), { requested: [], narrowed: made.narrowed ?? [] });
      toast("The session was forked", hasFiles ? "Its worktree has the uncommitted files of that turn." : undefined);
      return navigate({ to: "/sessions/$session", params: { session: shortId(made.id) } });
    },
    onError: toastError,
  });
  return (
    <Loaded query={turns}>
      {({ rows, total }) => (
        <div className="h-full overflow-y-auto p-3">
          {rows.length === 0 && <Empty title="No turns yet">A turn is one prompt and all that came of it.</Empty>}
          <ol aria-label="Turns" reversed className="flex flex-col gap-2">
            {rows.map((turn, index) => (
              <li key={turn.id} className="flex flex-wrap items-center gap-2 rounded-md border border-line bg-panel px-3 py-2">
                <span className="font-medium">Turn {turn.number}</span>
                <StateBadge state={turn.state} />
                <span className="text-sm text-muted">
                  {ago(turn.created_at, now)} · {counted(turn.tokens_used, "token")}
                  {turn.cost_micros > 0 && (
                    <>
                      {" · "}
                      <Cost of={turn} />
                    </>
                  )}
                </span>
                <Button
                  look="quiet"
                  className="ml-auto"
                  aria-label={`Fork after turn ${turn.number}`}
                  refused={refused ?? (turn.finished_at ? undefined : "The turn is not over.")}
                  disabled={fork.isPending}
                  onClick={() => fork.mutate(turn)}
                >
                  <GitFork size={14} aria-hidden="true" /> Fork
                </Button>
                {index < PROMPTS_SHOWN && <PromptOf turn={turn.id} />}
                {turn.reason && <p className="w-full text-sm break-words text-muted">{plain(turn.reason)}</p>}
              </li>
            ))}
          </ol>
          <ShowMore list={turns} shown={rows.length} total={total} />
        </div>
      )}
    </Loaded>
  );
}

/** What a turn was begun with. */
function PromptOf({ turn }: { turn: string }) {
  const { data } = useQuery(promptOf(turn));
  return data ? (
    <p dir="auto" className="line-clamp-2 w-full text-sm break-words">
      {plain(shortened(data, 240))}
    </p>
  ) : null;
}
