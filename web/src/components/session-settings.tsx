import { useQuery } from "@tanstack/react-query";
import { useId } from "react";

import { agentAbout } from "@/api/queries";
import { isBudget } from "@/util/budget";
import { DIALECTS, type SessionSettings as Settings } from "@/util/session-request";
import { plain } from "@/util/text";

import { BudgetFields } from "./budget-fields";

interface Props {
  agent: string;
  settings: Settings;
  onChange: (settings: Settings) => void;
}

/** The model of a new session, and what it may use and do. */
export function SessionSettings({ agent, settings, onChange }: Props) {
  const set = (change: Partial<Settings>) => onChange({ ...settings, ...change });
  return (
    <div className="flex flex-col gap-3">
      <Model agent={agent} model={settings.model} onChange={(model) => set({ model })} />
      <details className="rounded-md border border-line bg-panel px-3 py-2">
        <summary className="cursor-pointer text-sm font-medium">Limits and permissions</summary>
        <div className="mt-3 flex flex-col gap-3">
          <fieldset>
            <legend className="mb-1 text-sm font-medium">Budget</legend>
            <BudgetFields fields={settings.budget} onChange={(budget) => set({ budget })} />
            {!isBudget(settings.budget) && (
              <p role="alert" className="mt-1 text-sm text-danger">
                Limits are numbers, or empty.
              </p>
            )}
          </fieldset>
          <div className="grid gap-3 sm:grid-cols-2">
            <label>
              <span className="text-sm text-muted">Actions without a rule</span>
              <select
                className="field"
                value={settings.otherActions}
                onChange={(event) => set({ otherActions: event.target.value as Settings["otherActions"] })}
              >
                <option value="">Default: ask</option>
                <option value="ask">Ask</option>
                <option value="allow">Allow</option>
                <option value="deny">Deny</option>
              </select>
            </label>
            <label>
              <span className="text-sm text-muted">Mode of the agent</span>
              <input
                className="field"
                placeholder="the agent’s default, or a name such as plan"
                value={settings.mode}
                onChange={(event) => set({ mode: event.target.value })}
              />
            </label>
            <label>
              <span className="text-sm text-muted">Tools of the agent</span>
              <select className="field" value={settings.tools} onChange={(event) => set({ tools: event.target.value })}>
                <option value="">As the repository or the agent is configured</option>
                {DIALECTS.map((dialect) => (
                  <option key={dialect}>{dialect}</option>
                ))}
              </select>
            </label>
          </div>
        </div>
      </details>
    </div>
  );
}

/** Chooses from the models that the agent offered when a session of it was last open. */
function Model({ agent, model, onChange }: { agent: string; model: string; onChange: (model: string) => void }) {
  const field = useId();
  const models = useQuery(agentAbout(agent)).data?.models ?? [];
  return (
    <div>
      <label htmlFor={field} className="mb-1 block font-medium">
        Which model?
      </label>
      {models.length > 0 ? (
        <select id={field} className="field" value={model} onChange={(event) => onChange(event.target.value)}>
          <option value="">The agent’s default</option>
          {models.map(({ id, name }) => (
            <option key={id} value={id}>
              {plain(name)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={field}
          className="field"
          placeholder="The agent’s default; its models are listed here after its first session"
          value={model}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </div>
  );
}
