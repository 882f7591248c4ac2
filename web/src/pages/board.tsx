import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { ArrowLeft, Pencil, Plus, UserPlus } from "lucide-react";
import { lazy, Suspense, useState, useSyncExternalStore } from "react";

import type { Board, BoardCards, Zone } from "@/api/client";
import { board as boardQuery, boardCards } from "@/api/queries";
import { AddForm } from "@/components/board/add-form";
import { CardMenu } from "@/components/board/card-menu";
import { Held } from "@/components/board/held";
import { NameForm } from "@/components/board/name-form";
import { ShareForm } from "@/components/board/share-form";
import { ZoneForm } from "@/components/board/zone-form";
import { Name } from "@/components/name";
import { StatusView } from "@/components/status-view";
import { useBoardChange, type BoardChange } from "@/hooks/use-board-change";
import { usePageTitle } from "@/hooks/use-page-title";
import { usePlacing } from "@/hooks/use-placing";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { notPlaced, VIEWS, type View } from "@/util/board";
import type { Wish } from "@/util/placing";
import { plain } from "@/util/text";

/** The canvas brings a library that no other page needs. */
const BoardCanvas = lazy(async () => ({ default: (await import("@/components/board/canvas")).BoardCanvas }));

/** One board: its canvas, or the same cards by what they are at. */
export function BoardPage() {
  const { board: id } = useParams({ from: "/boards/$board" });
  const board = useQuery(boardQuery(id));
  const cards = useQuery(boardCards(id));
  usePageTitle(board.data?.name ?? "Board");
  return (
    <Loaded query={board}>
      {(shown) => <Loaded query={cards}>{(known) => <Shown key={shown.id} id={id} board={shown} cards={known} />}</Loaded>}
    </Loaded>
  );
}

const narrow = window.matchMedia("(max-width: 767px)");

/** On a phone there is no room for a canvas, unless it is asked for. */
function useView(): View {
  const { view } = useSearch({ from: "/boards/$board" });
  const isNarrow = useSyncExternalStore(
    (listener) => {
      narrow.addEventListener("change", listener);
      return () => narrow.removeEventListener("change", listener);
    },
    () => narrow.matches,
  );
  return view ?? (isNarrow ? "status" : "canvas");
}

/** What is open over the board. */
type Open = { what: "add" | "name" | "share" | "zone" } | { what: "edit" | "delete"; zone: string };

function Shown({ id, board, cards }: { id: string; board: Board; cards: BoardCards }) {
  const view = useView();
  const [open, setOpen] = useState<Open>();
  const change = useBoardChange(id);
  const onChange = (what: BoardChange) => change.mutateAsync(what);
  const placing = usePlacing(board, cards, onChange);
  const menu = { board: placing.board, cards, onPlace: placing.place, onChange };
  const refused = board.can_change ? undefined : "It is somebody else’s board.";
  const isEmpty = board.items.length === 0 && board.zones.length === 0 && cards.sessions.length === 0 && cards.worktrees.length === 0;
  return (
    <div className="relative flex h-full min-h-0 flex-col">
      <Header id={id} board={board} view={view} refused={refused} onOpen={(what) => setOpen({ what })} />
      {isEmpty ? (
        <div className="p-6">
          <Empty title="Nothing is on this board yet">
            {refused
              ? "What its owner puts on it appears here."
              : "Add worktrees and sessions, and make a zone with a prompt: what is dropped into it gets the prompt."}
          </Empty>
        </div>
      ) : view === "status" ? (
        <StatusView
          sessions={cards.sessions}
          actions={refused ? undefined : (session) => <CardMenu {...menu} item={{ kind: "session", id: session.id }} title={session.title} />}
        />
      ) : (
        <div className="relative min-h-0 flex-1">
          <Suspense fallback={<p role="status" className="p-4 text-muted">Loading…</p>}>
            <BoardCanvas
              {...menu}
              saved={board}
              refused={refused}
              onEditZone={(zone) => setOpen({ what: "edit", zone: zone.id })}
              onDeleteZone={(zone) => setOpen({ what: "delete", zone: zone.id })}
            />
          </Suspense>
          <NotPlaced {...menu} refused={refused} />
        </div>
      )}
      <Held placing={placing} />
      <Dialogs id={id} board={board} cards={cards} open={open} isBusy={change.isPending} onClose={() => setOpen(undefined)} onChange={onChange} />
    </div>
  );
}

interface HeaderProps {
  id: string;
  board: Board;
  view: View;
  refused: string | undefined;
  onOpen: (what: "add" | "name" | "share" | "zone") => void;
}

