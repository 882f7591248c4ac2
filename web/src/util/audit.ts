/** What the audit log is asked for; part of the address. */
export interface AuditSearch {
  user?: string;
  operation?: string;
  outcome?: string;
  surface?: string;
  about?: string;
  since?: string;
  until?: string;
  /** "yes" shows successful reads too, the dashboard's own among them. */
  reads?: string;
}

export const OUTCOMES = ["ok", "refused", "failed"];
export const SURFACES = ["mcp", "rest", "server"];

/** The longest that the server takes. */
const CHARACTERS_MAX = 200;

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text);
const isShort = (text: string) => text.length <= CHARACTERS_MAX;

/** What each may be; the server says more exactly what is wrong with it. */
const FIELDS: Record<keyof AuditSearch, (text: string) => boolean> = {
  user: isShort,
  operation: isShort,
  outcome: (text) => OUTCOMES.includes(text) || /^[A-Z_]{1,40}$/.test(text),
  surface: (text) => SURFACES.includes(text),
  about: isShort,
  since: isDay,
  until: isDay,
  reads: (text) => text === "yes",
};

/** Reads what an address asks for. What cannot be is left out. */
export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const read = Object.entries(FIELDS).flatMap(([name, isMeant]) => {
    // The router reads what looks like a number as one, such as the last digits of an id.
    const value = search[name];
    const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
    return text !== "" && isMeant(text) ? [[name, text]] : [];
  });
  return Object.fromEntries(read) as AuditSearch;
}
