import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, ask } from "@/api/client";
import { keys } from "@/api/queries";
import { toastError } from "@/ui/toast";

/** Ends this browser's sign-in. */
export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => ask(api.POST("/api/v1/logout")),
    onSuccess: () => client.resetQueries({ queryKey: keys.whoami }),
    onError: toastError,
  });
}
