import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { credentialList, keys } from "@/api/queries";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Failure, Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { Table } from "@/ui/table";
import { toast, toastError } from "@/ui/toast";

type Credential = Schemas["CredentialView"];

const USES = [
  { value: "own", about: "Only my repositories" },
  { value: "admins", about: "Repositories of administrators" },
  { value: "everyone", about: "Repositories of every user" },
];

/** Tokens for hosts of private repositories: stored, listed without the token, and deleted. */
export function Credentials({ isAdmin }: { isAdmin: boolean }) {
  const client = useQueryClient();
  const list = useInfiniteQuery(credentialList);
  const [removing, setRemoving] = useState<Credential>();
  const remove = useMutation({
    mutationFn: (one: Credential) =>
      ask(api.DELETE("/api/v1/credentials/{credential}", { params: { path: { credential: one.id } } })),
    onSuccess: (one) => toast(`Deleted the credential for ${one.host}`),
    onError: toastError,
    onSettled: () => {
      setRemoving(undefined);
      return client.invalidateQueries({ queryKey: keys.credentials });
    },
  });
  return (
    <section aria-label="Credentials" className="flex flex-col gap-3">
      <h2 className="font-semibold">Credentials for repositories</h2>
      <p className="text-muted">
        The server reads private repositories over https with these tokens. They are stored encrypted and never shown again.
      </p>
      <Loaded query={list}>
        {({ rows, total, first }) => (
          <>
            {rows.length + (first?.configured ?? []).length > 0 && (
              <Table columns={["Host", "Usable by", "Source"]} hasActions>
                {rows.map((one) => (
                  <tr key={one.id} className="border-t border-line">
                    <th scope="row" className="px-3 py-2 font-mono font-medium break-all">
                      {one.host}
                    </th>
                    <td className="px-3 py-2">{one.usable_by}</td>
                    <td className="px-3 py-2 text-muted">stored</td>
                    <td className="px-3 py-2 text-right">
                      <Button aria-label={`Delete the credential for ${one.host}`} onClick={() => setRemoving(one)}>
                        Delete
                      </Button>
                    </td>
                  </tr>
                ))}
                {(first?.configured ?? []).map((one) => (
                  <tr key={one.host} className="border-t border-line">
                    <th scope="row" className="px-3 py-2 font-mono font-medium break-all">
                      {one.host}
                    </th>
                    <td className="px-3 py-2">{one.usable_by}</td>
                    <td className="px-3 py-2 text-muted">{one.problem ?? one.source}</td>
                    <td />
                  </tr>
                ))}
              </Table>
            )}
            <ShowMore list={list} shown={rows.length} total={total} />
          </>
        )}
      </Loaded>
      <CredentialForm isAdmin={isAdmin} />
      <Confirm
        title={`Delete the credential for ${removing?.host ?? "the host"}?`}
        about="Private repositories of this host can no longer be fetched with it."
        action="Delete"
        isOpen={removing !== undefined}
        isBusy={remove.isPending}
        onClose={() => setRemoving(undefined)}
        onConfirm={() => removing && remove.mutate(removing)}
      />
    </section>
  );
}

/** Stores a token. It is forgotten here as soon as it was sent. */
function CredentialForm({ isAdmin }: { isAdmin: boolean }) {
  const client = useQueryClient();
  const [host, setHost] = useState("");
  const [token, setToken] = useState("");
  const [usableBy, setUsableBy] = useState("own");
  const store = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/v1/credentials", {
          params: { header: mark() },
          body: { host: host.trim(), token, usable_by: usableBy },
        }),
      ),
    onSuccess: (stored) => {
      toast(`Stored the credential for ${stored.host}`);
      setHost("");
      setToken("");
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.credentials }),
  });
  return (
    <form
      aria-label="Store a credential"
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        store.mutate();
      }}
    >
      <label className="flex-1">
        <span className="text-sm text-muted">Host</span>
        <input className="field" placeholder="github.com" value={host} onChange={(event) => setHost(event.target.value)} />
      </label>
      <label className="flex-1">
        <span className="text-sm text-muted">Token</span>
        <input
          className="field"
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      {isAdmin && (
        <label>
          <span className="text-sm text-muted">Used for</span>
          <select className="field" value={usableBy} onChange={(event) => setUsableBy(event.target.value)}>
            {USES.map((one) => (
              <option key={one.value} value={one.value}>
                {one.about}
              </option>
            ))}
          </select>
        </label>
      )}
      <Button type="submit" look="primary" disabled={host.trim() === "" || token.trim() === "" || store.isPending}>
        Store
      </Button>
      {store.isError && <Failure error={store.error} />}
    </form>
  );
}
