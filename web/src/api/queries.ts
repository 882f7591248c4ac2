import { infiniteQueryOptions, keepPreviousData, queryOptions, type QueryKey } from "@tanstack/react-query";

import type { AuditSearch } from "@/util/audit";
import { utcOffset } from "@/util/usage";

import { api, ask, isSignedOut, type Message, type Schemas } from "./client";

/** The name of everything that is kept, from the general to the special: the feed invalidates by the beginning of a name. */
export const keys = {
  whoami: ["whoami"] as const,
  sessions: ["sessions"] as const,
  session: (id: string) => ["session", id] as const,
  anySession: ["session"] as const,
  messages: (id: string) => ["messages", id] as const,
  messagePage: (id: string, page: number) => ["messages", id, page] as const,
  /** Found by words of their titles. */
  sessionsFound: (words: string) => ["sessions", "found", words] as const,
  /** Not among the sessions: what is said in them does not change it. */
  needsYou: ["needs-you"] as const,
  counts: ["needs-you", "counts"] as const,
  approvals: ["approvals"] as const,
  approvalsOf: (session: string) => ["approvals", session] as const,
  turns: (id: string) => ["turns", id] as const,
  /** Not among the turns: what was said does not change with them. */
  promptOf: (turn: string) => ["prompt-of", turn] as const,
  turn: (id: string, turn: string) => ["turns", id, turn] as const,
  tree: (id: string) => ["tree", id] as const,
  diff: (worktree: string) => ["diff", worktree] as const,
  diffText: (worktree: string, first: number, count: number) => ["diff", worktree, first, count] as const,
  diffs: ["diff"] as const,
  trees: ["tree"] as const,
  repos: ["repos"] as const,
  agents: ["agents"] as const,
  agent: (name: string) => ["agents", name] as const,
  keys: ["keys"] as const,
  credentials: ["credentials"] as const,
  tasks: ["tasks"] as const,
  taskList: (of: ListOf) => ["tasks", of] as const,
  notes: (of: ListOf) => ["tasks", of, "notes"] as const,
  loops: ["loops"] as const,
  loop: (id: string) => ["loops", id] as const,
  boards: ["boards"] as const,
  boardsOf: (of: "own" | "shared") => ["boards", of] as const,
  board: (id: string) => ["board", id] as const,
  /** What makes a list of sessions out of date does so to the cards of a board. */
  cards: (board: string) => ["sessions", "board", board] as const,
  worktrees: ["worktrees"] as const,
  worktree: (id: string) => ["worktrees", id] as const,
  loopLog: (id: string) => ["loops", id, "log"] as const,
  endedLoop: (id: string, iteration: number, outcome: string | null | undefined) => ["ended-loop", id, iteration, outcome] as const,
  search: (words: string) => ["search", words] as const,
  users: ["users"] as const,
  config: ["config"] as const,
  runs: (id: string) => ["runs", id] as const,
  usage: ["usage"] as const,
  usageOf: (query: UsageQuery) => ["usage", query] as const,
  audit: (search: AuditSearch) => ["audit", search] as const,
};

/** What has a list of tasks: the tree that a session is in, or a loop. */
export type ListOf = { session: string } | { loop: string };

/** The last 8 digits of an id, which the server takes wherever it takes an id. */
export function shortId(id: string): string {
  return id.slice(-8);
}

const AGAIN_MS = 3_000;

export const whoami = queryOptions({
  queryKey: keys.whoami,
  queryFn: ({ signal }) => ask(api.GET("/api/v1/whoami", { signal })),
  // Until somebody is known nothing follows the feed, so a server that is away is asked again from here.
  refetchInterval: ({ state }) => (state.error && !isSignedOut(state.error) ? AGAIN_MS : false),
});

/** How many entries of a list are read at once. */
const PAGE_MAX = 200;

/** What a page of a list tells beside its rows. */
interface ListPage {
  next_cursor?: string | null;
  total?: number | null;
}

/** Which rows of a list to read. */
interface PageWanted {
  limit: number;
  cursor?: string;
}

/** A list that is read page by page: what is kept is every row that was read so far. */
function paged<Page extends ListPage, Row>(
  queryKey: QueryKey,
  read: (query: PageWanted, signal: AbortSignal) => Promise<Page>,
  rowsOf: (page: Page) => Row[],
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => read({ limit: PAGE_MAX, ...(pageParam && { cursor: pageParam }) }, signal),
    getNextPageParam: (page: Page) => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ rows: pages.flatMap(rowsOf), total: pages[0]?.total, first: pages[0] }),
  });
}

