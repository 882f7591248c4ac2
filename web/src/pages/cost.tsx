import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { usageReport, shortId } from "@/api/queries";
import { Cost } from "@/components/cost";
import { Name } from "@/components/name";
import { UsageChart } from "@/components/usage-chart";
import { UsageTable, type UsageRow } from "@/components/usage-table";
import { usePageTitle } from "@/hooks/use-page-title";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { counted } from "@/util/text";
import { everyDay, short, tokensOf, utcOffset, type CostSearch, type Measure, type UsageReport } from "@/util/usage";

const SPANS = [
  { since: "1d", title: "Today" },
  { since: "7d", title: "7 days" },
  { since: "30d", title: "30 days" },
  { since: "90d", title: "90 days" },
  { since: "365d", title: "A year" },
];

/** What was spent: by day, by agent, by tree of sessions. */
export function CostPage() {
  usePageTitle("Cost");
  const { since = "30d", until } = useSearch({ from: "/cost" });
  const report = useQuery({ ...usageReport({ since, until, utc_offset: utcOffset() }), placeholderData: keepPreviousData });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-5xl flex-col gap-6 p-6 max-md:p-3">
        <div className="flex flex-wrap items-end justify-between gap-3">
          <h1 className="text-xl font-semibold">Cost</h1>
          <SpanPicker since={since} until={until} />
        </div>
        <Loaded query={report}>{(data) => (data.total.turns === 0 ? <Nothing /> : <Report report={data} />)}</Loaded>
      </div>
    </div>
  );
}

function Nothing() {
  return (
    <Empty title="Nothing was spent in this time">
      A turn counts when it ends. <Link to="/new" className="underline">Begin a session</Link>, or look at a longer time.
    </Empty>
  );
}

/** Picks the time; it is part of the address. */
function SpanPicker({ since, until }: { since: string; until: string | undefined }) {
  const navigate = useNavigate();
  const isOther = !SPANS.some((span) => span.since === since) || until !== undefined;
  const go = (search: CostSearch) => void navigate({ to: "/cost", search });
  const today = new Date().toISOString().slice(0, 10);
  return (
    <div className="flex flex-wrap items-end gap-2">
      <label>
        <span className="block text-sm text-muted">Time</span>
        <select
          className="field"
          value={isOther ? "other" : since}
          onChange={({ target }) => go(target.value === "other" ? { since: today, until: today } : { since: target.value })}
        >
          {SPANS.map((span) => (
            <option key={span.since} value={span.since}>
              {span.title}
            </option>
          ))}
          <option value="other">From … to …</option>
        </select>
      </label>
      {isOther && (
        <>
          <DayField label="First day" value={since} onChange={(day) => go({ since: day, ...(until && { until }) })} />
          <DayField label="Last day" value={until ?? today} onChange={(day) => go({ since, until: day })} />
        </>
      )}
    </div>
  );
}

function DayField({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  return (
    <label>
      <span className="block text-sm text-muted">{label}</span>
      <input type="date" className="field" value={value} onChange={({ target }) => target.value && onChange(target.value)} />
    </label>
  );
}

function Report({ report }: { report: UsageReport }) {
  const { total } = report;
  // Agents that tell no cost still count tokens.
  const [chosen, setChosen] = useState<Measure>();
  const measure = chosen ?? (total.cost_micros > 0 ? "cost" : "tokens");
  const days = everyDay(report, utcOffset());
  const others = (count: number, what: string) => <span className="text-muted">{counted(count, `other ${what}`)}</span>;
  const agents: UsageRow[] = report.agents.map((usage) => ({ key: usage.agent, name: <Name>{usage.agent}</Name>, usage }));
  const trees: UsageRow[] = report.trees.map((usage) => ({ key: usage.session_id, name: <Tree id={usage.session_id} title={usage.title} />, usage }));
  if (report.other_agents) {
    agents.push({ key: "", name: others(report.other_agents.count, "agent"), usage: report.other_agents });
  }
  if (report.other_trees) {
    trees.push({ key: "", name: others(report.other_trees.count, "tree"), usage: report.other_trees });
  }
  return (
    <>
      <dl aria-label="Totals" className="grid grid-cols-4 gap-3 max-md:grid-cols-2">
        <Total name="Cost" value={<Cost of={total} />} />
        <Total name="Tokens" value={short(tokensOf(total))} />
        <Total name="Turns" value={String(total.turns)} />
        <Total name="At work" value={duration(total.wall_seconds)} />
      </dl>
      <section aria-label="By day" className="flex flex-col gap-2">
        <div className="flex items-end justify-between">
          <h2 className="font-semibold">By day</h2>
          <label className="flex items-center gap-2 text-sm text-muted">
            Show
            <select className="field" value={measure} onChange={({ target }) => setChosen(target.value as Measure)}>
              <option value="cost">cost</option>
              <option value="tokens">tokens</option>
            </select>
          </label>
        </div>
        <UsageChart days={days} measure={measure} />
        <details>
          <summary className="cursor-pointer text-sm text-muted">The same as a table</summary>
          <UsageTable caption="What was used, by day" of="Day" rows={report.days.map((usage) => ({ key: usage.day, name: usage.day, usage }))} />
        </details>
      </section>
      <section aria-label="By agent" className="flex flex-col gap-2">
        <h2 className="font-semibold">By agent</h2>
        <UsageTable caption="What was used, by agent" of="Agent" rows={agents} shares={measure} />
      </section>
      <section aria-label="By tree of sessions" className="flex flex-col gap-2">
        <h2 className="font-semibold">By tree of sessions</h2>
        <UsageTable caption="What was used, by tree of sessions" of="Session and its descendants" rows={trees} shares={measure} />
      </section>
    </>
  );
}

function Total({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div className="rounded-lg border border-line bg-panel p-3">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value}</dd>
    </div>
  );
}

function Tree({ id, title }: { id: string; title: string | null | undefined }) {
  if (!title) {
    return <span className="text-muted">a session that is not yours to see</span>;
  }
  return (
    <Link to="/sessions/$session" params={{ session: shortId(id) }} search={{ pane: "tree" }} className="underline wrap-anywhere">
      <Name>{title}</Name>
    </Link>
  );
}

/** Says how long agents were at work. */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
