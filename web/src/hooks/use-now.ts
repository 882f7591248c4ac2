import { useEffect, useState } from "react";

/** Ages are shown in one unit, so this is often enough. */
const EVERY_MS = 10_000;

/** The time, for ages: it moves on by itself. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
