import type { FeedEvent } from "@/api/client";

/** What the server sends. */
export type FeedMessage =
  | ({ type: "event" } & FeedEvent)
  | { type: "resync"; through: number }
  | { type: "idle"; through: number };

export type FeedStatus = "connecting" | "live" | "offline";

export interface FeedHandlers {
  onEvents(events: FeedEvent[]): void;
  /** The number is not kept: everything must be read again. */
  onResync(): void;
  onStatus(status: FeedStatus): void;
  /** The server does not let us in any more, or cannot be reached: somebody should find out which. */
  onRefused(): void;
}

/** Greater than any number there is: the server answers with `resync` and the number of its latest event. */
const FROM_NOW = Number.MAX_SAFE_INTEGER;

const PAUSE_MIN_MS = 250;
const PAUSE_MAX_MS = 5_000;
/** Events of this long are handled together, so that a flood of them draws the page a few times and not thousands. */
const GATHER_MS = 50;

/**
 * Follows the change feed over one WebSocket and connects again, from the last number it saw, when that breaks off. So
 * nothing is missed while the server restarts or the machine sleeps.
 */
export class Feed {
  #seq = FROM_NOW;
  #socket: WebSocket | undefined;
  #pause = PAUSE_MIN_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #gathered: FeedEvent[] = [];
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(
    private readonly url: string,
    private readonly handlers: FeedHandlers,
    private readonly open: (url: string) => WebSocket = (address) => new WebSocket(address),
  ) {}

  start(): void {
    this.#isStopped = false;
    this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#flush();
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** Connects now instead of after the pause; the network or the user just came back. */
  hurry(): void {
    if (this.#retry !== undefined) {
      clearTimeout(this.#retry);
      this.#connect();
    }
  }

  #connect(): void {
    this.#retry = undefined;
    const socket = this.open(`${this.url}?after=${this.#seq}`);
    this.#socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.#pause = PAUSE_MIN_MS;
      this.handlers.onStatus("live");
    };
    socket.onmessage = (message) => this.#hear(JSON.parse(String(message.data)) as FeedMessage);
    socket.onclose = (closed) => {
      if (this.#isStopped || this.#socket !== socket) {
        return;
      }
      this.handlers.onStatus("offline");
      if (!wasOpen || closed.code === 1008) {
        this.handlers.onRefused();
      }
      this.#retry = setTimeout(() => this.#connect(), this.#pause * (0.75 + Math.random() / 2));
      this.#pause = Math.min(this.#pause * 2, PAUSE_MAX_MS);
    };
  }

  #hear(message: FeedMessage): void {
    switch (message.type) {
      case "event":
        this.#seq = message.seq;
        this.#gathered.push(message);
        this.#gathering ??= setTimeout(() => {
          this.#gathering = undefined;
          this.#flush();
        }, GATHER_MS);
        return;
      case "resync":
        this.#seq = message.through;
        this.#gathered = [];
        this.handlers.onResync();
        return;
      case "idle":
        this.#seq = message.through;
        return;
    }
  }

  #flush(): void {
    if (this.#gathered.length > 0) {
      this.handlers.onEvents(this.#gathered.splice(0));
    }
  }
}
