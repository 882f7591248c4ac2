import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, ask, mark, type Session } from "@/api/client";
import { keys } from "@/api/queries";
import { put } from "@/live/put";
import { Button } from "@/ui/button";
import { toast, toastError } from "@/ui/toast";

/** Lets a person create a session that directs the others. */
export function LeadChoice({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className="flex items-start gap-2">
      <input type="checkbox" className="mt-1" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>
        Let it lead
        <span className="block text-sm text-muted">
          The agent can see and direct all your sessions, boards, worktrees and loops, and create new ones. Use this only with text you trust.
        </span>
      </span>
    </label>
  );
}

/** Takes the role lead away from a session that has it. */
export function LeadRole({ id, session }: { id: string; session: Session }) {
  const client = useQueryClient();
  const demote = useMutation({
    mutationFn: () =>
      ask(
        api.PATCH("/api/v1/sessions/{session}", {
          params: { path: { session: id }, header: mark() },
          body: { role: "general" },
        }),
      ),
    onSuccess: (changed) => {
      put(client, keys.session(id), changed);
      toast("The session no longer leads");
    },
    onError: toastError,
  });
  if (session.role !== "lead") return null;
  return (
    <div className="mt-4 flex items-center justify-between gap-3">
      <p className="text-sm text-muted">This session leads: its agent can see and direct everything you own.</p>
      <Button disabled={demote.isPending} onClick={() => demote.mutate()}>
        Take the role away
      </Button>
    </div>
  );
}
