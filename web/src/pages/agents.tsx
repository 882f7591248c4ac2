import { useQuery } from "@tanstack/react-query";

import type { Agent } from "@/api/client";
import { agentList } from "@/api/queries";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
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

function AgentItem({ agent }: { agent: Agent }) {
  return (
    <li className="rounded-lg border border-line bg-panel p-3">
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{plain(agent.title)}</span>
        <span className="font-mono text-sm text-muted">{plain(agent.name)}</span>
        <Badge tone={agent.ready ? "good" : "neutral"}>{agent.ready ? "ready" : "not installed"}</Badge>
        <Badge>{agent.origin.replace("_", "-")}</Badge>
        {agent.version && <span className="text-sm text-muted">{plain(agent.version)}</span>}
      </p>
      <p className="text-muted">{plain(agent.about)}</p>
      {!agent.ready && (
        <div className="mt-1 text-sm">
          <p>Not found: {agent.missing?.map(plain).join(", ")}</p>
          {agent.install?.map((line) => (
            <code key={line} className="block font-mono break-all">
              {plain(line)}
            </code>
          ))}
        </div>
      )}
    </li>
  );
}
