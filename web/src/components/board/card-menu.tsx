import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";

import type { Board, BoardCards, Zone } from "@/api/client";
import type { BoardChange } from "@/hooks/use-board-change";
import { Menu, MenuItem } from "@/ui/menu";
import { toast } from "@/ui/toast";
import { freeSpot, type Item } from "@/util/board";
import type { Wish } from "@/util/placing";
import { plain } from "@/util/text";

/** A button with a menu of what can be done with something on a board. */
export function BoardMenu({ label, children }: { label: string; children: ReactNode }) {
  const trigger = (
    <button
      type="button"
      aria-label={label}
      className="nodrag nopan inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-text"
    >
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return <Menu trigger={trigger}>{children}</Menu>;
}

interface Props {
  board: Board;
  cards: BoardCards;
  item: Item;
  title: string;
  onPlace: (wish: Wish) => void;
  onChange: (change: BoardChange) => Promise<unknown>;
}

/** Places something without a mouse: into a zone, out of it, or off the board. */
export function CardMenu({ board, cards, item, title, onPlace, onChange }: Props) {
  const placed = board.items.find((other) => other.kind === item.kind && other.id.endsWith(item.id));
  const move = (zone?: Zone) =>
    onPlace({ item, title, ...freeSpot(board, cards, zone), zone, isNewZone: zone !== undefined && zone.id !== placed?.zone_id });
  const quietly = (work: Promise<unknown>) => void work.catch(() => undefined);
  const where = board.zones.filter((zone) => zone.id !== placed?.zone_id);
  return (
    <BoardMenu label={`What to do with ${plain(title)}`}>
      {where.map((zone) => (
        <MenuItem key={zone.id} onSelect={() => move(zone)}>
          Move to zone <bdi className="font-medium">{plain(zone.name)}</bdi>
        </MenuItem>
      ))}
      {placed?.zone_id && (
        <MenuItem onSelect={() => move()}>
          Move out of its zone
        </MenuItem>
      )}
      {placed ? (
        <MenuItem onSelect={() => quietly(onChange({ remove_items: [item] }))}>
          Take off the board
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => move()}>
          Place on the canvas
        </MenuItem>
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
