import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useRef } from "react";

import type { Message } from "@/api/client";
import { messagePage, pageOf } from "@/api/queries";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";

import { MessageRow } from "./message-row";

/** A guess that is corrected when a message is shown. */
const ROW_PIXELS = 72;
const GAP_PIXELS = 12;

/**
 * A conversation of any length: only what is seen is drawn, and only the pages of what is seen are read. It begins at its end and
 * stays there while the reader does. `at` is the number of a message to begin at instead.
 */
export function Conversation({ session, count, at }: { session: string; count: number; at?: number | undefined }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 4,
    anchorTo: "end",
    followOnAppend: true,
    gap: GAP_PIXELS,
    paddingStart: 16,
    paddingEnd: 16,
    initialOffset: () => ((at ?? count + 1) - 1) * (ROW_PIXELS + GAP_PIXELS),
  });
  const items = rows.getVirtualItems();
  const messages = useMessages(session, items.map((item) => item.index + 1));
  if (count === 0) {
    return (
      <div className="flex-1 p-4">
        <Empty title="Nothing was said yet">Write a prompt below; what the agent does appears here as it happens.</Empty>
      </div>
    );
  }
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-label="Conversation"
        tabIndex={0}
        className="h-full overflow-y-auto px-4 [overflow-anchor:none]"
      >
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const message = messages.get(item.index + 1);
            return (
              <div
                key={item.key}
                data-index={item.index}
                ref={rows.measureElement}
                aria-current={item.index + 1 === at ? "true" : undefined}
                className="absolute top-0 left-0 w-full rounded-md aria-[current]:bg-warn-soft"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {message ? <MessageRow message={message} /> : <div aria-hidden="true" className="h-12" />}
              </div>
            );
          })}
        </div>
      </div>
      {!rows.isAtEnd(200) && (
        <Button
          className="absolute right-6 bottom-3 shadow-md"
          onClick={() => rows.scrollToIndex(count - 1, { align: "end" })}
        >
          <ArrowDown size={14} aria-hidden="true" /> Latest
        </Button>
      )}
    </div>
  );
}

/** Reads the pages in which the given messages are. */
function useMessages(session: string, seqs: number[]): Map<number, Message> {
  const first = pageOf(seqs[0] ?? 1);
  const last = pageOf(seqs.at(-1) ?? 1);
  const pages = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return useQueries({
    queries: pages.map((page) => messagePage(session, page)),
    combine: (results) => {
      const found = new Map<number, Message>();
      for (const message of results.flatMap((result) => result.data ?? [])) {
        found.set(message.seq, message);
      }
      return found;
    },
  });
}

