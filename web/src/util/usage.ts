import type { Schemas } from "@/api/client";

export type Usage = Schemas["UsageView"];
export type UsageReport = Schemas["UsageReportView"];

/** What a chart can show of usage. */
export type Measure = "cost" | "tokens";

const DAY_MS = 86_400_000;

export const tokensOf = (usage: Usage): number => usage.input_tokens + usage.cached_tokens + usage.output_tokens;

export const measured = (usage: Usage, measure: Measure): number =>
  measure === "cost" ? usage.cost_micros : tokensOf(usage);

/** How many minutes the clocks here are ahead of UTC. */
export const utcOffset = (): number => -new Date().getTimezoneOffset();

/** Every day of the report, also those of which it says nothing because nothing was spent. */
export function everyDay(report: UsageReport, offset: number): { day: string; usage: Usage | undefined }[] {
  const number = (moment: number) => Math.floor((moment + offset * 60_000) / DAY_MS);
  const known = new Map(report.days.map((one) => [one.day, one]));
  const days = [];
  const last = number(Date.parse(report.until) - 1);
  for (let at = number(Date.parse(report.since)); at <= last; at += 1) {
    const day = new Date(at * DAY_MS).toISOString().slice(0, 10);
    days.push({ day, usage: known.get(day) });
  }
  return days;
}

/** A number that is easy to read and not less than the largest value: the top of a chart. */
export function topOf(largest: number): number {
  if (largest <= 0) {
    return 1;
  }
  const step = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * step).find((top) => top >= largest) ?? largest;
}

/** Writes a count of tokens short: 950, 12.3k, 4.5M. */
export function short(count: number): string {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const) {
    if (count >= size) {
      return `${(count / size).toFixed(count / size < 100 ? 1 : 0)}${unit}`;
    }
  }
  return String(count);
}

export interface CostSearch {
  since?: string;
  until?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Reads which time an address names: days until now, or a first and a last day. */
export function readCostSearch({ since, until }: Record<string, unknown>): CostSearch {
  const isSince = typeof since === "string" && (DAY.test(since) || /^[1-9]\d{0,2}d$/.test(since));
  const isUntil = typeof until === "string" && DAY.test(until);
  return { ...(isSince && { since }), ...(isUntil && { until }) };
}
