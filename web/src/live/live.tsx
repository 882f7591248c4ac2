import { useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, useState, type ReactNode } from "react";

import { keys } from "@/api/queries";

import { LiveCache } from "./cache";
import { Feed, type FeedStatus } from "./feed";

const Status = createContext<FeedStatus>("connecting");

/** Whether what is shown is as it is now. */
export function useFeedStatus(): FeedStatus {
  return use(Status);
}

/** Follows the feed while it is mounted, for everything below it. */
export function Live({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [status, setStatus] = useState<FeedStatus>("connecting");
  useEffect(() => {
    const cache = new LiveCache(client);
    let wasOffline = false;
    const feed = new Feed(address(), {
      onEvents: (events) => cache.apply(events),
      onResync: () => cache.everything(),
      onStatus: (now) => {
        setStatus(now);
        if (now === "live" && wasOffline) {
          // What was asked for while the server was away got no answer.
          cache.everything();
        }
        wasOffline = now === "offline";
      },
      onRefused: () => void client.invalidateQueries({ queryKey: keys.whoami }),
    });
    const hurry = () => feed.hurry();
    feed.start();
    window.addEventListener("online", hurry);
    document.addEventListener("visibilitychange", hurry);
    return () => {
      window.removeEventListener("online", hurry);
      document.removeEventListener("visibilitychange", hurry);
      feed.stop();
      cache.stop();
    };
  }, [client]);
  return <Status value={status}>{children}</Status>;
}

function address(): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${location.host}/api/v1/events`;
}
