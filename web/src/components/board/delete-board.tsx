import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { keys } from "@/api/queries";
import { DeleteConfirm } from "@/components/delete-confirm";
import { Button } from "@/ui/button";
import { plain } from "@/util/text";

/** Deletes a board after a question. */
export function DeleteBoard({ id, name }: { id: string; name: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = (force: boolean) =>
    ask(
      api.DELETE("/api/v1/boards/{board}", {
        params: { path: { board: id }, query: force ? { force } : {}, header: mark() },
      }),
    );
  return (
    <>
      <Button aria-label={`Delete the board ${plain(name)}`} onClick={() => setAsking(true)}>
        <Trash2 size={14} aria-hidden="true" />
      </Button>
      {isAsking && (
        <DeleteConfirm
          what="board"
          name={name}
          about="Its zones and its arrangement are deleted."
          forced="Sessions, worktrees and loops stay without a board; tasks, notes and webhooks of the board are deleted."
          remove={remove}
          onDeleted={async () => {
            await client.invalidateQueries({ queryKey: keys.boards });
            await navigate({ to: "/boards" });
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
