import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";

import { api, ask, mark, type Agent, type Repo } from "@/api/client";
import { agentList, keys, repoList, shortId } from "@/api/queries";
import { useAttached } from "@/hooks/use-attached";
import { asText, useStored } from "@/hooks/use-stored";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Failure, Loaded } from "@/ui/loaded";
import { withFiles } from "@/util/files";
import { plain } from "@/util/text";

import { AttachButton, Attachments } from "./attachments";
import { Name } from "./name";

/** Where an agent is to work. */
export type Place = { kind: "repo"; id: string } | { kind: "add"; source: string } | { kind: "scratch" };

/** Three choices and a button: where, who, what. */
export function NewSession() {
  const agents = useQuery(agentList);
  const repos = useQuery(repoList);
  return (
    <Loaded query={agents}>
      {(found) => <Loaded query={repos}>{(known) => <Form agents={found.agents} repos={known.repos} />}</Loaded>}
    </Loaded>
  );
}

function Form({ agents, repos }: { agents: Agent[]; repos: Repo[] }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [place, setPlace] = useState(() => firstPlace(repos));
  const [agent, setAgent] = useState(() => bestAgent(agents));
  const [prompt, setPrompt] = useStored("new-session-prompt", "", asText);
  const { files, add, remove } = useAttached();
  const field = useId();
  const start = useMutation({
    mutationFn: async () => {
      const repo = await repoOf(place, repos);
      const body = { agent, ...(repo && { repo }), ...(prompt.trim() && { prompt }), ...withFiles(files) };
      return ask(api.POST("/api/v1/sessions", { params: { header: mark() }, body }));
    },
    onSuccess: async (made) => {
      setPrompt("");
      client.setQueryData(keys.session(shortId(made.id)), made);
      await navigate({ to: "/sessions/$session", params: { session: shortId(made.id) } });
    },
  });
  const isComplete = agent !== "" && isNamed(place) && (files.length === 0 || prompt.trim() !== "");
  return (
    <form
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <Places repos={repos} place={place} onChange={setPlace} hasScratch />
      <Agents agents={agents} agent={agent} onChange={setAgent} />
      <div>
        <label htmlFor={field} className="mb-2 block font-medium">
          What should it do?
        </label>
        <textarea
          id={field}
          rows={4}
          className="field"
          placeholder={agent === "echo" ? "say hello\nwrite hello.txt Hello from an agent" : "Describe the work as you would to a colleague."}
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
      {start.isError && <Failure error={start.error} />}
      <Button type="submit" look="primary" className="self-start px-5 py-2" disabled={!isComplete || start.isPending}>
        {start.isPending ? "Starting…" : "Start session"}
      </Button>
    </form>
  );
}

/** The newest repository, or one that is still to be named. */
export const firstPlace = (repos: Repo[]): Place =>
  repos[0] ? { kind: "repo", id: repos[0].id } : { kind: "add", source: "" };

export const isNamed = (place: Place): boolean => place.kind !== "add" || place.source.trim() !== "";

/** A real agent if there is one, so that echo is what remains. */
export function bestAgent(agents: Agent[]): string {
  const ready = agents.filter((agent) => agent.ready);
  return (ready.find((agent) => agent.origin !== "built_in") ?? ready[0])?.name ?? "";
}

/** Adds the repository first if it is new, and returns what the server calls it. */
export async function repoOf(place: Place, repos: Repo[]): Promise<string | undefined> {
  switch (place.kind) {
    case "repo":
      return place.id;
    case "scratch":
      return undefined;
    case "add": {
      const source = place.source.trim();
      const known = repos.find((repo) => repo.source === source.replace(/(?<=.)\/+$/, ""));
      if (known) {
        return known.id;
      }
      const added = await ask(api.POST("/api/v1/repos", { params: { header: mark() }, body: { source } }));
      return added.id;
    }
  }
}

interface PlacesProps {
  repos: Repo[];
  place: Place;
  onChange: (place: Place) => void;
  /** Whether there need not be a repository. */
  hasScratch?: boolean;
}

export function Places({ repos, place, onChange, hasScratch = false }: PlacesProps) {
  const name = useId();
  const row = "flex items-start gap-2 rounded-md border border-line bg-panel px-3 py-2";
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 font-medium">Where?</legend>
      {repos.map((repo) => (
        <label key={repo.id} className={row}>
          <input
            type="radio"
            name={name}
            className="mt-1"
            checked={place.kind === "repo" && place.id === repo.id}
            disabled={repo.state === "failed"}
            onChange={() => onChange({ kind: "repo", id: repo.id })}
          />
          <span className="min-w-0">
            <Name className="font-medium break-all">{repo.name}</Name>{" "}
            {repo.state !== "ready" && <Badge tone={repo.state === "failed" ? "danger" : "info"}>{repo.state}</Badge>}
            <Name className="block text-sm break-all text-muted">{repo.failure ?? repo.source}</Name>
          </span>
        </label>
      ))}
      <div className={row}>
        <input
          type="radio"
          name={name}
          className="mt-2.5"
          aria-label="Another repository"
          checked={place.kind === "add"}
          onChange={() => onChange({ kind: "add", source: "" })}
        />
        <label className="min-w-0 flex-1">
          <span className="sr-only">Path or address of a repository</span>
          <input
            className="field"
            placeholder="Another repository: /path/on/the/server or https://…"
            value={place.kind === "add" ? place.source : ""}
            onFocus={() => place.kind !== "add" && onChange({ kind: "add", source: "" })}
            onChange={(event) => onChange({ kind: "add", source: event.target.value })}
          />
        </label>
      </div>
      {hasScratch && (
        <label className={row}>
          <input
            type="radio"
            name={name}
            className="mt-1"
            checked={place.kind === "scratch"}
            onChange={() => onChange({ kind: "scratch" })}
          />
          <span>An empty directory, without a repository</span>
        </label>
      )}
    </fieldset>
  );
}

export function Agents({ agents, agent, onChange }: { agents: Agent[]; agent: string; onChange: (agent: string) => void }) {
  const name = useId();
  return (
    <fieldset className="grid gap-2 sm:grid-cols-2">
      <legend className="mb-2 font-medium">Which agent?</legend>
      {agents.map((one) => (
        <label
          key={one.name}
          className={`flex items-start gap-2 rounded-md border bg-panel px-3 py-2 ${agent === one.name ? "border-accent" : "border-line"}`}
        >
          <input
            type="radio"
            name={name}
            className="mt-1"
            checked={agent === one.name}
            disabled={!one.ready}
            onChange={() => onChange(one.name)}
          />
          <span className="min-w-0">
            <span className="font-medium">{plain(one.title)}</span> <span className="text-xs text-muted">{plain(one.version ?? "")}</span>
            <span className="block text-sm text-muted">
              {one.ready ? plain(one.about) : `Not installed: ${one.install?.map(plain).join(" or ") || one.missing?.map(plain).join(", ")}`}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
