import createClient from "openapi-fetch";

import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type SessionCard = Schemas["SessionCardView"];
export type Session = Schemas["SessionView"];
export type Message = Schemas["MessageView"];
export type Approval = Schemas["ApprovalView"];
export type Turn = Schemas["TurnView"];
export type FeedEvent = Schemas["EventView"];
export type Key = Schemas["KeyView"];
export type Repo = Schemas["RepoView"];
export type Agent = Schemas["AgentView"];
export type Diff = Schemas["WorktreeDiffView"];
export type FileChange = Schemas["FileChangeView"];
export type Board = Schemas["BoardView"];
export type Zone = Schemas["ZoneView"];
export type Placement = Schemas["PlacementView"];
export type BoardCards = Schemas["BoardCardsView"];
export type WorktreeCard = Schemas["WorktreeCardView"];
export type TreeNode = Schemas["SessionTreeNode"];

/** A refusal of the server, or word that it could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Tells whether the server does not know who is asking. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

export const api = createClient<paths>({
  credentials: "same-origin",
  // A list is a repeated field: the server reads `states=a&states=b`.
  querySerializer: { array: { style: "form", explode: true } },
});

api.use({
  onError({ request }) {
    const isRead = request.method === "GET";
    return isRead
      ? new ApiError(0, "UNREACHABLE", "the server cannot be reached", "retrying automatically")
      : new ApiError(0, "UNREACHABLE", "not sent: the server cannot be reached", "Your input is kept; send it again when the server is back.");
  },
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns what an answer holds, or throws what the server said against it. */
export async function ask<T>(answer: Promise<Answer<T>>): Promise<T> {
  let given: Answer<T>;
  try {
    given = await answer;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(0, "UNREACHABLE", "the connection broke before the answer was complete", "Look whether it was done before you try again.");
  }
  if (given.data !== undefined && given.response.ok) {
    return given.data;
  }
  const told = (given.error as { error?: { code?: string; message?: string; hint?: string } } | undefined)?.error;
  const { status } = given.response;
  throw new ApiError(status, told?.code ?? "INTERNAL", told?.message ?? `the server answered ${status}`, told?.hint);
}

/** Returns a fresh mark: a change that is sent twice with the same one is made once. */
export function mark(): { "idempotency-key": string } {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { "idempotency-key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}
