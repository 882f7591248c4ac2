import { useEffect } from "react";

import { plain } from "@/util/text";

import { useInbox } from "./use-inbox";

/** Names the tab after the page, with how much is in the inbox. */
export function usePageTitle(title: string): void {
  const waiting = useInbox().data?.count ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${plain(title)} · Wheelhouse`;
  }, [title, waiting]);
}
