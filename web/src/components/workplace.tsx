import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useRef, useState, type ReactNode } from "react";

import { api, ask, mark, type Agent, type Repo } from "@/api/client";
import { agentList, repoList } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import { Badge } from "@/ui/badge";
import { Loaded } from "@/ui/loaded";
import { plain } from "@/util/text";

import { Name } from "./name";

/** Where an agent is to work. */
type Place = { kind: "repo"; id: string } | { kind: "add"; source: string } | { kind: "scratch" };

/** What there is to choose from. */
export interface Choices {
  agents: Agent[];
  repos: Repo[];
}

/** Reads what there is to choose from. */
export function WithChoices({ children }: { children: (choices: Choices) => ReactNode }) {
  const agents = useQuery(agentList);
  const repos = useAllPages(repoList);
  return (
    <Loaded query={agents}>
      {(found) => <Loaded query={repos}>{(known) => children({ agents: found.agents, repos: known.rows })}</Loaded>}
    </Loaded>
  );
}

/** Who is to work and where, as a form holds it. */
export function useWorkplace(choices: Choices) {
  const [place, setPlace] = useState(() => firstPlace(choices.repos));
  const [agent, setAgent] = useState(() => bestAgent(choices.agents));
  // What was added before the rest was refused; the list may not have it yet when it is sent again.
  const added = useRef(new Map<string, string>());
  return {
    ...choices,
    place,
    setPlace,
    agent,
    setAgent: (name: string) => setAgent(name),
    isChosen: agent !== "" && isNamed(place),
    /** What the server calls the repository, if it is to be one; it is added first if it is new. */
    repo: () => repoOf(place, choices.repos, added.current),
  };
}

export function WorkplaceFields({ work, hasScratch = false }: { work: ReturnType<typeof useWorkplace>; hasScratch?: boolean }) {
  return (
    <>
      <Places repos={work.repos} place={work.place} onChange={work.setPlace} hasScratch={hasScratch} />
      <Agents agents={work.agents} agent={work.agent} onChange={work.setAgent} />
    </>
  );
}

/** The newest repository, or one that is still to be named. */
const firstPlace = (repos: Repo[]): Place =>
  repos[0] ? { kind: "repo", id: repos[0].id } : { kind: "add", source: "" };

const isNamed = (place: Place): boolean => place.kind !== "add" || place.source.trim() !== "";

/** A real agent if there is one, so that echo is what remains. */
function bestAgent(agents: Agent[]): string {
  const ready = agents.filter((agent) => agent.ready);
  return (ready.find((agent) => agent.origin !== "built_in") ?? ready[0])?.name ?? "";
}

/** Adds the repository first if it is new, and returns what the server calls it. */
async function repoOf(place: Place, repos: Repo[], added: Map<string, string>): Promise<string | undefined> {
  switch (place.kind) {
    case "repo":
      return place.id;
    case "scratch":
      return undefined;
    case "add": {
      const source = place.source.trim().replace(/(?<=.)\/+$/, "");
      const known = repos.find((repo) => repo.source === source)?.id ?? added.get(source);
      if (known) {
        return known;
      }
      const { id } = await ask(api.POST("/api/v1/repos", { params: { header: mark() }, body: { source } }));
      added.set(source, id);
      return id;
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

function Places({ repos, place, onChange, hasScratch = false }: PlacesProps) {
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
            placeholder={`${repos.length === 0 ? "A" : "Another"} repository: /path/on/the/server or https://…`}
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

function Agents({ agents, agent, onChange }: { agents: Agent[]; agent: string; onChange: (agent: string) => void }) {
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
              {one.ready ? plain(one.about) : "Not installed"}
            </span>
          </span>
        </label>
      ))}
      {agents.some((one) => !one.ready) && (
        <p className="text-sm text-muted sm:col-span-2">
          How to get those that are not installed:{" "}
          <Link to="/agents" className="text-accent underline">
            Agents
          </Link>
        </p>
      )}
    </fieldset>
  );
}
