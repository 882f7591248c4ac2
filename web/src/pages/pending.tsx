import { useFeedStatus } from "@/live/live";

/** Shown while the code of a page is read. */
export function PendingPage() {
  const isOffline = useFeedStatus() === "offline";
  return (
    <p role="status" className="p-6 text-muted">
      {isOffline ? "This page could not be loaded. It opens by itself when the server can be reached again." : "Loading…"}
    </p>
  );
}
