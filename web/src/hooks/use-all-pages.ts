import { useInfiniteQuery, type DefaultError, type QueryKey, type UseInfiniteQueryOptions } from "@tanstack/react-query";
import { useEffect } from "react";

/** Reads a list to its end, page by page: for choices, which would lack what is on a later page. */
export function useAllPages<Page, T, Key extends QueryKey>(options: UseInfiniteQueryOptions<Page, DefaultError, T, Key, string>) {
  const list = useInfiniteQuery(options);
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) {
      void fetchNextPage();
    }
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  return list;
}
