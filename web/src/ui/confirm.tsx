import type { ReactNode } from "react";

import { Button } from "./button";
import { Dialog } from "./dialog";

interface Props {
  title: string;
  about: ReactNode;
  /** What the button says that does it. */
  action: string;
  isOpen: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks once more before something that cannot be undone. */
export function Confirm({ title, about, action, isOpen, isBusy = false, onConfirm, onClose }: Props) {
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose} about={about}>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" disabled={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
