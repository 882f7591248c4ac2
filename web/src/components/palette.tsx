import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import type { LucideIcon } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useEffect, useState } from "react";

import { boardList, loopList } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import { useFoundSessions } from "@/hooks/use-found-sessions";
import { useSignOut } from "@/hooks/use-sign-out";
import { nextTheme, setTheme, useTheme } from "@/hooks/use-theme";
import { fitting, type Group, type Named } from "@/util/choices";
import { plain } from "@/util/text";

import { PAGES } from "./pages";
import { StateBadge } from "./state-badge";

const ITEM = "flex cursor-pointer items-center justify-between gap-2 rounded-md px-3 py-2 data-[selected=true]:bg-accent-soft";

/** Goes anywhere by a few letters. */
export function Palette({ isOpen, onChange }: { isOpen: boolean; onChange: (isOpen: boolean) => void }) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        onChange(!isOpen);
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [isOpen, onChange]);
  return (
    <Radix.Root open={isOpen} onOpenChange={onChange}>
      <Radix.Portal>
        <div className="fixed inset-0 z-40 bg-black/50" aria-hidden="true" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 rounded-lg border border-line bg-raised shadow-xl"
        >
          <Radix.Title className="sr-only">Command palette</Radix.Title>
          <Choices onDone={() => onChange(false)} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const GROUP = "[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted";

/** One thing to choose. */
interface Choice extends Named {
  icon?: LucideIcon;
  /** The key that follows `g`. */
  shortcut?: string;
  state?: string;
  onSelect: () => void;
}

function Choices({ onDone }: { onDone: () => void }) {
  const [search, setSearch] = useState("");
  const [moved, setMoved] = useState<string>();
  const { groups, isReading } = useChoices(search, onDone);
  const shown = fitting(groups, search);
  const ids = shown.flatMap(({ choices }) => choices.map(({ id }) => id));
  const [first] = ids;
  // Until one was moved to, the best is chosen: also one that is read a moment later.
  const chosen = moved !== undefined && ids.includes(moved) ? moved : first;
  return (
    <Command
      label="Commands"
      className="flex flex-col"
      shouldFilter={false}
      value={chosen ?? ""}
      onValueChange={(id) => setMoved(id === first ? undefined : id)}
    >
      <Command.Input
        autoFocus
        value={search}
        onValueChange={(next) => {
          setSearch(next);
          setMoved(undefined);
        }}
        placeholder="Go to a page, a session, a board or a loop…"
        className="border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-2">
        <Command.Empty className="p-4 text-center text-muted">{isReading ? "Loading…" : "Nothing is called that."}</Command.Empty>
        {shown.map(({ heading, choices }) => (
          <Command.Group key={heading} heading={heading} className={GROUP}>
            {choices.map((choice) => (
              <Item key={choice.id} {...choice} />
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

/** All there is to choose from, as far as it is read. */
function useChoices(search: string, onDone: () => void): { groups: Group<Choice>[]; isReading: boolean } {
  const navigate = useNavigate();
  const sessions = useFoundSessions(search);
  const own = useAllPages(boardList("own"));
  const shared = useAllPages(boardList("shared"));
  const loops = useAllPages(loopList);
  const theme = useTheme();
  const signOut = useSignOut();
  /** Closes the palette first: what is opened may take the focus. */
  const then = (act: () => unknown) => () => {
    onDone();
    void act();
  };
  const pages: Choice[] = PAGES.map(({ to, title, icon, key }) => ({ id: to, title, icon, shortcut: key, onSelect: then(() => navigate({ to })) }));
  const groups = [
    {
      heading: "Pages",
      choices: [
        ...pages,
        { id: "theme", title: `Change the theme (${theme} now)`, onSelect: () => setTheme(nextTheme(theme)) },
        { id: "sign-out", title: "Sign out", onSelect: then(() => signOut.mutate()) },
      ],
    },
    {
      heading: "Sessions",
      choices: sessions.all.map(({ id, title, state }) => ({
        id,
        title,
        state,
        isFound: sessions.found.has(id),
        onSelect: then(() => navigate({ to: "/sessions/$session", params: { session: id } })),
      })),
    },
    {
      heading: "Boards",
      choices: [...(own.data?.rows ?? []), ...(shared.data?.rows ?? [])].map(({ id, short_id, name }) => ({
        id,
        title: name,
        onSelect: then(() => navigate({ to: "/boards/$board", params: { board: short_id } })),
      })),
    },
    {
      heading: "Loops",
      choices: (loops.data?.rows ?? []).map(({ id, title, state, outcome }) => ({
        id,
        title,
        state: outcome ?? state,
        onSelect: then(() => navigate({ to: "/loops/$loop", params: { loop: id } })),
      })),
    },
  ];
  return { groups, isReading: sessions.isReading || [own, shared, loops].some((list) => list.isPending || list.hasNextPage) };
}

function Item({ id, title, icon: Icon, shortcut, state, onSelect }: Choice) {
  return (
    <Command.Item value={id} className={ITEM} onSelect={onSelect}>
      <span className="flex min-w-0 items-center gap-2">
        {Icon && <Icon size={15} aria-hidden="true" className="text-muted" />}
        <span className="truncate">{plain(title)}</span>
      </span>
      {state && <StateBadge state={state} />}
      {shortcut && (
        <kbd aria-hidden="true" className="font-mono text-xs text-muted max-md:hidden">
          g {shortcut}
        </kbd>
      )}
    </Command.Item>
  );
}
