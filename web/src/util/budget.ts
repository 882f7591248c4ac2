import type { Schemas } from "@/api/client";

export type Budget = Schemas["BudgetInput"];

/** A budget as people write it; an empty field is no limit. */
export interface BudgetFields {
  dollars: string;
  tokens: string;
  turns: string;
  minutes: string;
}

type Limit = "cost_micros" | "tokens" | "turns" | "wall_seconds";

interface Field {
  name: keyof BudgetFields;
  limit: Limit;
  title: string;
  /** How much of the limit one of the field is. */
  unit: number;
}

export const BUDGET_FIELDS: Field[] = [
  { name: "dollars", limit: "cost_micros", title: "US dollars", unit: 1_000_000 },
  { name: "tokens", limit: "tokens", title: "Tokens", unit: 1 },
  { name: "turns", limit: "turns", title: "Turns", unit: 1 },
  { name: "minutes", limit: "wall_seconds", title: "Minutes of work", unit: 60 },
];

export const NO_LIMITS: BudgetFields = { dollars: "", tokens: "", turns: "", minutes: "" };

/** Returns a budget as people write it. */
export function fieldsOf(budget: Budget): BudgetFields {
  const fields = { ...NO_LIMITS };
  for (const { name, limit, unit } of BUDGET_FIELDS) {
    const value = budget[limit];
    // No more digits than it takes to get the same number back.
    fields[name] = value === undefined || value === null ? "" : String(Number((value / unit).toFixed(6)));
  }
  return fields;
}

/** Returns the number of a field, nothing for an empty one, and `NaN` for what is none. */
function limitOf({ name, unit }: Field, fields: BudgetFields): number | undefined {
  const text = fields[name].trim();
  if (text === "") {
    return undefined;
  }
  const value = Number(text) * unit;
  return Number.isFinite(value) && value >= 0 ? Math.round(value) : Number.NaN;
}

/** Tells whether every field holds a number or nothing. */
export const isBudget = (fields: BudgetFields): boolean => BUDGET_FIELDS.every((field) => !Number.isNaN(limitOf(field, fields)));

/** Returns the limits that are set. */
export function budgetOf(fields: BudgetFields): Budget {
  const set = BUDGET_FIELDS.map((field) => [field.limit, limitOf(field, fields)] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}

/** Returns the limits that differ; one that is gone is null. */
export function budgetChanges(before: Budget, fields: BudgetFields): Record<string, number | null> {
  const changes: Record<string, number | null> = {};
  for (const field of BUDGET_FIELDS) {
    const value = limitOf(field, fields) ?? null;
    if (fieldsOf(before)[field.name] !== fields[field.name].trim() && value !== (before[field.limit] ?? null)) {
      changes[field.limit] = value;
    }
  }
  return changes;
}

/** Says a limit in words, such as one that was narrowed. */
export function limitWords(setting: string, value: number | null | undefined): string {
  if (value === undefined || value === null) {
    return "no limit";
  }
  const field = BUDGET_FIELDS.find(({ limit }) => setting === `budget.${limit}`);
  if (!field) {
    return String(value);
  }
  const amount = Number((value / field.unit).toFixed(6));
  return field.name === "dollars" ? `$${amount.toFixed(2)}` : `${amount.toLocaleString("en")} ${field.title.toLowerCase()}`;
}
