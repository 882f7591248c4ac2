import { useId, useState } from "react";

import type { Session } from "@/api/client";
import { useSessionUpdate } from "@/hooks/use-session-update";
import { Button } from "@/ui/button";
import { plain } from "@/util/text";

/** Shows the model in use and chooses another one, of those that the agent offers. */
export function ModelForm({ id, session }: { id: string; session: Session }) {
  const models = session.models ?? [];
  const requested = models.find(({ id, name }) => [id, name].some((one) => one.toLowerCase() === session.model_requested?.toLowerCase()))?.id;
  const inUse = requested ?? session.model ?? "";
  const [model, setModel] = useState(inUse);
  const update = useSessionUpdate(id, "The model is changed");
  const field = useId();
  if (models.length === 0) {
    return null;
  }
  return (
    <form
      aria-label="Model"
      className="mt-4 flex flex-col gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ model });
      }}
    >
      <label htmlFor={field} className="text-sm font-semibold">
        Model
      </label>
      <div className="flex items-center gap-2">
        <select id={field} className="field min-w-0 flex-1" value={model} onChange={(event) => setModel(event.target.value)}>
          {!models.some((one) => one.id === inUse) && <option value={inUse}>{plain(inUse) || "the agent’s own choice"}</option>}
          {models.map((one) => (
            <option key={one.id} value={one.id}>
              {plain(one.name)}
            </option>
          ))}
        </select>
        <Button type="submit" disabled={model === "" || model === inUse || update.isPending}>
          Change model
        </Button>
      </div>
      <p className="text-sm text-muted">Another model is used from the next turn on.</p>
    </form>
  );
}
