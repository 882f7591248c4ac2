import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";

import { api, ask, mark } from "@/api/client";
import { keys, shortId } from "@/api/queries";
import { useAttached } from "@/hooks/use-attached";
import { asText, useStored } from "@/hooks/use-stored";
import { Button } from "@/ui/button";
import { Failure } from "@/ui/loaded";
import { isBudget } from "@/util/budget";
import { withFiles } from "@/util/files";
import { NO_SETTINGS, requestedWords, requestOf } from "@/util/session-request";
import { keepTerms } from "@/util/terms";

import { AttachButton, Attachments } from "./attachments";
import { LeadChoice } from "./lead-role";
import { SessionSettings } from "./session-settings";
import { useWorkplace, WithChoices, WorkplaceFields, type Choices } from "./workplace";

/** Three choices and a button: where, who, what. */
export function NewSession() {
  return <WithChoices>{(choices) => <Form choices={choices} />}</WithChoices>;
}

function Form({ choices }: { choices: Choices }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const work = useWorkplace(choices);
  const [settings, setSettings] = useState(NO_SETTINGS);
  const [prompt, setPrompt] = useStored("new-session-prompt", "", asText);
  const { files, add, remove } = useAttached();
  const [leads, setLeads] = useState(false);
  const field = useId();
  const start = useMutation({
    mutationFn: async () => {
      const repo = await work.repo();
      const body = {
        agent: work.agent,
        ...(leads && { role: "lead" }),
        ...(repo && { repo }),
        ...(prompt.trim() && { prompt }),
        ...withFiles(files),
        ...requestOf(settings),
      };
      return ask(api.POST("/api/v1/sessions", { params: { header: mark() }, body }));
    },
    onSuccess: async (made) => {
      setPrompt("");
      const workspace = work.place.kind === "scratch" ? "an empty directory" : "a worktree";
      keepTerms(shortId(made.id), { requested: requestedWords(settings, workspace), narrowed: made.narrowed ?? [] });
      client.setQueryData(keys.session(shortId(made.id)), made);
      await navigate({ to: "/sessions/$session", params: { session: shortId(made.id) } });
    },
  });
  const chooseAgent = (agent: string) => {
    // A model is one agent's.
    setSettings({ ...settings, model: "" });
    work.setAgent(agent);
  };
  const isComplete = work.isChosen && isBudget(settings.budget) && (files.length === 0 || prompt.trim() !== "");
  return (
    <form
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <WorkplaceFields work={{ ...work, setAgent: chooseAgent }} hasScratch />
      <SessionSettings agent={work.agent} settings={settings} onChange={setSettings} />
      <div>
        <label htmlFor={field} className="mb-2 block font-medium">
          What should it do?
        </label>
        <textarea
          id={field}
          rows={4}
          className="field"
          placeholder={work.agent === "echo" ? "say hello\nwrite hello.txt Hello from an agent" : "Describe the work as you would to a colleague."}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            add([...event.clipboardData.files]);
          }}
        />
        <Attachments files={files} onRemove={remove} />
        <div className="mt-2">
          <AttachButton refused={undefined} onChosen={add} />
        </div>
      </div>
      <LeadChoice checked={leads} onChange={setLeads} />
      {start.isError && <Failure error={start.error} />}
      <Button type="submit" look="primary" className="self-start px-5 py-2" disabled={!isComplete || start.isPending}>
        {start.isPending ? "Starting…" : "Start session"}
      </Button>
    </form>
  );
}
