interface Waiting {
  state: string;
  number: number;
  urgent?: boolean;
}

/** Returns the prompts that wait, the next one first: those that interrupt come before the others. */
export function inRunOrder<T extends Waiting>(turns: readonly T[]): T[] {
  const rank = ({ urgent, number }: T) => [urgent ? 0 : 1, number] as const;
  return turns
    .filter(({ state }) => state === "queued")
    .sort((a, b) => {
      const [first, second] = [rank(a), rank(b)];
      return first[0] - second[0] || first[1] - second[1];
    });
}
