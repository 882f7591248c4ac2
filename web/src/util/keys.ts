/** What a key may do, and how a person is told. */
interface Scope {
  value: string;
  about: string;
}

/** Who takes a key: our own addresses, or those of a dialect alone. */
export const KEY_KINDS: { value: string; about: string; scopes: Scope[] }[] = [
  {
    value: "",
    about: "Wheelhouse: REST and MCP",
    scopes: [
      { value: "full", about: "full: everything you may do" },
      { value: "read", about: "read: look, and change nothing" },
      { value: "client", about: "client: only what it creates itself" },
    ],
  },
  {
    value: "clawed-abode",
    about: "Clawed Abode: /mcp/clawed-abode and /api/mcp",
    scopes: [
      { value: "full", about: "full: everything you may do" },
      { value: "read", about: "read: look, and change nothing" },
      { value: "session_internal", about: "session: only rename one session" },
    ],
  },
];

export const EXPIRES = [
  { value: "", about: "never" },
  { value: "7", about: "in 7 days" },
  { value: "30", about: "in 30 days" },
  { value: "90", about: "in 90 days" },
  { value: "365", about: "in a year" },
  { value: "date", about: "on a date…" },
];

const DAY_MS = 86_400_000;

/** Returns the time when a key expires, if it does: after so many days, or at the beginning of a day (UTC). */
export function expiresAt(choice: string, date: string, now: number): string | undefined {
  if (choice === "date") {
    return date ? `${date}T00:00:00Z` : undefined;
  }
  return choice ? new Date(now + Number(choice) * DAY_MS).toISOString() : undefined;
}
