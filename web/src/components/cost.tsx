import { cost, type Spent } from "@/util/text";

/** What something cost, and whether that is an estimate. */
export function Cost({ of }: { of: Spent }) {
  if (!of.estimated_micros) {
    return <span>{cost(of)}</span>;
  }
  return (
    <span title="Estimated from tokens and list prices, because the agent reports no cost">
      {cost(of)} <span className="sr-only">(estimated)</span>
    </span>
  );
}
