import { useState } from "react";

import type { Session } from "@/api/client";
import { useSessionUpdate } from "@/hooks/use-session-update";
import { Button } from "@/ui/button";
import { budgetChanges, fieldsOf, isBudget } from "@/util/budget";
import { cost, plain } from "@/util/text";

import { BudgetFields } from "./budget-fields";

/** Changes the limits of a session, also of one that has used them up. */
export function BudgetForm({ id, session }: { id: string; session: Session }) {
  const before = fieldsOf(session.budget);
  const [fields, setFields] = useState(before);
  const update = useSessionUpdate(id, "The budget is changed");
  const changes = isBudget(fields) ? budgetChanges(session.budget, fields) : {};
  const used = { dollars: cost(session), tokens: session.tokens_used.toLocaleString("en") };
  return (
    <form
      aria-label="Budget"
      className="mt-4 flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ budget: changes });
      }}
    >
      <h2 className="text-sm font-semibold">Budget</h2>
      {session.budget_spent && (
        <p role="status" className="text-sm text-warn">
          Its budget of {plain(session.budget_spent)} is used up. Raise it to go on; it covers everything that was used so far.
        </p>
      )}
      <BudgetFields fields={fields} onChange={setFields} used={used} />
      <Button type="submit" className="self-start" disabled={Object.keys(changes).length === 0 || update.isPending}>
        Save budget
      </Button>
    </form>
  );
}
