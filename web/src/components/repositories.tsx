import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark, type Repo } from "@/api/client";
import { keys, repoList, worktreeList } from "@/api/queries";
import { DeleteConfirm } from "@/components/delete-confirm";
import { useAllPages } from "@/hooks/use-all-pages";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { Table } from "@/ui/table";
import { plain } from "@/util/text";

import { Name } from "./name";

/** The repositories that the server knows: where each is, how agents are contained in it, and what can be deleted. */
export function Repositories() {
  const client = useQueryClient();
  const list = useInfiniteQuery(repoList);
  const worktrees = useAllPages(worktreeList).data?.rows ?? [];
  const [deleting, setDeleting] = useState<Repo>();
  const remove = (repo: Repo, force: boolean) =>
    ask(
      api.DELETE("/api/v1/repos/{repo}", {
        params: { path: { repo: repo.id }, query: force ? { force } : {}, header: mark() },
      }),
    );
  return (
    <section aria-label="Repositories" className="flex flex-col gap-3">
      <h2 className="font-semibold">Repositories</h2>
      <Loaded query={list}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <p className="text-muted">No repositories yet: the form for a new session adds one.</p>
          ) : (
            <>
              <Table columns={["Name", "Address", "Tier", "Worktrees"]} hasActions>
                {rows.map((repo) => (
                  <tr key={repo.id} className="border-t border-line">
                    <th scope="row" className="px-3 py-2 font-medium break-all">
                      <Name>{repo.name}</Name> {repo.state !== "ready" && <Badge>{repo.state}</Badge>}
                    </th>
                    <td className="px-3 py-2 font-mono text-sm break-all">{plain(repo.source)}</td>
                    <td className="px-3 py-2">{repo.tier ?? "default"}</td>
                    <td className="px-3 py-2">{worktrees.filter((worktree) => worktree.repo_id === repo.short_id).length}</td>
                    <td className="px-3 py-2 text-right">
                      <Button aria-label={`Delete the repository ${plain(repo.name)}`} onClick={() => setDeleting(repo)}>
                        Delete
                      </Button>
                    </td>
                  </tr>
                ))}
              </Table>
              <ShowMore list={list} shown={rows.length} total={total} />
            </>
          )
        }
      </Loaded>
      {deleting && (
        <DeleteConfirm
          what="repository"
          name={deleting.name}
          about="A directory on the server’s machine is left as it is."
          forced="Loops are stopped, sessions stopped and archived, and worktrees removed after everything in them was saved."
          remove={(force) => remove(deleting, force)}
          onDeleted={() => client.invalidateQueries({ queryKey: keys.repos })}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </section>
  );
}
