import type { ReactNode } from "react";

/** Stands where nothing is yet, and says what to do first. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line p-8 text-center">
      <p className="font-medium">{title}</p>
      {children && <div className="max-w-prose text-muted">{children}</div>}
    </div>
  );
}
