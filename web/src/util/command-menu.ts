import type { Schemas } from "@/api/client";

export type AgentCommand = Schemas["AgentCommandView"];

/** The most commands that are offered at once. */
const OFFERED_MAX = 8;

/** Returns the commands that a prompt may be the beginning of: a slash and letters, and nothing behind them. */
export function commandsFor(text: string, commands: readonly AgentCommand[]): AgentCommand[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) {
    return [];
  }
  const fitting = commands.filter(({ name }) => name.toLowerCase().includes(typed));
  const rank = ({ name }: AgentCommand) => (name.toLowerCase().startsWith(typed) ? 0 : 1);
  return fitting.sort((a, b) => rank(a) - rank(b)).slice(0, OFFERED_MAX);
}
