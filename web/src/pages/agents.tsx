import { useQuery } from "@tanstack/react-query";

import type { Agent } from "@/api/client";
import { agentList } from "@/api/queries";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Copy } from "@/ui/copy";
import { Loaded } from "@/ui/loaded";
import { plain } from "@/util/text";

/** Which agents can be run on the server's machine, and how to get the others. */
export function AgentsPage() {
  usePageTitle("Agents");
  const agents = useQuery({ ...agentList, refetchOnMount: "always" });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-4 p-6">
        <h1 className="text-xl font-semibold">Agents</h1>
        <Loaded query={agents}>
          {(found) => (
            <ul aria-label="Agents" className="flex flex-col gap-2">
              {found.agents.map((agent) => (
                <AgentItem key={agent.name} agent={agent} />
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </div>
  );
}

/** Where an agent comes from; that one is installed is said by whether it is ready. */
const ORIGINS: Record<string, string> = { built_in: "built in", configured: "your own" };

function AgentItem({ agent }: { agent: Agent }) {
  const origin = ORIGINS[agent.origin];
  return (
    <li className="rounded-lg border border-line bg-panel p-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{plain(agent.title)}</span>
        <span className="font-mono text-sm text-muted">{plain(agent.name)}</span>
        <Badge tone={agent.ready ? "good" : "neutral"}>{agent.ready ? "ready" : "not installed"}</Badge>
        {origin && <Badge>{origin}</Badge>}
        {agent.version && <span className="text-sm text-muted">{plain(agent.version)}</span>}
      </p>
      <p className="text-muted">{plain(agent.about)}</p>
      {!agent.ready && <Install agent={agent} />}
    </li>
  );
}

function Install({ agent }: { agent: Agent }) {
  const lines = agent.install ?? [];
  return (
    <div className="mt-2 border-t border-line pt-2 text-sm">
      <p className="text-muted">
        {agent.missing && agent.missing.length > 0 && <>Not found on the server’s machine: {agent.missing.map(plain).join(", ")}. </>}
        {lines.length > 0 && "Install it there, and read this page again:"}
      </p>
      {lines.map((line) => {
        // What is in brackets at the end is for the reader.
        const [, command = line, remark] = /^(.*?)(?: \((.+)\))?$/.exec(line) ?? [];
        return (
          <p key={line} className="mt-1 flex flex-wrap items-center gap-2">
            <code className="rounded bg-sunken px-2 py-0.5 font-mono break-all">{plain(command)}</code>
            <Copy text={command} about={`the command: ${plain(command)}`} />
            {remark && <span className="text-muted">{plain(remark)}</span>}
          </p>
        );
      })}
    </div>
  );
}
