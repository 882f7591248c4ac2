import { useEffect } from "react";

import { plain } from "@/util/text";

import { useWaiting } from "./use-inbox";

/** Names the tab after the page, with how many sessions need the user. */
export function usePageTitle(title: string): void {
  const waiting = useWaiting();
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${plain(title)} · Wheelhouse`;
  }, [title, waiting]);
}
