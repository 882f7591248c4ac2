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

test("a session that is out of date stays so when its conversation grows", async () => {
  const client = new QueryClient();
  const id = "2942616a";
  client.setQueryData(keys.session(id), { state: "creating", last_seq: 1 });
  const cache = new LiveCache(client);
  const told = { seq: 2, at: "2026-01-01T00:00:00Z", subject_kind: "session", subject_id: `01a1e180-7da6-7766-8294-7bda${id}` };
  cache.apply([{ ...told, kind: "updated" }]);
  await vi.waitFor(() => expect(client.getQueryState(keys.session(id))?.isInvalidated).toBe(true));
  cache.apply([{ ...told, seq: 3, kind: "message_added", facts: { seq: "5" } }]);
  expect(client.getQueryData(keys.session(id))).toMatchObject({ last_seq: 5 });
  expect(client.getQueryState(keys.session(id))?.isInvalidated).toBe(true);
  cache.stop();
  client.clear();
});
