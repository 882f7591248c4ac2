import type { QueryClient, QueryKey } from "@tanstack/react-query";

import type { FeedEvent, Message, Session } from "@/api/client";
import { keys, pageOf, readMessages } from "@/api/queries";

import { effectsOf } from "./effects";
import { isStale, put } from "./put";
import { Single } from "./single";

/** How long what may wait does wait. */
const SOON_MS = 1_000;

/** Brings what is kept up to date with the feed. The only place that does. */
export class LiveCache {
  #soon = new Map<string, ReturnType<typeof setTimeout>>();
  #messages: Single<number>;
  #refresh: Single<QueryKey>;

  constructor(private readonly client: QueryClient) {
    this.#messages = new Single((session, from) => this.#catchUp(session, from), Math.min);
    this.#refresh = new Single(
      (_, key) => this.#fresh(key),
      (_, later) => later,
    );
  }

  apply(events: FeedEvent[]): void {
    const now = new Map<string, QueryKey>();
    for (const effect of events.flatMap(effectsOf)) {
      switch (effect.kind) {
        case "stale":
          if (effect.soon) {
            this.#later(effect.key);
          } else {
            now.set(JSON.stringify(effect.key), effect.key);
          }
          break;
        case "messages":
          this.#grown(effect.session, effect.last);
          this.#messages.ask(effect.session, effect.from);
          break;
        case "gone":
          // Whoever looks at it is told that it is not there any more.
          void this.client.resetQueries({ queryKey: keys.session(effect.session) });
          void this.client.resetQueries({ queryKey: keys.messages(effect.session) });
          break;
      }
    }
    for (const [name, key] of now) {
      this.#refresh.ask(name, key);
    }
  }

  /** Everything is read again: what was missed is not known. */
  everything(): void {
    this.#refresh.ask("everything", []);
  }

  stop(): void {
    this.#soon.forEach((timer) => clearTimeout(timer));
    this.#soon.clear();
  }

  /** Reads again whatever is looked at. An answer that is under way may have been given before the event, so it does not count. */
  async #fresh(key: QueryKey): Promise<void> {
    const filters = { queryKey: key, type: "active" } as const;
    if (this.client.isFetching(filters) > 0) {
      await this.client.refetchQueries(filters, { cancelRefetch: false });
    }
    await this.client.invalidateQueries({ queryKey: key });
  }

  #later(key: QueryKey): void {
    const name = JSON.stringify(key);
    if (!this.#soon.has(name)) {
      const timer = setTimeout(() => {
        this.#soon.delete(name);
        this.#refresh.ask(name, key);
      }, SOON_MS);
      this.#soon.set(name, timer);
    }
  }

  /** The conversation is as long as the last message's number says. */
  #grown(session: string, last: number): void {
    const queryKey = keys.session(session);
    const kept = this.client.getQueryData<Session>(queryKey);
    if (kept && kept.last_seq < last) {
      put<Session>(this.client, queryKey, { ...kept, last_seq: last });
    }
  }

  /** Reads what is new and puts it into the pages that are kept; a conversation nobody looks at is only marked. */
  async #catchUp(session: string, from: number): Promise<void> {
    const pages = this.client.getQueryCache().findAll({ queryKey: keys.messages(session), type: "active" });
    if (pages.length === 0) {
      await this.client.invalidateQueries({ queryKey: keys.messages(session) });
      return;
    }
    const read = await readMessages(session, from - 1, Number.MAX_SAFE_INTEGER);
    this.#grown(session, read.lastSeq);
    const byPage = new Map<number, Message[]>();
    for (const message of read.messages) {
      const page = pageOf(message.seq);
      byPage.set(page, [...(byPage.get(page) ?? []), message]);
    }
    for (const [page, messages] of byPage) {
      const key = keys.messagePage(session, page);
      if (this.client.isFetching({ queryKey: key }) > 0) {
        await this.#fresh(key);
      } else if (!isStale(this.client, key)) {
        // One that is out of date misses more than this, and is read when somebody looks at it.
        this.client.setQueryData<Message[]>(key, (kept) => merged(kept, messages));
      }
    }
  }
}

/** Puts new and grown messages into a page. A page that is not there is left to whoever will show it. */
export function merged(kept: Message[] | undefined, messages: Message[]): Message[] | undefined {
  if (!kept) {
    return undefined;
  }
  const bySeq = new Map(kept.map((message) => [message.seq, message]));
  messages.forEach((message) => bySeq.set(message.seq, message));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
