import { dollars } from "@/util/text";
import { measured, short, topOf, type Measure, type Usage } from "@/util/usage";

interface Props {
  days: { day: string; usage: Usage | undefined }[];
  measure: Measure;
}

const WIDTH = 800;
const HEIGHT = 180;
const LEFT = 56;
const BOTTOM = 22;
const TOP = 8;

/** Writes an amount of what is measured. */
export const amount = (value: number, measure: Measure): string => {
  if (value === 0) return measure === "cost" ? "$0" : "0";
  return measure === "cost" ? dollars(value) : short(value);
};

/** A bar for each day. Whoever cannot see it reads the table that is beside it. */
export function UsageChart({ days, measure }: Props) {
  const values = days.map(({ usage }) => (usage ? measured(usage, measure) : 0));
  const top = topOf(Math.max(0, ...values));
  const step = (WIDTH - LEFT) / Math.max(1, days.length);
  const height = (value: number) => ((HEIGHT - BOTTOM - TOP) * value) / top;
  const base = HEIGHT - BOTTOM;
  const most = values.indexOf(Math.max(...values));
  const about =
    `${measure === "cost" ? "Cost" : "Tokens"} by day, ${days[0]?.day ?? ""} to ${days.at(-1)?.day ?? ""}; ` +
    `the most on ${days[most]?.day ?? ""}: ${amount(values[most] ?? 0, measure)}`;
  // As many names of days as fit.
  const every = Math.max(1, Math.ceil(days.length / 8));
  return (
    <div tabIndex={0} role="group" aria-label="Chart" className="overflow-x-auto rounded-lg border border-line bg-panel p-2">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={about} className="w-full max-md:min-w-[36rem]">
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={LEFT} x2={WIDTH} y1={base - height(top * part)} y2={base - height(top * part)} className="stroke-line" strokeWidth={1} />
            <text x={LEFT - 6} y={base - height(top * part) + 4} textAnchor="end" className="fill-muted" fontSize={11}>
              {amount(top * part, measure)}
            </text>
          </g>
        ))}
        {days.map(({ day }, index) => {
          const value = values[index] ?? 0;
          const wide = Math.max(1, step * 0.75);
          const x = LEFT + index * step + (step - wide) / 2;
          // Nothing is nothing; anything else can be seen.
          const high = value > 0 ? Math.max(1.5, height(value)) : 0;
          return (
            <g key={day}>
              <rect x={x} y={base - high} width={wide} height={high} rx={Math.min(2, wide / 2)} className="fill-accent">
                <title>{`${day}: ${amount(value, measure)}`}</title>
              </rect>
              {index % every === 0 && (
                <text x={x + wide / 2} y={HEIGHT - 6} textAnchor={index === 0 ? "start" : "middle"} className="fill-muted" fontSize={11}>
                  {day.slice(5)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
