import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

interface Props {
  /** The button that opens it. */
  trigger: ReactNode;
  children: ReactNode;
}

/** A menu behind a button. Not modal: what would keep the page from scrolling is a style element, which the server's policy forbids. */
export function Menu({ trigger, children }: Props) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          className="z-50 max-h-80 max-w-72 min-w-40 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-lg"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ItemProps {
  onSelect: () => void;
  isDangerous?: boolean;
  /** Why it cannot be chosen now. */
  refused?: string | undefined;
  children: ReactNode;
}

export function MenuItem({ onSelect, isDangerous = false, refused, children }: ItemProps) {
  return (
    <DropdownMenu.Item
      className={`block w-full cursor-pointer rounded px-3 py-1.5 text-left break-words outline-none data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50 data-[highlighted]:bg-sunken ${isDangerous ? "text-danger" : ""}`}
      disabled={refused !== undefined}
      title={refused}
      onSelect={onSelect}
    >
      {children}
    </DropdownMenu.Item>
  );
}
