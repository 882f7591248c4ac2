import { Undo2 } from "lucide-react";

import type { Placing } from "@/hooks/use-placing";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { plain } from "@/util/text";

import { Name } from "../name";

/** What was moved into a zone and is not saved yet: it can be undone, or has to be confirmed. */
export function Held({ placing: { held, asked, undo, confirm, cancel } }: { placing: Placing }) {
  const undoable = held.filter(({ canUndo }) => canUndo);
  return (
    <>
      {undoable.length > 0 && (
        <ul aria-label="Moves that can be undone" className="absolute bottom-4 left-1/2 z-30 flex w-96 max-w-[calc(100%-2rem)] -translate-x-1/2 flex-col gap-2">
          {undoable.map((wish) => (
            <li key={wish.item.id} className="flex items-center justify-between gap-3 rounded-md border border-line bg-raised p-3 shadow-lg">
              <span role="status" className="min-w-0">
                <Name className="block truncate font-medium">{wish.title}</Name>
                <span className="block text-sm text-muted">
                  moves to <bdi>{plain(wish.zone?.name ?? "")}</bdi> and gets its prompt in 5 seconds.
                </span>
              </span>
              <Button aria-label={`Undo the move of ${plain(wish.title)}`} onClick={() => undo(wish)}>
                <Undo2 size={14} aria-hidden="true" /> Undo
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Confirm
        title={`Start ${plain(asked?.zone?.agent ?? "an agent")} in ${plain(asked?.title ?? "")}?`}
        about={`No session there takes prompts. The zone ${plain(asked?.zone?.name ?? "")} starts one and gives it its prompt.`}
        action="Start session"
        isOpen={asked !== undefined}
        onClose={cancel}
        onConfirm={confirm}
      />
    </>
  );
}
