import { BUDGET_FIELDS, type BudgetFields as Fields } from "@/util/budget";

interface Props {
  fields: Fields;
  onChange: (fields: Fields) => void;
  /** What was used of each so far. */
  used?: Partial<Record<keyof Fields, string>>;
}

/** The limits of a budget; an empty field is no limit. */
export function BudgetFields({ fields, onChange, used = {} }: Props) {
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
      {BUDGET_FIELDS.map(({ name, title }) => (
        <label key={name}>
          <span className="text-sm text-muted">{title}</span>
          <input
            className="field"
            inputMode="decimal"
            placeholder="no limit"
            value={fields[name]}
            onChange={(event) => onChange({ ...fields, [name]: event.target.value })}
          />
          {used[name] && <span className="block text-xs text-muted">{used[name]} used</span>}
        </label>
      ))}
    </div>
  );
}
