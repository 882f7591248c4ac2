import { useEffect, useState } from "react";

/** A state that outlives a reload, in this tab alone. What was stored is checked when it is read. */
export function useStored<T>(name: string, initial: T, read: (value: unknown) => T | undefined) {
  const [value, setValue] = useState<T>(() => {
    try {
      const stored = sessionStorage.getItem(name);
      return (stored === null ? undefined : read(JSON.parse(stored))) ?? initial;
    } catch {
      return initial;
    }
  });
  useEffect(() => {
    try {
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch {
      // A full or forbidden store only costs what a reload would have kept.
    }
  }, [name, value]);
  return [value, setValue] as const;
}

export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const asFlag = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
