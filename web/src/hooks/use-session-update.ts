import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, ask, mark, type Session } from "@/api/client";
import { keys } from "@/api/queries";
import { put } from "@/live/put";
import { toast, toastError } from "@/ui/toast";

/** What to change about a session; what is absent stays. */
export interface SessionChange {
  title?: string;
  /** A limit that is null is removed. */
  budget?: Record<string, number | null>;
  model?: string;
}

/** Changes a session, and says so. */
export function useSessionUpdate(id: string, done: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SessionChange) =>
      ask(api.PATCH("/api/v1/sessions/{session}", { params: { path: { session: id }, header: mark() }, body })),
    onSuccess: (changed) => {
      // Models and commands are only told of a session that is read.
      put<Session>(client, keys.session(id), (kept) => ({
        ...changed,
        ...(kept?.models && { models: kept.models }),
        ...(kept?.commands && { commands: kept.commands }),
        ...(kept?.tools_link && { tools_link: kept.tools_link }),
      }));
      toast(done);
    },
    onError: toastError,
  });
}
