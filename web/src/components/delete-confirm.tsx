import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { ApiError } from "@/api/client";
import { Confirm } from "@/ui/confirm";
import { toast, toastError } from "@/ui/toast";
import { plain } from "@/util/text";

interface Props {
  /** What is deleted, such as `board`. */
  what: string;
  name: string;
  /** What is deleted with it in any case. */
  about: string;
  /** What happens to what depends on it. */
  forced: string;
  /** Deletes it; the server refuses with CONFLICT while something depends on it, unless forced. */
  remove: (force: boolean) => Promise<unknown>;
  onDeleted?: () => unknown;
  onClose: () => void;
}

/** Asks before something is deleted, and again, with what depends on it, when the server refuses because it is in use. */
export function DeleteConfirm({ what, name, about, forced, remove, onDeleted, onClose }: Props) {
  const [inUse, setInUse] = useState<string>();
  const deletion = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      toast(`Deleted the ${what} ${plain(name)}`);
      await onDeleted?.();
      onClose();
    },
    onError: (error, force) => {
      if (!force && error instanceof ApiError && error.code === "CONFLICT") {
        setInUse(error.message);
        return;
      }
      onClose();
      toastError(error);
    },
  });
  return (
    <Confirm
      title={`Delete the ${what} ${plain(name)}?`}
      about={inUse === undefined ? `${about} This cannot be undone.` : `${inUse}. ${forced}`}
      action={inUse === undefined ? "Delete" : "Delete anyway"}
      isOpen
      isBusy={deletion.isPending}
      onClose={onClose}
      onConfirm={() => deletion.mutate(inUse !== undefined)}
    />
  );
}
