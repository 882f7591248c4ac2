import { Button } from "./button";

/** A list that is read page by page. */
interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** Says how much of a list is shown, and reads the next page; nothing when all of it is shown. */
export function ShowMore({ list, shown, total }: { list: Paged; shown: number; total: number | null | undefined }) {
  if (!list.hasNextPage) {
    return null;
  }
  return (
    <p className="mt-2 flex items-center gap-2 text-sm text-muted">
      Showing {shown}
      {total != null && ` of ${total}`}
      <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Show more
      </Button>
    </p>
  );
}
