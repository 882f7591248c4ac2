import { Badge, type Tone } from "@/ui/badge";

const TONES: Record<string, Tone> = {
  creating: "info",
  beginning: "info",
  running: "info",
  reviewing: "info",
  stopping: "info",
  waiting: "warn",
  interrupted: "warn",
  paused: "warn",
  limit: "warn",
  budget: "warn",
  stalled: "warn",
  failed: "danger",
  idle: "good",
  completed: "good",
  queued: "neutral",
  cancelled: "neutral",
};

/** What a session or a turn is at, in the server's word. */
export function StateBadge({ state }: { state: string }) {
  const tone = TONES[state] ?? "neutral";
  return (
    <Badge tone={tone}>
      {tone === "info" && <span aria-hidden="true" className="size-1.5 animate-pulse rounded-full bg-info" />}
      {state}
    </Badge>
  );
}
