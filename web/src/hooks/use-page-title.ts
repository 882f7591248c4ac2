import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { approvalList } from "@/api/queries";
import { plain } from "@/util/text";

/** Names the tab after the page, with the number of answers that are waited for. */
export function usePageTitle(title: string): void {
  const waiting = useQuery(approvalList).data?.approvals.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${plain(title)} · Wheelhouse`;
  }, [title, waiting]);
}
