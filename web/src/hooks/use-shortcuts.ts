import { useEffect, useRef } from "react";

/** What a key, or two in a row, does. */
export interface Shortcut {
  /** As `KeyboardEvent.key` has them, lower case: `["g", "i"]`. */
  keys: [string] | [string, string];
  about: string;
  run: () => void;
}

/** How long the second key of two may take. */
const SECOND_WITHIN_MS = 1_000;

/** Tells whether somebody is writing, or a dialog is open. */
function isTaken(target: EventTarget | null): boolean {
  const element = target instanceof HTMLElement ? target : undefined;
  const writes = element?.closest("input, textarea, select, [contenteditable=true]");
  return Boolean(writes) || document.querySelector("[role=dialog]") !== null;
}

/** Listens for shortcuts while nobody is writing. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) {
        first = undefined;
        return;
      }
      const key = event.key.toLowerCase();
      const before = first && event.timeStamp - first.at < SECOND_WITHIN_MS ? first.key : undefined;
      const found = current.current.find(({ keys }) =>
        keys.length === 2 ? keys[0] === before && keys[1] === key : before === undefined && keys[0] === key,
      );
      first = { key, at: event.timeStamp };
      if (found) {
        first = undefined;
        event.preventDefault();
        found.run();
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
