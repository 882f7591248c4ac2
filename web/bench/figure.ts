import { writeFile } from "node:fs/promises";

/** Where `cargo xtask bench web` reads what was measured. */
const FILE = process.env.WHEELHOUSE_FIGURES;

/** Something that was measured, beside what it may be. */
export interface Figure {
  name: string;
  value: number;
  /** The budget, if there is one. */
  most?: number;
  least?: number;
  /** What else is worth knowing when the budget is broken. */
  about?: string;
}

export const figures: Figure[] = [];

/** Hands over what was measured; without `xtask` it is shown. */
export async function handOver(): Promise<void> {
  if (FILE) {
    await writeFile(FILE, JSON.stringify(figures));
  } else {
    console.table(figures);
  }
}
