import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";

import { api, ask, mark, type Board, type Schemas } from "@/api/client";
import { keys } from "@/api/queries";
import { put } from "@/live/put";
import { toastError } from "@/ui/toast";

/** What to change about a board; what is absent stays. */
export interface BoardChange {
  name?: string;
  zones?: Schemas["ZoneInputRequest"][];
  remove_zones?: string[];
  place?: Schemas["PlaceInput"][];
  remove_items?: Schemas["ItemInput"][];
}

/** Shows a board as the server answered, unless something newer was heard of meanwhile. */
export function keepBoard(client: QueryClient, id: string, changed: Board): void {
  put<Board>(client, keys.board(id), (kept) => (kept && kept.revision > changed.revision ? kept : changed));
}

/**
 * Changes a board. Only what is to be changed is sent, so that two people who change different things at the same time both
 * succeed. What was refused is said, and the board is shown as it really is again.
 */
export function useBoardChange(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: BoardChange) =>
      ask(
        api.PATCH("/api/v1/boards/{board}", {
          params: { path: { board: id }, header: mark() },
          body: change,
          // A placement is sent even if the page is closed meanwhile; browsers allow that for small requests only.
          keepalive: change.zones === undefined,
        }),
      ),
    onSuccess: (changed) => keepBoard(client, id, changed),
    onError: (error) => {
      toastError(error);
      return client.invalidateQueries({ queryKey: keys.board(id) });
    },
  });
}
