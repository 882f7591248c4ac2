import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";

import { api, ask, type Key } from "@/api/client";
import { keyList, shortId } from "@/api/queries";
import { KeyForm } from "@/components/key-form";
import { Name } from "@/components/name";
import { useNow } from "@/hooks/use-now";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { Table } from "@/ui/table";
import { toast, toastError } from "@/ui/toast";
import { since } from "@/util/text";

/** The keys by which programs and MCP clients are let in. */
export function KeysPage() {
  usePageTitle("Keys");
  const list = useInfiniteQuery(keyList);
  const [isMaking, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const revoke = useMutation({
    mutationFn: (key: Key) => ask(api.DELETE("/api/v1/keys/{key}", { params: { path: { key: key.id } } })),
    onSuccess: (key) => toast(`The key ${key.name} is revoked`),
    onError: toastError,
    onSettled: () => setRevoking(undefined),
  });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-6">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Keys</h1>
          <Button look="primary" onClick={() => setMaking(true)}>
            <Plus size={14} aria-hidden="true" /> New key
          </Button>
        </div>
        <Loaded query={list}>
          {({ rows, total }) =>
            rows.length === 0 ? (
              <Empty title="No keys yet">A program or an MCP client on another machine needs one to be let in.</Empty>
            ) : (
              <>
                <KeyTable keys={rows} onRevoke={setRevoking} />
                <ShowMore list={list} shown={rows.length} total={total} />
              </>
            )
          }
        </Loaded>
      </div>
      <KeyForm isOpen={isMaking} onClose={() => setMaking(false)} />
      <Confirm
        title={`Revoke ${revoking?.name ?? "the key"}?`}
        about="Whoever uses it is not let in any more. This cannot be undone."
        action="Revoke"
        isOpen={revoking !== undefined}
        isBusy={revoke.isPending}
        onClose={() => setRevoking(undefined)}
        onConfirm={() => revoking && revoke.mutate(revoking)}
      />
    </div>
  );
}

function KeyTable({ keys, onRevoke }: { keys: Key[]; onRevoke: (key: Key) => void }) {
  const now = useNow();
  return (
    <Table columns={["Name", "Key", "Scope", "Status", "Last used", "Expires"]} hasActions>
      {keys.map((key) => (
        <tr key={key.id} className="border-t border-line">
          <th scope="row" className="px-3 py-2 font-medium break-all">
            <KeyRound size={13} aria-hidden="true" className="mr-1.5 inline text-muted" />
            <Name>{key.name}</Name>
          </th>
          <td className="px-3 py-2 font-mono text-sm">{key.prefix}…</td>
          <td className="px-3 py-2">
            {key.scope === "session_internal" ? `session ${shortId(key.session_id ?? "")}` : key.scope}
            {key.dialect && <span className="block text-sm text-muted">{key.dialect}</span>}
          </td>
          <td className="px-3 py-2">
            <Badge tone={key.status === "active" ? "good" : "neutral"}>{key.status}</Badge>
          </td>
          <td className="px-3 py-2 text-sm text-muted">{key.last_used_at ? since(key.last_used_at, now) : "never"}</td>
          <td className="px-3 py-2 text-sm text-muted" title={key.expires_at ?? undefined}>
            {key.expires_at ? new Date(key.expires_at).toLocaleDateString() : "never"}
          </td>
          <td className="px-3 py-2 text-right">
            <Button
              refused={key.status === "revoked" ? "It is revoked." : undefined}
              aria-label={`Revoke ${key.name}`}
              onClick={() => onRevoke(key)}
            >
              Revoke
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
