import type { ReactNode } from "react";

interface Props {
  columns: string[];
  /** Whether the last column holds buttons, which need no title that is seen. */
  hasActions?: boolean;
  className?: string;
  /** The rows. */
  children: ReactNode;
}

/** A table that scrolls sideways by itself where it does not fit. */
export function Table({ columns, hasActions = false, className = "", children }: Props) {
  return (
    <div className="relative overflow-x-auto rounded-lg border border-line bg-panel">
      <table className={`w-full text-left ${className}`}>
        <thead className="text-sm text-muted">
          <tr>
            {columns.map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-medium">
                {title}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span className="sr-only">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
