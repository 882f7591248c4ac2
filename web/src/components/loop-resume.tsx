import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { keys } from "@/api/queries";
import { put } from "@/live/put";
import { Button } from "@/ui/button";
import { Failure } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { fieldsOf, isBudget } from "@/util/budget";
import { resumeRequest } from "@/util/loop-request";
import { cost } from "@/util/text";

import { BudgetFields } from "./budget-fields";
import type { Loop } from "./loops";

/** Tells whether a loop can get new limits: it is paused, or has reached one of them. */
const canResume = (loop: Loop): boolean => loop.state === "paused" || loop.outcome === "budget" || loop.outcome === "limit";

/** Resumes a loop that is paused or has reached one of its limits, with the limits of the form. */
export function LoopResume({ loop }: { loop: Loop }) {
  // Other limits make another form.
  const limits = JSON.stringify([loop.budget, loop.iterations_max]);
  return canResume(loop) ? <Form key={limits} loop={loop} /> : null;
}

function Form({ loop }: { loop: Loop }) {
  const client = useQueryClient();
  const [fields, setFields] = useState(() => fieldsOf(loop.budget));
  const [iterations, setIterations] = useState(String(loop.iterations_max));
  const resume = useMutation({
    mutationFn: () => {
      const params = { path: { loop: loop.short_id }, header: mark() };
      return ask(api.POST("/api/v1/loops/{loop}/resume", { params, body: resumeRequest(loop, fields, iterations) }));
    },
    onSuccess: (resumed) => {
      put(client, keys.loop(loop.short_id), resumed);
      toast("The loop is resumed");
    },
  });
  const used = { dollars: cost(loop), tokens: loop.tokens_used.toLocaleString("en") };
  return (
    <form
      aria-label="Resume with other limits"
      className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault();
        resume.mutate();
      }}
    >
      <h2 className="font-semibold">Resume with other limits</h2>
      <p className="text-sm text-muted">Limits are for all iterations together, past ones included.</p>
      <BudgetFields fields={fields} onChange={setFields} used={used} />
      <label>
        <span className="text-sm text-muted">Maximum number of iterations</span>
        <input
          type="number"
          min="1"
          max="1000"
          required
          className="field"
          value={iterations}
          onChange={(event) => setIterations(event.target.value)}
        />
      </label>
      {resume.isError && <Failure error={resume.error} />}
      <Button type="submit" className="self-start" disabled={!isBudget(fields) || resume.isPending}>
        Resume with these limits
      </Button>
    </form>
  );
}
