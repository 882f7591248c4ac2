import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useState } from "react";

import { api, ask, mark, type Turn } from "@/api/client";
import { promptOf, turnList } from "@/api/queries";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { inRunOrder } from "@/util/queue";
import { counted, plain, shortened } from "@/util/text";

/** How many queued prompts are shown at first: the words of each are a request of their own. */
const SHOWN_FIRST = 10;

interface Props {
  session: string;
  /** Why none can be cancelled, if none can. */
  refused: string | undefined;
}

/** Prompts that wait for their turn, in the order in which they run. */
export function Queue({ session, refused }: Props) {
  // Queued prompts are the latest turns, and there are fewer of them than a page has rows.
  const turns = useInfiniteQuery(turnList(session));
  const queued = inRunOrder(turns.data?.rows ?? []);
  const [isWhole, setIsWhole] = useState(false);
  if (queued.length === 0) {
    return null;
  }
  return (
    <section aria-label="Queued prompts" className="mb-2 rounded-md bg-sunken px-3 py-1.5 text-sm text-muted">
      <p role="status">{counted(queued.length, "queued prompt")}</p>
      <ol className="max-h-40 overflow-y-auto">
        {queued.slice(0, isWhole ? undefined : SHOWN_FIRST).map((turn) => (
          <Queued key={turn.id} session={session} turn={turn} refused={refused} />
        ))}
      </ol>
      {!isWhole && queued.length > SHOWN_FIRST && (
        <Button look="quiet" className="px-1 py-0.5" onClick={() => setIsWhole(true)}>
          Show {queued.length - SHOWN_FIRST} more
        </Button>
      )}
    </section>
  );
}

function Queued({ session, turn, refused }: Props & { turn: Turn }) {
  const { data: prompt } = useQuery(promptOf(turn.id));
  const words = prompt === undefined ? `Turn ${turn.number}` : shortened(prompt, 120);
  const cancel = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/v1/sessions/{session}/interrupt", {
          params: { path: { session }, header: mark() },
          body: { turn: turn.id },
        }),
      ),
    onError: toastError,
  });
  return (
    <li className="flex items-center gap-2">
      <span dir="auto" className="min-w-0 flex-1 truncate">
        “{plain(words)}”
      </span>
      <Button
        look="quiet"
        className="px-1 py-0.5"
        aria-label={`Cancel the queued prompt ${plain(words)}`}
        refused={refused}
        disabled={cancel.isPending || cancel.isSuccess}
        onClick={() => cancel.mutate()}
      >
        <X size={13} aria-hidden="true" /> Cancel
      </Button>
    </li>
  );
}
