import { Copy } from "lucide-react";

import { Button } from "@/ui/button";
import { toast, toastError } from "@/ui/toast";

/** A secret that is not shown again, to be copied now. `label` says what it is. */
export function ShownOnce({ label, secret, onClose }: { label: string; secret: string; onClose: () => void }) {
  const copy = () =>
    navigator.clipboard
      .writeText(secret)
      .then(() => toast("It was copied"))
      .catch(() => toastError(new Error("the browser did not allow copying; select it and copy it yourself")));
  return (
    <div className="flex flex-col gap-3">
      <output aria-label={label} className="rounded-md bg-sunken p-3 font-mono break-all select-all">
        {secret}
      </output>
      <div className="flex justify-end gap-2">
        <Button onClick={() => void copy()}>
          <Copy size={14} aria-hidden="true" /> Copy
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}
