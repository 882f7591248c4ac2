import { useEffect, useMemo, useRef, useState } from "react";

import type { Board, BoardCards } from "@/api/client";
import { toastPlaced } from "@/components/board/card-menu";
import { startsAgent, withWishes, type Wish } from "@/util/placing";

import type { BoardChange } from "./use-board-change";

/** How long a placement that prompts somebody can be undone. */
const UNDO_MS = 5_000;

/** A placement that is not saved yet. */
export interface HeldWish extends Wish {
  /** Whether it waits for the time in which it can be undone. */
  canUndo: boolean;
}

/** Places things on a board, and waits before it does what prompts an agent. */
export interface Placing {
  /** The board with everything where it was put, saved or not. */
  board: Board;
  held: HeldWish[];
  /** What would start an agent, until somebody says that it may. */
  asked: Wish | undefined;
  place: (wish: Wish) => void;
  undo: (wish: Wish) => void;
  confirm: () => void;
  cancel: () => void;
}

const isSame = (a: Wish) => (b: Wish) => a.item.kind === b.item.kind && a.item.id === b.item.id;

export function usePlacing(board: Board, cards: BoardCards, onChange: (change: BoardChange) => Promise<unknown>): Placing {
  const [held, setHeld] = useState<HeldWish[]>([]);
  const [asked, setAsked] = useState<Wish>();
  const timers = useRef(new Map<Wish, () => void>());
  const shown = useMemo(() => withWishes(board, asked ? [...held, asked] : held), [board, held, asked]);

  const drop = (wish: Wish) => setHeld((all) => all.filter((one) => !isSame(wish)(one)));
  const save = (wish: Wish) => {
    const { item, x, y, zone } = wish;
    setHeld((all) => [...all.filter((one) => !isSame(wish)(one)), { ...wish, canUndo: false }]);
    // The mutation reports the error; restore the saved position.
    void onChange({ place: [{ ...item, x, y, ...(zone && { zone: zone.id }) }] })
      .then(() => wish.isNewZone && toastPlaced(zone), () => undefined)
      .then(() => drop(wish));
  };
  const forget = (wish: Wish) => {
    for (const known of timers.current.keys()) {
      if (isSame(wish)(known)) timers.current.delete(known);
    }
  };
  const hold = (wish: Wish) => {
    setHeld((all) => [...all.filter((one) => !isSame(wish)(one)), { ...wish, canUndo: true }]);
    const due = () => {
      if (timers.current.delete(wish)) save(wish);
    };
    timers.current.set(wish, due);
    setTimeout(due, UNDO_MS);
  };
  // Leaving the page, closing it or reloading it ends the time for undoing: what waits is saved.
  useEffect(() => {
    const waiting = timers.current;
    const saveAll = () => [...waiting.values()].forEach((due) => due());
    window.addEventListener("pagehide", saveAll);
    return () => {
      window.removeEventListener("pagehide", saveAll);
      saveAll();
    };
  }, []);

  return {
    board: shown,
    held,
    asked,
    place: (wish) => {
      forget(wish);
      if (!wish.isNewZone || !wish.zone?.prompt_template) {
        save(wish);
      } else if (startsAgent(wish, wish.zone, cards)) {
        drop(wish);
        setAsked(wish);
      } else {
        hold(wish);
      }
    },
    undo: (wish) => {
      forget(wish);
      drop(wish);
    },
    confirm: () => {
      if (asked) save(asked);
      setAsked(undefined);
    },
    cancel: () => setAsked(undefined),
  };
}
