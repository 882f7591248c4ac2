import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { api, ApiError, ask, mark } from "@/api/client";
import { keys } from "@/api/queries";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { toast, toastError } from "@/ui/toast";

/** Deletes a board after a question. While something depends on it the server says what, and asks to be told so. */
export function DeleteBoard({ id, name }: { id: string; name: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [inUse, setInUse] = useState<string>();
  const remove = useMutation({
    mutationFn: (force: boolean) =>
      ask(
        api.DELETE("/api/v1/boards/{board}", {
          params: { path: { board: id }, query: force ? { force } : {}, header: mark() },
        }),
      ),
    onSuccess: async () => {
      toast(`Deleted the board ${name}`);
      setAsking(false);
      await client.invalidateQueries({ queryKey: keys.boards });
      await navigate({ to: "/boards" });
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === "CONFLICT") {
        setInUse(error.message);
        return;
      }
      setAsking(false);
      toastError(error);
    },
  });
  return (
    <>
      <Button
        aria-label={`Delete the board ${name}`}
        onClick={() => {
          setInUse(undefined);
          setAsking(true);
        }}
      >
        <Trash2 size={14} aria-hidden="true" />
      </Button>
      <Confirm
        title={`Delete the board ${name}?`}
        about={
          inUse
            ? `${inUse}. Sessions, worktrees and loops stay without a board; tasks, notes and webhooks of the board are deleted.`
            : "Its zones and its arrangement are deleted. This cannot be undone."
        }
        action={inUse ? "Delete anyway" : "Delete"}
        isOpen={isAsking}
        isBusy={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate(inUse !== undefined)}
      />
    </>
  );
}
