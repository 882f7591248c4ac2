import { Ellipsis } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

import type { Board, Zone } from "@/api/client";
import type { BoardChange } from "@/hooks/use-board-change";
import { toast } from "@/ui/toast";
import { freeSpot, type Item } from "@/util/board";
import { plain } from "@/util/text";

export const MENU_ITEM =
  "block w-full cursor-pointer rounded px-3 py-1.5 text-left outline-none data-[highlighted]:bg-sunken data-[disabled]:cursor-not-allowed data-[disabled]:opacity-50";

/** A button with a menu of what can be done with something on a board. */
export function BoardMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        aria-label={label}
        className="nodrag nopan inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-text"
      >
        <Ellipsis size={16} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          className="z-50 max-h-80 max-w-72 min-w-44 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-lg"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface Props {
  board: Board;
  item: Item;
  title: string;
  onChange: (change: BoardChange) => Promise<unknown>;
}

/** Places something without a mouse: into a zone, out of it, or off the board. */
export function CardMenu({ board, item, title, onChange }: Props) {
  const placed = board.items.find((other) => other.kind === item.kind && other.id.endsWith(item.id));
  const move = async (zone?: Zone) => {
    await onChange({ place: [{ ...item, ...freeSpot(board, zone), ...(zone && { zone: zone.id }) }] });
    toastPlaced(zone);
  };
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined);
  const where = board.zones.filter((zone) => zone.id !== placed?.zone_id);
  return (
    <BoardMenu label={`What to do with ${plain(title)}`}>
      {where.map((zone) => (
        <DropdownMenu.Item key={zone.id} className={MENU_ITEM} onSelect={() => quietly(move(zone))}>
          Move to zone <bdi className="font-medium break-words">{plain(zone.name)}</bdi>
        </DropdownMenu.Item>
      ))}
      {placed?.zone_id && (
        <DropdownMenu.Item className={MENU_ITEM} onSelect={() => quietly(move())}>
          Move out of its zone
        </DropdownMenu.Item>
      )}
      {placed ? (
        <DropdownMenu.Item className={MENU_ITEM} onSelect={() => quietly(onChange({ remove_items: [item] }))}>
          Take off the board
        </DropdownMenu.Item>
      ) : (
        <DropdownMenu.Item className={MENU_ITEM} onSelect={() => quietly(move())}>
          Place on the canvas
        </DropdownMenu.Item>
      )}
    </BoardMenu>
  );
}

/** Says where something lies now, and what comes of that. */
export function toastPlaced(zone?: Zone): void {
  if (zone) {
    toast(`Moved to ${plain(zone.name)}`, zone.prompt_template ? "Whoever takes prompts there gets the zone’s." : undefined);
  }
}
