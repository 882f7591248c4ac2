import { Link } from "@tanstack/react-router";
import { NodeResizer, type Node, type NodeProps } from "@xyflow/react";
import { MessageSquareText } from "lucide-react";
import { createContext, use } from "react";

import type { Board, BoardCards, SessionCard, WorktreeCard, Zone } from "@/api/client";
import type { BoardChange } from "@/hooks/use-board-change";
import { useNow } from "@/hooks/use-now";
import { MenuItem } from "@/ui/menu";
import { CARD_WIDTH, colourOf, type Lying } from "@/util/board";
import type { Wish } from "@/util/placing";
import { counted, plain } from "@/util/text";

import { Name } from "../name";
import { Branch, Changes, SessionCardBody } from "../session-card";
import { BoardMenu, CardMenu } from "./card-menu";

/** What everything on the canvas needs to know. */
interface OnCanvas {
  board: Board;
  cards: BoardCards;
  /** Why nothing can be changed here, if nothing can. */
  refused: string | undefined;
  /** The zone that a card is held over. */
  over: string | undefined;
  onPlace: (wish: Wish) => void;
  onChange: (change: BoardChange) => Promise<unknown>;
  onResizeZone: (zone: Zone, rect: { x: number; y: number; width: number; height: number }) => void;
  onEditZone: (zone: Zone) => void;
  onDeleteZone: (zone: Zone) => void;
}

export const Canvas = createContext<OnCanvas | undefined>(undefined);

export type ZoneNode = Node<{ zone: Zone }, "zone">;
export type CardNode = Node<{ lying: Lying }, "card">;

const ZONE_MIN = { minWidth: 120, minHeight: 80 };

function ZoneView({ data: { zone } }: NodeProps<ZoneNode>) {
  const canvas = use(Canvas);
  const colour = colourOf(zone);
  const inside = canvas?.board.items.filter((item) => item.zone_id === zone.id).length ?? 0;
  const isOver = canvas?.over === zone.id;
  return (
    <section
      aria-label={`Zone ${plain(zone.name)}`}
      className={`h-full w-full rounded-xl border-2 ${isOver ? "border-solid" : "border-dashed"}`}
      style={{ borderColor: colour, background: `color-mix(in srgb, ${colour} ${isOver ? 22 : 9}%, transparent)` }}
    >
      {!canvas?.refused && (
        <NodeResizer
          {...ZONE_MIN}
          handleStyle={{ background: colour, width: 10, height: 10 }}
          lineStyle={{ borderColor: "transparent" }}
          handleClassName="zone-handle"
          lineClassName="zone-line"
          onResizeEnd={(_, { x, y, width, height }) => canvas?.onResizeZone(zone, { x, y, width, height })}
        />
      )}
      <h2 className="zone-grip pointer-events-auto flex cursor-grab items-center gap-2 rounded-t-xl bg-panel px-3 py-1.5">
        <Name className="min-w-0 truncate font-semibold">{zone.name}</Name>
        {zone.prompt_template && (
          <span title={plain(zone.prompt_template)} className="shrink-0 text-muted">
            <MessageSquareText size={14} aria-hidden="true" />
            <span className="sr-only">prompts what is placed here</span>
          </span>
        )}
        <span className="ml-auto text-xs text-muted">{counted(inside, "item")}</span>
        {!canvas?.refused && (
          <BoardMenu label={`What to do with zone ${plain(zone.name)}`}>
            <MenuItem onSelect={() => canvas?.onEditZone(zone)}>
              Edit zone…
            </MenuItem>
            <MenuItem isDangerous onSelect={() => canvas?.onDeleteZone(zone)}>
              Delete zone…
            </MenuItem>
          </BoardMenu>
        )}
      </h2>
    </section>
  );
}

function CardView({ data: { lying } }: NodeProps<CardNode>) {
  const canvas = use(Canvas);
  const now = useNow();
  const title = lying.session?.title ?? lying.worktree?.name ?? "Something that is archived, gone, or not yours";
  return (
    <article
      aria-label={`${lying.kind === "session" ? "Session" : "Worktree"} ${plain(title)}`}
      className="rounded-lg border border-line bg-panel p-3 shadow-sm"
      style={{ width: CARD_WIDTH }}
    >
      <div className="flex items-start gap-1">
        <div className="min-w-0 flex-1">
          {lying.session ? (
            <SessionLink session={lying.session} now={now} />
          ) : lying.worktree ? (
            <WorktreeHeading worktree={lying.worktree} />
          ) : (
            <p className="text-sm text-muted">{title}</p>
          )}
        </div>
        {canvas && !canvas.refused && <CardMenu {...canvas} item={{ kind: lying.kind, id: lying.id }} title={title} />}
      </div>
      {lying.kind === "worktree" && <WorktreeSessions sessions={lying.sessions} now={now} />}
    </article>
  );
}

function SessionLink({ session, now }: { session: SessionCard; now: number }) {
  return (
    // A link would be dragged by the browser in place of its card.
    <Link to="/sessions/$session" params={{ session: session.id }} draggable={false} className="block rounded hover:text-accent">
      <SessionCardBody session={session} now={now} />
    </Link>
  );
}

function WorktreeHeading({ worktree }: { worktree: WorktreeCard }) {
  return (
    <>
      <Name className="line-clamp-2 font-medium break-words">{worktree.name}</Name>
      <span className="flex flex-wrap gap-x-2 text-xs text-muted">
        <Name>{worktree.repo}</Name>
        {worktree.state !== "ready" && <span>{worktree.state}</span>}
        {worktree.changes && <Changes changes={worktree.changes} />}
      </span>
      <Branch name={worktree.branch} />
    </>
  );
}

function WorktreeSessions({ sessions, now }: { sessions: SessionCard[]; now: number }) {
  if (sessions.length === 0) {
    return <p className="mt-2 text-xs text-muted">No session works here.</p>;
  }
  return (
    <ul className="nowheel mt-2 flex max-h-72 flex-col gap-2 overflow-y-auto">
      {sessions.map((session) => (
        <li key={session.id} className="rounded-md border border-line bg-sunken p-2">
          <SessionLink session={{ ...session, branch: null, changes: null }} now={now} />
        </li>
      ))}
    </ul>
  );
}

export const NODE_TYPES = { zone: ZoneView, card: CardView };
