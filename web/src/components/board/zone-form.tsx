import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import type { Zone } from "@/api/client";
import { agentList } from "@/api/queries";
import type { BoardChange } from "@/hooks/use-board-change";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { COLOURS, colourOf } from "@/util/board";
import { plain } from "@/util/text";

interface Props {
  /** The zone as it is now; a new one is made without. */
  zone?: Zone | undefined;
  isOpen: boolean;
  onClose: () => void;
  onChange: (change: BoardChange) => Promise<unknown>;
}

/** Makes a zone or changes one. */
export function ZoneForm({ zone, isOpen, onClose, onChange }: Props) {
  return (
    <Dialog
      title={zone ? `Zone ${plain(zone.name)}` : "New zone"}
      about="What is placed in a zone gets its prompt: a session itself, a worktree’s newest session for the worktree."
      isOpen={isOpen}
      onClose={onClose}
      wide
    >
      <Fields key={zone?.id} zone={zone} onDone={onClose} onChange={onChange} />
    </Dialog>
  );
}

const valuesOf = (zone?: Zone) => ({
  name: zone?.name ?? "",
  color: zone ? colourOf(zone) : COLOURS[0].value,
  prompt_template: zone?.prompt_template ?? "",
  agent: zone?.agent ?? "",
  x: zone?.x ?? 0,
  y: zone?.y ?? 0,
  width: zone?.width ?? 0,
  height: zone?.height ?? 0,
});

type Values = ReturnType<typeof valuesOf>;

const LABELS: Record<keyof Values, string> = {
  name: "name",
  color: "colour",
  prompt_template: "prompt",
  agent: "agent",
  x: "place",
  y: "place",
  width: "size",
  height: "size",
};

const PLACE = ["x", "y", "width", "height"] as const;

/** Sends what was changed here and nothing else, so that what somebody else changes meanwhile stays; and says that they did. */
function Fields({ zone, onDone, onChange }: { zone?: Zone | undefined; onDone: () => void; onChange: Props["onChange"] }) {
  const now = valuesOf(zone);
  const [opened, setOpened] = useState(now);
  const [values, setValues] = useState(now);
  const agents = useQuery(agentList).data?.agents.filter((agent) => agent.ready) ?? [];
  const help = useId();
  const names = Object.keys(now) as (keyof Values)[];
  const changed = names.filter((name) => values[name] !== opened[name]);
  const meanwhile = names.filter((name) => now[name] !== opened[name]);
  const save = useMutation({ mutationFn: () => onChange({ zones: [requestOf(values, changed, zone)] }), onSuccess: onDone });
  const set = (part: Partial<Values>) => setValues({ ...values, ...part });
  const takeTheirs = () => {
    setOpened(now);
    setValues(now);
  };
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {meanwhile.length > 0 && (
        <div role="status" className="flex items-center justify-between gap-3 rounded-md bg-warn-soft p-3 text-warn">
          <span>Changed by somebody else meanwhile: {[...new Set(meanwhile.map((name) => LABELS[name]))].join(", ")}.</span>
          <Button onClick={takeTheirs}>Show it</Button>
        </div>
      )}
      <label>
        <span className="text-sm text-muted">Name</span>
        <input autoFocus className="field" value={values.name} onChange={(event) => set({ name: event.target.value })} />
      </label>
      <Colours value={values.color} onChange={(color) => set({ color })} />
      <label>
        <span className="text-sm text-muted">Prompt (nothing is prompted without one)</span>
        <textarea
          rows={5}
          aria-describedby={help}
          className="field font-mono"
          placeholder={"Review {{ worktree.branch }} against {{ worktree.base }}."}
          value={values.prompt_template}
          onChange={(event) => set({ prompt_template: event.target.value })}
        />
      </label>
      <p id={help} className="-mt-2 text-xs text-muted">
        Can name <code>session.title</code>, <code>worktree.branch</code>, <code>worktree.base</code>, <code>zone.name</code> and more of these in <code>{"{{ }}"}</code>,
        and use <code>{"{% if session %}"}</code>.
      </p>
      <label>
        <span className="text-sm text-muted">Agent for a worktree without a session</span>
        <select className="field" value={values.agent} onChange={(event) => set({ agent: event.target.value })}>
          {!zone?.agent && <option value="">None: only who is there is prompted</option>}
          {agents.map((agent) => (
            <option key={agent.name} value={agent.name}>
              {plain(agent.title)}
            </option>
          ))}
        </select>
      </label>
      {zone && <PlaceFields values={values} onChange={set} />}
      <Button type="submit" look="primary" disabled={values.name.trim() === "" || save.isPending || (zone && changed.length === 0)}>
        {zone ? "Save zone" : "Make zone"}
      </Button>
    </form>
  );
}

function requestOf(values: Values, changed: (keyof Values)[], zone?: Zone) {
  const has = (name: keyof Values) => changed.includes(name);
  const isMoved = PLACE.some(has);
  return {
    ...(zone && { zone: zone.id }),
    ...(has("name") && { name: values.name.trim() }),
    ...((has("color") || !zone) && { color: values.color }),
    ...(has("prompt_template") && { prompt_template: values.prompt_template }),
    ...(has("agent") && values.agent && { agent: values.agent }),
    ...(isMoved && { x: values.x, y: values.y, width: values.width, height: values.height }),
  };
}

function Colours({ value, onChange }: { value: string; onChange: (colour: string) => void }) {
  const known = COLOURS.some((colour) => colour.value === value);
  const all = known ? COLOURS : [...COLOURS, { name: "Its own", value }];
  return (
    <fieldset>
      <legend className="text-sm text-muted">Colour</legend>
      <div className="flex flex-wrap gap-3">
        {all.map((colour) => (
          <label key={colour.value} className="flex items-center gap-1.5">
            <input type="radio" name="colour" checked={value === colour.value} onChange={() => onChange(colour.value)} />
            <span aria-hidden="true" className="size-4 rounded" style={{ background: colour.value }} />
            {colour.name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The same that dragging and resizing do, without a mouse. */
function PlaceFields({ values, onChange }: { values: Values; onChange: (part: Partial<Values>) => void }) {
  const labels = { x: "Left", y: "Top", width: "Width", height: "Height" };
  return (
    <fieldset>
      <legend className="text-sm text-muted">Place and size</legend>
      <div className="grid grid-cols-4 gap-2">
        {PLACE.map((name) => (
          <label key={name}>
            <span className="text-xs text-muted">{labels[name]}</span>
            <input
              type="number"
              className="field"
              min={name === "width" || name === "height" ? 1 : undefined}
              step="any"
              value={Math.round(values[name])}
              onChange={(event) => onChange({ [name]: Number(event.target.value) })}
            />
          </label>
        ))}
      </div>
    </fieldset>
  );
}
