import { useState, type ReactNode } from "react";

import { Button } from "@/ui/button";
import { OUTCOMES, readAuditSearch, SURFACES, type AuditSearch } from "@/util/audit";

interface Props {
  search: AuditSearch;
  /** Names that can be chosen, as they are in the log. */
  operations: string[];
  users: string[];
  onShow: (search: AuditSearch) => void;
}

/** Asks for some calls only. What is asked for is part of the address: the fields follow it. */
export function AuditFilters({ search, operations, users, onShow }: Props) {
  const [draft, setDraft] = useState<AuditSearch>(search);
  const [followed, setFollowed] = useState(search);
  if (JSON.stringify(followed) !== JSON.stringify(search)) {
    setFollowed(search);
    setDraft(search);
  }
  const field = (name: keyof AuditSearch) => ({
    className: "field",
    value: draft[name] ?? "",
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  });
  // An address can name a code, such as FORBIDDEN.
  const outcomes = [...new Set([...OUTCOMES, ...(draft.outcome ? [draft.outcome] : [])])];
  return (
    <form
      role="search"
      aria-label="Filters"
      className="grid grid-cols-4 items-end gap-2 max-md:grid-cols-2"
      onSubmit={(event) => {
        event.preventDefault();
        onShow(readAuditSearch({ ...draft }));
      }}
    >
      <Field name="Operation">
        <input list="audit-operations" maxLength={200} placeholder="session_create" {...field("operation")} />
      </Field>
      <Field name="Outcome">
        <Choice any="Any" choices={outcomes} {...field("outcome")} />
      </Field>
      <Field name="Came in by">
        <Choice any="Any way" choices={SURFACES} {...field("surface")} />
      </Field>
      <Field name="User">
        <input list="audit-users" maxLength={200} {...field("user")} />
      </Field>
      <Field name="About the id">
        <input maxLength={45} placeholder="89abcdef" {...field("about")} />
      </Field>
      <Field name="First day">
        <input type="date" {...field("since")} />
      </Field>
      <Field name="Last day">
        <input type="date" {...field("until")} />
      </Field>
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={draft.reads === "yes"}
          onChange={({ target }) => setDraft({ ...draft, reads: target.checked ? "yes" : "" })}
        />
        Include successful reads
      </label>
      <div className="flex gap-2">
        <Button type="submit" look="primary">
          Show
        </Button>
        {Object.keys(search).length > 0 && <Button onClick={() => onShow({})}>Clear</Button>}
      </div>
      <Choices id="audit-operations" values={operations} />
      <Choices id="audit-users" values={users} />
    </form>
  );
}

function Field({ name, children }: { name: string; children: ReactNode }) {
  return (
    <label className="min-w-0">
      <span className="block text-sm text-muted">{name}</span>
      {children}
    </label>
  );
}

interface ChoiceProps {
  any: string;
  choices: string[];
  className: string;
  value: string;
  onChange: (event: { target: { value: string } }) => void;
}

function Choice({ any, choices, ...rest }: ChoiceProps) {
  return (
    <select {...rest}>
      <option value="">{any}</option>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {choice}
        </option>
      ))}
    </select>
  );
}

function Choices({ id, values }: { id: string; values: string[] }) {
  return (
    <datalist id={id}>
      {values.map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}
