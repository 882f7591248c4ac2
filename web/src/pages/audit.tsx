import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "@/api/client";
import { auditList } from "@/api/queries";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Failure } from "@/ui/loaded";
import { Table } from "@/ui/table";
import { plain } from "@/util/text";

type Entry = Schemas["AuditEntryView"];

/** Who called what, with what outcome. */
export function AuditPage() {
  usePageTitle("Audit");
  const [operation, setOperation] = useState("");
  const [asked, setAsked] = useState("");
  const list = useInfiniteQuery(auditList(asked));
  const entries = list.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-5xl flex-col gap-4 p-6">
        <h1 className="text-xl font-semibold">Audit</h1>
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            setAsked(operation.trim());
          }}
        >
          <label>
            <span className="text-sm text-muted">Operation, such as session_create</span>
            <input className="field" value={operation} onChange={(event) => setOperation(event.target.value)} />
          </label>
          <Button type="submit">Show</Button>
          <Button look="quiet" onClick={() => void list.refetch()}>
            Read again
          </Button>
        </form>
        {list.isError && <Failure error={list.error} />}
        {list.isSuccess && entries.length === 0 && <Empty title="No such calls" />}
        {entries.length > 0 && <Entries entries={entries} />}
        {list.hasNextPage && (
          <Button className="self-center" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older
          </Button>
        )}
      </div>
    </div>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  return (
    <Table columns={["When", "Operation", "By", "Outcome", "About"]} className="text-sm">
      {entries.map((entry) => (
        <tr key={entry.seq} className="border-t border-line align-top">
          <td className="px-3 py-1.5 whitespace-nowrap text-muted">{new Date(entry.at).toLocaleString()}</td>
          <td className="px-3 py-1.5 font-mono">{plain(entry.operation)}</td>
          <td className="px-3 py-1.5 whitespace-nowrap">
            {entry.credential} · {entry.surface}
          </td>
          <td className="px-3 py-1.5">
            <Badge tone={entry.outcome === "ok" ? "good" : "danger"}>{plain(entry.outcome)}</Badge>
          </td>
          <td className="px-3 py-1.5 break-all text-muted">
            {Object.entries(entry.facts ?? {})
              // A question that was not narrowed down.
              .filter(([, value]) => value !== "")
              .map(([name, value]) => `${plain(name)}: ${plain(value)}`)
              .join(" · ")}
          </td>
        </tr>
      ))}
    </Table>
  );
}
