import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import type { Board, BoardCards } from "@/api/client";
import { worktreeList } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import type { BoardChange } from "@/hooks/use-board-change";
import { useFoundSessions } from "@/hooks/use-found-sessions";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Loaded } from "@/ui/loaded";
import { freeSpot, type Item } from "@/util/board";
import { plain } from "@/util/text";

import { Name } from "../name";

interface Props {
  board: Board;
  cards: BoardCards;
  isOpen: boolean;
  onClose: () => void;
  onChange: (change: BoardChange) => Promise<unknown>;
}

/** The most that is offered at once; the rest is found by its name. */
const SHOWN_MAX = 30;

/** Puts worktrees and sessions on a board. */
export function AddForm({ board, cards, isOpen, onClose, onChange }: Props) {
  return (
    <Dialog title="Add to the board" about="A worktree brings the sessions that work in it." isOpen={isOpen} onClose={onClose} wide>
      <Choices board={board} cards={cards} onChange={onChange} />
    </Dialog>
  );
}

interface Choice {
  item: Item;
  title: string;
  about: string;
}

function Choices({ board, cards, onChange }: Pick<Props, "board" | "cards" | "onChange">) {
  const worktrees = useAllPages(worktreeList);
  const [words, setWords] = useState("");
  const sessions = useFoundSessions(words);
  const place = useMutation({ mutationFn: (item: Item) => onChange({ place: [{ ...item, ...freeSpot(board, cards) }] }) });
  const isThere = ({ kind, id }: Item) => board.items.some((item) => item.kind === kind && item.id.endsWith(id));
  const offered = (all: Choice[]) =>
    all
      .filter(({ item, title, about }) => !isThere(item) && `${title} ${about}`.toLowerCase().includes(words.trim().toLowerCase()))
      .slice(0, SHOWN_MAX);
  return (
    <div className="flex flex-col gap-3">
      <label>
        <span className="sr-only">Find by name</span>
        <input type="search" className="field" placeholder="Find by name" value={words} onChange={(event) => setWords(event.target.value)} />
      </label>
      <Loaded query={worktrees}>
        {({ rows }) => (
          <Offer
            label="Worktrees"
            choices={offered(
              rows.map((one) => ({ item: { kind: "worktree", id: one.id }, title: one.name, about: `${one.repo} ${one.branch}` })),
            )}
            isBusy={place.isPending}
            onChoose={(item) => place.mutate(item)}
          />
        )}
      </Loaded>
      <Offer
        label="Sessions"
        choices={offered(
          sessions.all.map((one) => ({ item: { kind: "session", id: one.id }, title: one.title, about: `${one.agent} ${one.state}` })),
        )}
        isBusy={place.isPending}
        onChoose={(item) => place.mutate(item)}
      />
    </div>
  );
}

interface OfferProps {
  label: string;
  choices: Choice[];
  isBusy: boolean;
  onChoose: (item: Item) => void;
}

function Offer({ label, choices, isBusy, onChoose }: OfferProps) {
  return (
    <section aria-label={label}>
      <h3 className="mb-1 text-sm font-semibold text-muted">{label}</h3>
      {choices.length === 0 && <p className="text-sm text-muted">None that is not on the board.</p>}
      <ul className="flex flex-col gap-1">
        {choices.map(({ item, title, about }) => (
          <li key={item.id} className="flex items-center justify-between gap-2 rounded-md border border-line px-3 py-1.5">
            <span className="min-w-0">
              <Name className="block truncate font-medium">{title}</Name>
              <Name className="block truncate text-xs text-muted">{about}</Name>
            </span>
            <Button aria-label={`Add ${plain(title)}`} disabled={isBusy} onClick={() => onChoose(item)}>
              Add
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
