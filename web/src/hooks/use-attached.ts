import { useState } from "react";

import { toastError } from "@/ui/toast";
import { attach, type Attached } from "@/util/files";

/** The files that are to go with a prompt: chosen, pasted or dropped, within what one may carry. */
export function useAttached() {
  const [files, setFiles] = useState<Attached[]>([]);
  const add = async (chosen: File[]) => {
    if (chosen.length === 0) return;
    try {
      const attached = await attach(files, chosen);
      setFiles(attached.files);
      if (attached.refused) toastError(new Error(attached.refused));
    } catch (error) {
      toastError(error);
    }
  };
  return {
    files,
    add: (chosen: File[]) => void add(chosen),
    remove: (index: number) => setFiles(files.filter((_, other) => other !== index)),
    clear: () => setFiles([]),
  };
}
