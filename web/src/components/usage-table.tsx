import type { ReactNode } from "react";

import { measured, short, type Measure, type Usage } from "@/util/usage";

import { Cost } from "./cost";

export interface UsageRow {
  key: string;
  name: ReactNode;
  usage: Usage;
}

interface Props {
  /** What the table is about, for those who do not see its place. */
  caption: string;
  /** What a row is. */
  of: string;
  rows: UsageRow[];
  /** Shows each row's part of the whole beside its name. */
  shares?: Measure;
}

/** What was used, a row for each. */
export function UsageTable({ caption, of, rows, shares }: Props) {
  const most = shares ? Math.max(1, ...rows.map((row) => measured(row.usage, shares))) : 1;
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-panel">
      <table className="w-full text-left">
        <caption className="sr-only">{caption}</caption>
        <thead className="text-sm text-muted">
          <tr>
            <th scope="col" className="px-3 py-2 font-medium">
              {of}
            </th>
            {["Cost", "In", "Cached", "Out", "Turns"].map((title) => (
              <th key={title} scope="col" className="px-3 py-2 text-right font-medium whitespace-nowrap">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, usage }) => (
            <tr key={key} className="border-t border-line">
              <th scope="row" className="w-full min-w-40 px-3 py-1.5 font-normal wrap-anywhere">
                {name}
                {shares && <Share part={measured(usage, shares) / most} />}
              </th>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums"><Cost of={usage} /></td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">{short(usage.input_tokens)}</td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">{short(usage.cached_tokens)}</td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">{short(usage.output_tokens)}</td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">{usage.turns}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Share({ part }: { part: number }) {
  return (
    <svg viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true" className="mt-1 block h-1 w-full max-w-80">
      <rect width={100} height={2} className="fill-sunken" />
      <rect width={100 * part} height={2} className="fill-accent" />
    </svg>
  );
}
