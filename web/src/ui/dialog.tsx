import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** Said below the title. */
  about?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/**
 * A modal dialog. The shade is ours and not Radix's overlay, which would write a style element that the server's policy forbids.
 */
export function Dialog({ title, about, isOpen, onClose, children, wide = false }: Props) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-black/50" aria-hidden="true" />
        <Radix.Content
          aria-describedby={undefined}
          className={`fixed top-[10vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-5 shadow-xl ${wide ? "max-w-2xl" : "max-w-md"}`}
        >
          <div className="flex items-start justify-between gap-4">
            <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
            <Radix.Close aria-label="Close" className="rounded p-1 text-muted hover:bg-sunken hover:text-text">
              <X size={16} aria-hidden="true" />
            </Radix.Close>
          </div>
          {about && <div className="mt-1 text-muted">{about}</div>}
          <div className="mt-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
