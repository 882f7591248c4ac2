import type { QueryKey } from "@tanstack/react-query";

import type { FeedEvent } from "@/api/client";
import { keys, shortId } from "@/api/queries";

/** What an event makes out of date. */
export type Effect =
  /** Everything whose name begins so; `soon` when it may wait a moment, because more of the same is likely. */
  | { kind: "stale"; key: QueryKey; soon?: boolean }
  /** Messages of a session, from a number on. */
  | { kind: "messages"; session: string; from: number; last: number }
  /** A session is gone. */
  | { kind: "gone"; session: string };

const stale = (key: QueryKey, soon = false): Effect => ({ kind: "stale", key, soon });

/** Every list of sessions. */
const LISTS = [stale(keys.sessions), stale(keys.needsYou), stale(keys.counts)];

/** Everything that shows who owns something. */
const OWNED = [keys.users, keys.boards, keys.repos, keys.worktrees, keys.keys, keys.credentials, keys.loops, keys.anySession]
  .map((key) => stale(key))
  .concat(LISTS);

/** Says what an event makes out of date. Events say what changed and not to what, so the rest is asked for. */
export function effectsOf(event: FeedEvent): Effect[] {
  const session = event.session_id ? shortId(event.session_id) : undefined;
  switch (event.subject_kind) {
    case "session":
      return ofSession(event, shortId(event.subject_id));
    case "turn":
      // A turn that begins and ends in one step leaves the session's state as it was, and so has no event of the session.
      return session
        ? [stale(keys.turns(session)), stale(keys.session(session)), stale(keys.diffs), stale(keys.trees), ...LISTS, stale(keys.usage, true)]
        : [];
    case "approval":
      return [stale(keys.approvals), ...(session ? [stale(keys.session(session)), ...LISTS] : [])];
    case "worktree":
      // The lines that cards show are counted after a turn, and said of the worktree.
      return [stale(keys.diffs), stale(keys.sessions), stale(keys.counts), stale(keys.worktrees)];
    case "board":
      return ofBoard(shortId(event.subject_id));
    case "task_list":
      return [stale(keys.tasks), stale(keys.loops)];
    case "loop":
      return [stale(keys.loops), stale(keys.sessions)];
    case "repo":
      return [stale(keys.repos)];
    case "key":
      return [stale(keys.keys)];
    case "credential":
      return [stale(keys.credentials)];
    case "user":
      // What a deleted user owned belongs to somebody else now.
      return event.kind === "deleted" ? OWNED : [stale(keys.whoami), stale(keys.users)];
    case "setting":
      return [stale(keys.config)];
    default:
      return [];
  }
}

function ofBoard(id: string): Effect[] {
  // The boards that a session is on decide who may see and prompt it.
  return [stale(keys.boards), stale(keys.board(id)), stale(keys.cards(id)), stale(keys.anySession, true)];
}

function ofSession(event: FeedEvent, id: string): Effect[] {
  switch (event.kind) {
    case "message_added": {
      const last = Number(event.facts?.seq ?? 0);
      const from = Number(event.facts?.from ?? event.facts?.seq ?? 0);
      return [
        { kind: "messages", session: id, from, last },
        stale(keys.sessions, true),
        stale(keys.trees, true),
        stale(keys.diffs, true),
      ];
    }
    case "log_changed":
      return [stale(keys.runs(id))];
    case "deleted":
      return [{ kind: "gone", session: id }, ...LISTS, stale(keys.trees), stale(keys.approvals)];
    default:
      return [...LISTS, stale(keys.session(id)), stale(keys.trees), stale(keys.turns(id)), stale(keys.runs(id))];
  }
}