interface SessionsWanted {
  needs_you?: boolean;
  title?: string;
}

function sessionPage(wanted: SessionsWanted, cursor: string, signal: AbortSignal) {
  const query = { limit: PAGE_MAX, ...wanted, ...(cursor && { cursor }) };
  return ask(api.GET("/api/v1/sessions", { params: { query }, signal }));
}

/** The sessions, newest first. */
export const sessionList = infiniteQueryOptions({
  queryKey: keys.sessions,
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) => sessionPage({}, pageParam, signal),
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: ({ pages }) => pages.flatMap(({ sessions }) => sessions),
});

/** What broke, waits for somebody or ran out of budget. */
export const needsYouList = infiniteQueryOptions({
  queryKey: keys.needsYou,
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) => sessionPage({ needs_you: true }, pageParam, signal),
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: ({ pages }) => pages.flatMap(({ sessions }) => sessions),
});

/** How many sessions there are in each column. */
export const sessionCounts = queryOptions({
  queryKey: keys.counts,
  queryFn: ({ signal }) => ask(api.GET("/api/v1/sessions/counts", { signal })),
});

/** Sessions by words of their titles, or by an id. */
export const sessionsFound = (words: string) =>
  queryOptions({
    queryKey: keys.sessionsFound(words),
    enabled: words !== "",
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => sessionPage({ title: words }, "", signal),
  });

export const session = (id: string) =>
  queryOptions({
    queryKey: keys.session(id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/sessions/{session}", { params: { path: { session: id } }, signal })),
  });

/** What waits for an answer, latest first. */
export const approvalList = infiniteQueryOptions({
  queryKey: keys.approvals,
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) => {
    const query = { limit: PAGE_MAX, ...(pageParam && { cursor: pageParam }) };
    return ask(api.GET("/api/v1/approvals", { params: { query }, signal }));
  },
  getNextPageParam: (page) => page.next_cursor ?? undefined,
  select: ({ pages }) => pages.flatMap(({ approvals }) => approvals),
});

/** What a session asked for, settled or not, latest first. */
export const approvalsOf = (session: string) =>
  paged(
    keys.approvalsOf(session),
    (page, signal) => ask(api.GET("/api/v1/approvals", { params: { query: { session, include_settled: true, ...page } }, signal })),
    ({ approvals }) => approvals,
  );

export const turnList = (id: string) =>
  paged(
    keys.turns(id),
    (query, signal) => ask(api.GET("/api/v1/sessions/{session}/turns", { params: { path: { session: id }, query }, signal })),
    ({ turns }) => turns,
  );

