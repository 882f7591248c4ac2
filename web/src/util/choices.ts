import { defaultFilter } from "cmdk";

/** What the palette offers: a page, or something that was given a name. */
export interface Named {
  /** Unique among all that is offered. */
  id: string;
  title: string;
  /** Whether the server found it by the search. */
  isFound?: boolean;
}

export interface Group<T extends Named> {
  heading: string;
  choices: T[];
}

/** This many letters of an id are meant as an id. */
const ID_PREFIX = 6;

/** What the server found fits, if only just: it knows more than the title. */
const FOUND_FIT = 0.001;

function score(choice: Named, search: string): number {
  const isId = search.length >= ID_PREFIX && choice.id.startsWith(search.toLowerCase());
  const fit = isId ? 1 : (defaultFilter?.(choice.title, search, []) ?? 0);
  return choice.isFound ? Math.max(fit, FOUND_FIT) : fit;
}

/** Leaves what fits a search, the best first, and the groups in the order of their best. Titles are searched, not ids. */
export function fitting<T extends Named>(groups: Group<T>[], search: string): Group<T>[] {
  const wanted = search.trim();
  if (wanted === "") {
    return groups.filter(({ choices }) => choices.length > 0);
  }
  return groups
    .map(({ heading, choices }) => {
      const scored = choices.map((choice) => ({ choice, fit: score(choice, wanted) })).filter(({ fit }) => fit > 0);
      scored.sort((a, b) => b.fit - a.fit);
      return { heading, best: scored[0]?.fit ?? 0, choices: scored.map(({ choice }) => choice) };
    })
    .filter(({ best }) => best > 0)
    .sort((a, b) => b.best - a.best)
    .map(({ heading, choices }) => ({ heading, choices }));
}