const TITLES: Record<View, string> = { canvas: "Canvas", status: "Status" };

function Header({ id, board, view, refused, onOpen }: HeaderProps) {
  return (
    <header className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2">
      <Link to="/boards" aria-label="All boards" className="rounded p-1 text-muted hover:bg-sunken">
        <ArrowLeft size={16} aria-hidden="true" />
      </Link>
      <h1 className="min-w-0 text-lg font-semibold break-words">
        <Name>{board.name}</Name>
      </h1>
      <Button look="quiet" aria-label="Rename the board" refused={refused} onClick={() => onOpen("name")}>
        <Pencil size={14} aria-hidden="true" />
      </Button>
      <nav aria-label="Views of the board" className="ml-auto flex rounded-md border border-line">
        {VIEWS.map((one) => (
          <Link
            key={one}
            to="/boards/$board"
            params={{ board: id }}
            search={{ view: one }}
            replace
            aria-current={one === view ? "page" : undefined}
            className={`px-3 py-1 text-sm ${one === view ? "bg-accent-soft text-accent" : "text-muted hover:text-text"}`}
          >
            {TITLES[one]}
          </Link>
        ))}
      </nav>
      <Button refused={refused} onClick={() => onOpen("share")}>
        <UserPlus size={14} aria-hidden="true" /> Share
      </Button>
      <Button refused={refused} onClick={() => onOpen("zone")}>
        <Plus size={14} aria-hidden="true" /> New zone
      </Button>
      <Button look="primary" refused={refused} onClick={() => onOpen("add")}>
        <Plus size={14} aria-hidden="true" /> Add
      </Button>
    </header>
  );
}

interface NotPlacedProps {
  board: Board;
  cards: BoardCards;
  /** Why nothing can be changed here, if nothing can. */
  refused: string | undefined;
  onPlace: (wish: Wish) => void;
  onChange: (change: BoardChange) => Promise<unknown>;
}

/** What belongs to the board and lies nowhere on it. */
function NotPlaced({ refused, ...menu }: NotPlacedProps) {
  const { board, cards } = menu;
  const left = notPlaced(board, cards);
  if (left.length === 0) {
    return null;
  }
  return (
    <section aria-label="Not placed yet" className="absolute top-3 right-3 max-h-[60%] w-64 overflow-y-auto rounded-lg border border-line bg-raised p-3 shadow-lg">
      <h2 className="mb-2 text-sm font-semibold text-muted">Not placed yet</h2>
      <ul className="flex flex-col gap-1">
        {left.map(({ item, title }) => (
          <li key={item.id} className="flex items-center justify-between gap-1">
            {item.kind === "session" ? (
              <Link to="/sessions/$session" params={{ session: item.id }} className="min-w-0 truncate text-sm hover:underline">
                <Name>{title}</Name>
              </Link>
            ) : (
              <Name className="min-w-0 truncate text-sm">{title}</Name>
            )}
            {!refused && <CardMenu {...menu} item={item} title={title} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DialogsProps {
  id: string;
  board: Board;
  cards: BoardCards;
  open: Open | undefined;
  isBusy: boolean;
  onClose: () => void;
  onChange: (change: BoardChange) => Promise<unknown>;
}

function Dialogs({ id, board, cards, open, isBusy, onClose, onChange }: DialogsProps) {
  const find = (what: Open["what"]): Zone | undefined =>
    open?.what === what && "zone" in open ? board.zones.find((zone) => zone.id === open.zone) : undefined;
  const [edited, deleted] = [find("edit"), find("delete")];
  return (
    <>
      <AddForm board={board} cards={cards} isOpen={open?.what === "add"} onClose={onClose} onChange={onChange} />
      <ShareForm id={id} board={board} isOpen={open?.what === "share"} onClose={onClose} />
      <NameForm
        key={board.name}
        title="Rename the board"
        action="Rename"
        name={board.name}
        isOpen={open?.what === "name"}
        onClose={onClose}
        onSave={(name) => onChange({ name })}
      />
      <ZoneForm zone={edited} isOpen={open?.what === "zone" || edited !== undefined} onClose={onClose} onChange={onChange} />
      <Confirm
        title={`Delete the zone ${plain(deleted?.name ?? "")}?`}
        about="What lies in it stays on the board."
        action="Delete zone"
        isOpen={deleted !== undefined}
        isBusy={isBusy}
        onClose={onClose}
        onConfirm={() => deleted && void onChange({ remove_zones: [deleted.id] }).then(onClose, onClose)}
      />
    </>
  );
}
