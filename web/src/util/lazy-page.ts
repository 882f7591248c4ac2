/** How long to wait before code that could not be read is asked for again. */
const PAUSE_MS = 2_000;

/**
 * Reads code that is needed now, and asks again until the server is back. An error would be answered by a reload, which shows the
 * browser's own error page.
 */
export function patient<T>(load: () => Promise<T>): () => Promise<T> {
  const read = async (): Promise<T> => {
    for (;;) {
      try {
        return await load();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };
  return read;
}

/** Reads code that may be needed later, one part after the other. What cannot be read now is read when it is needed. */
export function preload(loads: readonly (() => Promise<unknown>)[]): void {
  const [first, ...rest] = loads;
  if (!first) {
    return;
  }
  const next = () => void first().then(() => preload(rest), () => undefined);
  if ("requestIdleCallback" in window) {
    requestIdleCallback(next, { timeout: 2_000 });
  } else {
    setTimeout(next, 200);
  }
}
