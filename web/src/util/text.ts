/**
 * Characters that change how others are shown instead of being shown: controls, overrides of the writing direction,
 * invisible ones, tags. What an agent, a branch or a file is called must not be able to disguise itself with them. Joiners stay
 * where they join: between two characters beyond ASCII, as in emoji and in some scripts.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|(?<![^\u0000-\u007f])[\u200c\u200d]|[\u200c\u200d](?![^\u0000-\u007f])|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]/gu;

/** Makes the hidden characters of a name visible. For one line: breaks become spaces. */
export function plain(text: string): string {
  return text
    .replace(/[\t\n\r]+/g, " ")
    .replace(HIDDEN, (c) => `\u27e8${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}\u27e9`);
}

/** Makes the hidden characters of a text of several lines visible. */
export function plainLines(text: string): string {
  return text.split("\n").map((line) => line.split("\t").map((part) => plain(part)).join("\t")).join("\n");
}

export function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).trimEnd()}…` : text;
}

/** Words that were written as markdown, for where there is no room to lay them out. */
export function unmarked(text: string): string {
  return text
    .replace(/^[ \t]{0,3}(#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+/gm, "")
    .replace(/^\s*(```|~~~).*$/gm, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/`([^`\n]+)`/g, "$1")
    .trim();
}

const STEPS: [number, string][] = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [Number.POSITIVE_INFINITY, "d"],
];

/** Says how long ago a moment was, in one unit. */
export function ago(moment: string, now: number): string {
  return span(now - Date.parse(moment));
}

/** Says how long it is until a moment, as part of a sentence. */
export function until(moment: string, now: number): string {
  const words = span(Date.parse(moment) - now);
  return words === "now" ? words : `in ${words}`;
}

function span(ms: number): string {
  let amount = Math.max(0, ms / 1000);
  if (amount < 5) {
    return "now";
  }
  for (const [size, unit] of STEPS) {
    if (amount < size) {
      return `${Math.floor(amount)} ${unit}`;
    }
    amount /= size;
  }
  return "";
}

/** The same as part of a sentence. */
export function since(moment: string, now: number): string {
  const words = ago(moment, now);
  return words === "now" ? "just now" : `${words} ago`;
}

/** Says what something cost. */
export function dollars(micros: number): string {
  const amount = micros / 1e6;
  return `$${amount.toFixed(amount < 1 ? 3 : 2)}`;
}

/** Says what something cost; an estimate, also in part, has a tilde. */
export function cost({ cost_micros, estimated_micros }: Spent): string {
  return `${estimated_micros ? "~" : ""}${dollars(cost_micros ?? 0)}`;
}

/** What something cost, and how much of that is estimated. */
export interface Spent {
  cost_micros?: number | null;
  estimated_micros?: number | null;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