export const turn = (sessionId: string, id: string) =>
  queryOptions({
    queryKey: keys.turn(sessionId, id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/turns/{turn}", { params: { path: { turn: id } }, signal })),
  });

/** What a turn was begun with. */
export const promptOf = (id: string) =>
  queryOptions({
    queryKey: keys.promptOf(id),
    queryFn: async ({ signal }) => (await ask(api.GET("/api/v1/turns/{turn}", { params: { path: { turn: id } }, signal }))).prompt,
  });

export const sessionTree = (id: string) =>
  queryOptions({
    queryKey: keys.tree(id),
    queryFn: ({ signal }) =>
      ask(api.GET("/api/v1/sessions/{session}/tree", { params: { path: { session: id } }, signal })),
  });

/** The most files that are listed; `wheelhouse diff` shows all. */
const DIFF_FILES_MAX = 3_000;

/** Every file that a worktree changed, without the text. */
export const worktreeDiff = (worktree: string) =>
  queryOptions({
    queryKey: keys.diff(worktree),
    queryFn: async ({ signal }) => {
      let page = await diffPart(worktree, { patch: false }, signal);
      const diff = { ...page, files: [...page.files] };
      while (page.next_cursor && diff.files.length < DIFF_FILES_MAX) {
        page = await diffPart(worktree, { patch: false, cursor: page.next_cursor }, signal);
        diff.files.push(...page.files);
        diff.files_left = page.files_left;
      }
      return diff;
    },
  });

/** A stretch of the files that a worktree changed: the first one's place in the list, and how many there are. */
export interface Stretch {
  first: number;
  count: number;
}

/** The files of a stretch with the text of their changes. The text of many, or of large ones, comes in several answers. */
export const worktreeText = (worktree: string, { first, count }: Stretch) =>
  queryOptions({
    queryKey: keys.diffText(worktree, first, count),
    queryFn: async ({ signal }) => {
      const files: Schemas["FileChangeView"][] = [];
      while (files.length < count) {
        const limit = count - files.length;
        const part = await diffPart(worktree, { bytes_max: 1_000_000, limit, cursor: String(first + files.length) }, signal);
        files.push(...part.files);
        if (!part.next_cursor || part.files.length === 0) {
          break;
        }
      }
      return files;
    },
  });

function diffPart(worktree: string, query: { bytes_max?: number; patch?: boolean; cursor?: string; limit?: number }, signal: AbortSignal) {
  const params = { path: { worktree }, query: { limit: 300, ...query } };
  return ask(api.GET("/api/v1/worktrees/{worktree}/diff", { params, signal }));
}

export const repoList = paged(
  keys.repos,
  (query, signal) => ask(api.GET("/api/v1/repos", { params: { query }, signal })),
  ({ repos }) => repos,
);

export const agentList = queryOptions({
  queryKey: keys.agents,
  queryFn: ({ signal }) => ask(api.GET("/api/v1/agents", { signal })),
});

/** One agent, with the models that it offers. */
export const agentAbout = (name: string) =>
  queryOptions({
    queryKey: keys.agent(name),
    enabled: name !== "",
    // It may have said more since a session of it was open.
    staleTime: 0,
    queryFn: ({ signal }) => ask(api.GET("/api/v1/agents/{agent}", { params: { path: { agent: name } }, signal })),
  });

export const keyList = paged(
  keys.keys,
  (query, signal) => ask(api.GET("/api/v1/keys", { params: { query }, signal })),
  ({ keys }) => keys,
);

export const credentialList = paged(
  keys.credentials,
  (query, signal) => ask(api.GET("/api/v1/credentials", { params: { query }, signal })),
  ({ credentials }) => credentials,
);

/** The tasks of a list. */
export const taskList = (of: ListOf) =>
  infiniteQueryOptions({
    queryKey: keys.taskList(of),
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { ...of, limit: 200, ...(pageParam && { cursor: pageParam }) };
      return ask(api.GET("/api/v1/tasks", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** What agents noted for later ones. */
export const noteList = (of: ListOf) =>
  infiniteQueryOptions({
    queryKey: keys.notes(of),
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { ...of, limit: 50, ...(pageParam && { cursor: pageParam }) };
      return ask(api.GET("/api/v1/notes", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const loopList = paged(
  keys.loops,
  (query, signal) => ask(api.GET("/api/v1/loops", { params: { query }, signal })),
  ({ loops }) => loops,
);

export const loop = (id: string) =>
  queryOptions({
    queryKey: keys.loop(id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/loops/{loop}", { params: { path: { loop: id } }, signal })),
  });

/** One's own boards, or those that others share. */
export const boardList = (of: "own" | "shared") =>
  paged(
    keys.boardsOf(of),
    (page, signal) => ask(api.GET("/api/v1/boards", { params: { query: { ...page, shared: of === "shared" } }, signal })),
    ({ boards }) => boards,
  );

export const board = (id: string) =>
  queryOptions({
    queryKey: keys.board(id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/boards/{board}", { params: { path: { board: id } }, signal })),
  });

export const boardCards = (id: string) =>
  queryOptions({
    queryKey: keys.cards(id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/boards/{board}/cards", { params: { path: { board: id } }, signal })),
  });

export const worktreeList = paged(
  keys.worktrees,
  (query, signal) => ask(api.GET("/api/v1/worktrees", { params: { query }, signal })),
  ({ worktrees }) => worktrees,
);

/** Where a session works, if that is a worktree. */
export const worktreeAbout = (id: string | null | undefined) =>
  queryOptions({
    queryKey: keys.worktree(id ?? ""),
    enabled: Boolean(id),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/worktrees/{worktree}", { params: { path: { worktree: id ?? "" } }, signal })),
  });

/** A loop that has ended. It changes only when it is resumed and ends again, which the list shows, so each end is asked for once. */
export const endedLoop = ({ id, iteration, outcome }: Schemas["LoopSummaryView"]) =>
  queryOptions({
    queryKey: keys.endedLoop(id, iteration, outcome),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/loops/{loop}", { params: { path: { loop: id } }, signal })),
  });

const LOG_AT_ONCE = 200;

/** What happened in a loop. What was read is kept, and only what came after it is asked for. */
export const loopLog = (id: string) =>
  queryOptions({
    queryKey: keys.loopLog(id),
    queryFn: async ({ client, signal }) => {
      let entries = client.getQueryData<Schemas["LoopLogEntryView"][]>(keys.loopLog(id)) ?? [];
      for (;;) {
        const query = { after: entries.at(-1)?.seq ?? 0, limit: LOG_AT_ONCE };
        const more = await ask(api.GET("/api/v1/loops/{loop}/log", { params: { path: { loop: id }, query }, signal }));
        entries = [...entries, ...more.entries];
        if (more.entries.length < LOG_AT_ONCE) {
          return entries;
        }
      }
    },
  });

export const search = (words: string) =>
  infiniteQueryOptions({
    queryKey: keys.search(words),
    enabled: words.trim() !== "",
    // Nothing in the feed says that another message would be found now.
    staleTime: 0,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { query: words, limit: 50, ...(pageParam && { cursor: pageParam }) };
      return ask(api.GET("/api/v1/search", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const userList = paged(
  keys.users,
  (query, signal) => ask(api.GET("/api/v1/users", { params: { query }, signal })),
  ({ users }) => users,
);

/** The settings that change at run time. */
export const config = queryOptions({
  queryKey: keys.config,
  queryFn: ({ signal }) => ask(api.GET("/api/v1/config", { signal })),
});

/** The processes a session had, latest first. */
export const runList = (id: string) =>
  infiniteQueryOptions({
    queryKey: keys.runs(id),
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: 10, max_bytes: 16_384, ...(pageParam && { cursor: pageParam }) };
      return ask(api.GET("/api/v1/sessions/{session}/runs", { params: { path: { session: id }, query }, signal }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export interface UsageQuery {
  since: string;
  until: string | undefined;
  utc_offset: number;
}

/** What was spent within a time. */
export const usageReport = (query: UsageQuery) =>
  queryOptions({
    queryKey: keys.usageOf(query),
    queryFn: ({ signal }) => ask(api.GET("/api/v1/usage", { params: { query }, signal })),
  });

export const auditList = ({ reads, ...search }: AuditSearch) =>
  infiniteQueryOptions({
    queryKey: keys.audit({ ...search, ...(reads && { reads }) }),
    staleTime: 0,
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const wanted = { ...search, ...(reads === "yes" && { include_reads: true }) };
      const query = { limit: 100, utc_offset: utcOffset(), ...wanted, ...(pageParam && { cursor: pageParam }) };
      return ask(api.GET("/api/v1/audit", { params: { query }, signal }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

/** Messages are numbered from 1 without gaps, so a page is a range of numbers whatever else is loaded. */
export const PAGE_MESSAGES = 50;

export function pageOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE_MESSAGES);
}

/** Reads the messages after a number, up to and including another; long ones come in several answers. */
export async function readMessages(
  id: string,
  after: number,
  through: number,
  signal?: AbortSignal,
): Promise<{ messages: Message[]; lastSeq: number }> {
  const messages: Message[] = [];
  let from = after;
  for (;;) {
    const query = {
      after: String(from),
      view: "full",
      include_system: true,
      limit: Math.min(200, Math.max(1, through - from)),
      max_bytes: 1_000_000,
    };
    const params = { path: { session: id }, query };
    const part = await ask(api.GET("/api/v1/sessions/{session}/messages", { params, signal }));
    messages.push(...part.messages.filter((message) => message.seq <= through));
    const next = part.next_after;
    if (!next || next <= from || next >= through) {
      return { messages, lastSeq: part.last_seq };
    }
    from = next;
  }
}

export const messagePage = (id: string, page: number) =>
  queryOptions({
    queryKey: keys.messagePage(id, page),
    queryFn: async ({ signal }) => {
      const after = page * PAGE_MESSAGES;
      const { messages } = await readMessages(id, after, after + PAGE_MESSAGES, signal);
      return messages;
    },
  });
