import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";

/** A secret that is not shown again, to be copied now. `label` says what it is. */
export function ShownOnce({ label, secret, onClose }: { label: string; secret: string; onClose: () => void }) {
  return (
    <div className="flex flex-col gap-3">
      <output aria-label={label} className="rounded-md bg-sunken p-3 font-mono break-all select-all">
        {secret}
      </output>
      <div className="flex justify-end gap-2">
        <Copy text={secret}>Copy</Copy>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}
