import { BUDGET_FIELDS, budgetOf, limitWords, NO_LIMITS, type BudgetFields } from "./budget";

/** What a form says about a session beyond who works where on what; what is empty is left to the server and the agent. */
export interface SessionSettings {
  model: string;
  mode: string;
  /** What happens to actions that no rule fits. */
  otherActions: "" | "ask" | "allow" | "deny";
  budget: BudgetFields;
  /** The MCP tools of the agent. */
  tools: string;
}

/** The MCP tools that an agent can be given: the server's own, or those of another system. */
export const DIALECTS = ["wheelhouse", "agor", "clawed-abode", "iteratr"];

export const NO_SETTINGS: SessionSettings = { model: "", mode: "", otherActions: "", budget: NO_LIMITS, tools: "" };

/** Returns the fields of a request that say so. */
export function requestOf({ model, mode, otherActions, budget, tools }: SessionSettings) {
  const limits = budgetOf(budget);
  return {
    ...(model.trim() && { model: model.trim() }),
    ...(mode.trim() && { mode: mode.trim() }),
    ...(otherActions && { policy: { default: otherActions } }),
    ...(Object.keys(limits).length > 0 && { budget: limits }),
    ...(tools && { mcp_dialect: tools }),
  };
}

/** Says what was requested, each setting by its name. */
export function requestedWords(settings: SessionSettings, workspace: string): [string, string][] {
  const limits = budgetOf(settings.budget);
  const named: [string, string][] = [
    ["Workspace", workspace],
    ["Model", settings.model.trim()],
    ["Mode", settings.mode.trim()],
    ["Other actions", settings.otherActions],
    ["Tools", settings.tools],
    ...BUDGET_FIELDS.map(({ limit, title }): [string, string] => [title, limits[limit] == null ? "" : limitWords(`budget.${limit}`, limits[limit])]),
  ];
  return named.filter(([, value]) => value !== "");
}
