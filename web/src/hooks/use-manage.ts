import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { api, ask, mark } from "@/api/client";
import { keys } from "@/api/queries";
import { put } from "@/live/put";
import { toast, toastError } from "@/ui/toast";

const DONE = { start: "resumed", stop: "being stopped", archive: "archived", restore: "restored", delete: "deleted" };
type Action = keyof typeof DONE;

/** Starts, stops, archives, restores or deletes a session. `id` is its last 8 digits. */
export function useManage(id: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (action: Action) =>
      ask(
        api.POST("/api/v1/sessions/{session}/manage", {
          params: { path: { session: id }, header: mark() },
          body: { action },
        }),
      ),
    onSuccess: async (changed, action) => {
      toast(`The session is ${DONE[action]}`);
      if (action === "delete") {
        await navigate({ to: "/" });
      } else {
        put(client, keys.session(id), changed);
      }
    },
    onError: toastError,
  });
}
