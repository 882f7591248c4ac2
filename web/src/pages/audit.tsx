import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";

import type { Schemas } from "@/api/client";
import { auditList, shortId, userList } from "@/api/queries";
import { AuditFilters } from "@/components/audit-filters";
import { Name } from "@/components/name";
import { useAllPages } from "@/hooks/use-all-pages";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Failure } from "@/ui/loaded";
import { Table } from "@/ui/table";
import type { AuditSearch } from "@/util/audit";
import { plain } from "@/util/text";

type Entry = Schemas["AuditEntryView"];

/** Who called what, with what outcome. What is asked for is part of the address. */
export function AuditPage() {
  usePageTitle("Audit");
  const search = useSearch({ from: "/audit" });
  const navigate = useNavigate();
  const show = (wanted: AuditSearch) => void navigate({ to: "/audit", search: wanted });
  const list = useInfiniteQuery(auditList(search));
  // Operations are offered as they were called lately.
  const lately = useInfiniteQuery(auditList({})).data?.pages.flatMap((page) => page.entries) ?? [];
  const users = useAllPages(userList).data?.rows ?? [];
  const entries = list.data?.pages.flatMap((page) => page.entries) ?? [];
  const operations = [...new Set([...lately, ...entries].map((entry) => entry.operation))].sort();
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-5xl flex-col gap-4 p-6 max-md:p-3">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Audit</h1>
          <Button look="quiet" onClick={() => void list.refetch()}>
            Read again
          </Button>
        </div>
        <AuditFilters search={search} operations={operations} users={users.map((user) => user.name)} onShow={show} />
        {list.isError && <Failure error={list.error} />}
        {list.isSuccess && entries.length === 0 && (
          <Nothing isAsked={Object.keys(search).length > 0} isAll={!list.hasNextPage} onClear={() => show({})} />
        )}
        {entries.length > 0 && <Entries entries={entries} />}
        {list.hasNextPage && (
          <Button className="self-center" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {entries.length > 0 ? "Older" : "Look further back"}
          </Button>
        )}
      </div>
    </div>
  );
}

function Nothing({ isAsked, isAll, onClear }: { isAsked: boolean; isAll: boolean; onClear: () => void }) {
  return (
    <Empty title={isAll ? "No such calls" : "No such calls among those looked through so far"}>
      <p>Members find their own calls here, administrators everybody’s. Successful reads are left out unless you include them, and kept for a time.</p>
      {isAsked && (
        <Button className="mt-3" onClick={onClear}>
          Clear the filters
        </Button>
      )}
    </Empty>
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
            <Name>{entry.user ?? shortId(entry.user_id)}</Name>
            <span className="block text-muted">
              {entry.credential} · {entry.surface}
            </span>
          </td>
          <td className="px-3 py-1.5">
            <Badge tone={entry.outcome === "ok" ? "good" : "danger"}>{plain(entry.outcome)}</Badge>
          </td>
          <td className="px-3 py-1.5 break-all text-muted">
            {entry.subject_id && <span className="block">{`${plain(entry.subject_kind ?? "")} ${shortId(entry.subject_id)}`}</span>}
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
