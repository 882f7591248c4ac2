import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { keys } from "@/api/queries";
import { Button } from "@/ui/button";
import { Disclosure } from "@/ui/disclosure";
import { Failure } from "@/ui/loaded";
import { EMPTY_LOOP, loopRequest, type LoopDraft } from "@/util/loop-request";

import { useWorkplace, WithChoices, WorkplaceFields, type Choices } from "./workplace";

/** Starts a loop: where, who, what, and when it has to end. */
export function LoopForm() {
  return <WithChoices>{(choices) => <Form choices={choices} />}</WithChoices>;
}

function Form({ choices }: { choices: Choices }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const work = useWorkplace(choices);
  const [draft, setDraft] = useState(EMPTY_LOOP);
  const change = (part: Partial<LoopDraft>) => setDraft((kept) => ({ ...kept, ...part }));
  const start = useMutation({
    mutationFn: async () => {
      const repo = (await work.repo()) ?? "";
      return ask(api.POST("/api/v1/loops", { params: { header: mark() }, body: loopRequest(draft, work.agent, repo) }));
    },
    onSuccess: async (made) => {
      client.setQueryData(keys.loop(made.short_id), made);
      await navigate({ to: "/loops/$loop", params: { loop: made.short_id } });
    },
  });
  const isComplete = work.isChosen && draft.spec.trim() !== "";
  return (
    <form
      aria-label="Start a loop"
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <WorkplaceFields work={work} />
      <Work draft={draft} onChange={change} />
      <Ends draft={draft} onChange={change} />
      <More draft={draft} onChange={change} />
      {start.isError && <Failure error={start.error} />}
      <Button type="submit" look="primary" className="self-start px-5 py-2" disabled={!isComplete || start.isPending}>
        {start.isPending ? "Starting…" : "Start loop"}
      </Button>
    </form>
  );
}

interface PartProps {
  draft: LoopDraft;
  onChange: (part: Partial<LoopDraft>) => void;
}

function Work({ draft, onChange }: PartProps) {
  return (
    <div className="flex flex-col gap-3">
      <Text label="What is to be done?" rows={4} value={draft.spec} onChange={(spec) => onChange({ spec })} />
      <Text
        label="Tasks to begin with, one on each line; the agent adds what is missing"
        rows={4}
        value={draft.tasks}
        onChange={(tasks) => onChange({ tasks })}
      />
      <Tick checked={draft.inOrder} onChange={(inOrder) => onChange({ inOrder })}>
        One after the other, in this order
      </Tick>
      <Tick checked={draft.allowAll} onChange={(allowAll) => onChange({ allowAll })}>
        Let the agent do everything without asking; otherwise it waits for you in the inbox
      </Tick>
    </div>
  );
}

function Ends({ draft, onChange }: PartProps) {
  return (
    <fieldset className="grid gap-3 sm:grid-cols-4">
      <legend className="mb-2 font-medium">When does it end at the latest?</legend>
      <Amount label="Iterations" max={1000} value={draft.iterations} onChange={(iterations) => onChange({ iterations })} />
      <Amount label="Tokens" value={draft.tokens} onChange={(tokens) => onChange({ tokens })} />
      <Amount label="US dollars" step="0.01" value={draft.dollars} onChange={(dollars) => onChange({ dollars })} />
      <Amount label="Minutes at work" value={draft.minutes} onChange={(minutes) => onChange({ minutes })} />
    </fieldset>
  );
}

function More({ draft, onChange }: PartProps) {
  return (
    <Disclosure className="text-sm" summary="Branch and template" summaryClassName="cursor-pointer text-muted">
      <div className="mt-2 flex flex-col gap-3">
        <label>
          <span className="mb-1 block text-muted">Branch; one is made and named after the loop unless given</span>
          <input className="field" value={draft.branch} onChange={(event) => onChange({ branch: event.target.value })} />
        </label>
        <Text
          label="Template that makes the prompt of each iteration, in place of the built-in one"
          rows={5}
          value={draft.template}
          onChange={(template) => onChange({ template })}
        />
      </div>
    </Disclosure>
  );
}

function Text({ label, rows, value, onChange }: { label: string; rows: number; value: string; onChange: (value: string) => void }) {
  return (
    <label>
      <span className="mb-1 block font-medium">{label}</span>
      <textarea rows={rows} className="field" value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

function Tick({ checked, onChange, children }: { checked: boolean; onChange: (checked: boolean) => void; children: string }) {
  return (
    <label className="flex items-start gap-2">
      <input type="checkbox" className="mt-1" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span>{children}</span>
    </label>
  );
}

interface AmountProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  max?: number;
  step?: string;
}

function Amount({ label, value, onChange, max, step = "1" }: AmountProps) {
  return (
    <label>
      <span className="mb-1 block text-sm text-muted">{label}</span>
      <input
        type="number"
        min={step}
        max={max}
        step={step}
        className="field"
        placeholder="not limited"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
