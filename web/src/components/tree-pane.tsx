import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import type { TreeNode } from "@/api/client";
import { sessionTree, shortId } from "@/api/queries";
import { Loaded } from "@/ui/loaded";
import { plain, shortened } from "@/util/text";

import { Cost } from "./cost";
import { Name } from "./name";
import { SpawnForm } from "./spawn-form";
import { StateBadge } from "./state-badge";

/** The session's family: who began whom, what each is at and what it cost. */
export function TreePane({ id, refused }: { id: string; refused: string | undefined }) {
  const tree = useQuery(sessionTree(id));
  return (
    <Loaded query={tree}>
      {(data) => {
        const present = new Set(data.tree.map((node) => node.id));
        const roots = data.tree.filter((node) => !node.parent_id || !present.has(node.parent_id));
        return (
          <div className="flex h-full min-h-0 flex-col">
            <div className="min-h-0 flex-1 overflow-y-auto p-3">
              <Branch nodes={roots} all={data.tree} current={id} label="Family of this session" />
            </div>
            {!refused && <SpawnForm id={id} />}
          </div>
        );
      }}
    </Loaded>
  );
}

function Branch({ nodes, all, current, label }: { nodes: TreeNode[]; all: TreeNode[]; current: string; label?: string }) {
  return (
    <ul aria-label={label} className={label ? "" : "ml-3 border-l border-line pl-3"}>
      {nodes.map((node) => {
        const children = all.filter((other) => other.parent_id === node.id);
        const isCurrent = shortId(node.id) === current;
        return (
          <li key={node.id} className="py-1">
            <div className={`rounded-md px-2 py-1 ${isCurrent ? "bg-accent-soft" : ""}`}>
              <div className="flex flex-wrap items-center gap-2">
                <Link
                  to="/sessions/$session"
                  params={{ session: shortId(node.id) }}
                  aria-current={isCurrent ? "page" : undefined}
                  className="min-w-0 font-medium break-words hover:underline"
                >
                  <Name>{node.title}</Name>
                </Link>
                <StateBadge state={node.state} />
                <span className="text-sm text-muted">
                  {node.agent}
                  {node.cost_micros > 0 && (
                    <>
                      {" · "}
                      <Cost of={node} />
                    </>
                  )}
                </span>
              </div>
              {node.last_words && <p className="text-sm break-words text-muted">{plain(shortened(node.last_words, 160))}</p>}
            </div>
            {children.length > 0 && <Branch nodes={children} all={all} current={current} />}
          </li>
        );
      })}
    </ul>
  );
}
