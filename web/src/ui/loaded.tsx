import type { ReactNode } from "react";

import { ApiError } from "@/api/client";

import { Button } from "./button";

/** Something that is asked for, of whatever kind the question is. */
interface Query<T> {
  data: T | undefined;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
}

/** Shows what a query holds, or that it is on its way, or why it is not. What is gone by now is not shown as if it were there. */
export function Loaded<T>({ query, children }: { query: Query<T>; children: (data: T) => ReactNode }) {
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  if (query.data !== undefined && !isGone) {
    return children(query.data);
  }
  if (query.isError) {
    return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  }
  return (
    <p role="status" className="p-4 text-muted">
      Loading…
    </p>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const told = error instanceof Error ? error.message : "something went wrong";
  return (
    <div role="alert" className="m-4 rounded-md border border-danger bg-danger-soft p-3">
      <p className="font-medium text-danger">{told}</p>
      {error instanceof ApiError && error.hint && <p className="text-text">{error.hint}</p>}
      {onRetry && (
        <Button className="mt-2" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
