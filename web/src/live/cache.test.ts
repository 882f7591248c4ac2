import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { keys } from "@/api/queries";

import { LiveCache } from "./cache";

const revoked = {
  seq: 1,
  at: "2026-01-01T00:00:00Z",
  kind: "revoked",
  subject_kind: "key",
  subject_id: "01a1e180-7da6-7766-8294-7bda2942616a",
};

test("an answer that was under way when something happened does not count", async () => {
  const client = new QueryClient();
  const answers: ((value: string) => void)[] = [];
  const read = vi.fn(() => new Promise<string>((resolve) => answers.push(resolve)));
  const observer = new QueryObserver(client, { queryKey: keys.keys, queryFn: read });
  const stop = observer.subscribe(() => undefined);
  await vi.waitFor(() => expect(answers).toHaveLength(1));

  const cache = new LiveCache(client);
  cache.apply([revoked]);
  answers[0]?.("before");
  await vi.waitFor(() => expect(answers).toHaveLength(2));
  answers[1]?.("after");
  await vi.waitFor(() => expect(client.getQueryData(keys.keys)).toBe("after"));

  // What nobody looks at is not read, only marked.
  stop();
  cache.apply([revoked]);
  await vi.waitFor(() => expect(client.getQueryState(keys.keys)?.isInvalidated).toBe(true));
  expect(read).toHaveBeenCalledTimes(2);
  client.clear();
});
