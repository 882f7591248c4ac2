import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog as Radix } from "radix-ui";
import { useEffect } from "react";

import { boardList, loopList, sessionList } from "@/api/queries";
import { useSignOut } from "@/hooks/use-sign-out";
import { nextTheme, setTheme, useTheme } from "@/hooks/use-theme";
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

function Choices({ onDone }: { onDone: () => void }) {
  const navigate = useNavigate();
  const sessions = useQuery(sessionList).data?.sessions ?? [];
  const boards = useQuery(boardList).data;
  const loops = useQuery(loopList).data?.loops ?? [];
  const theme = useTheme();
  const signOut = useSignOut();
  /** Closes the palette first: what is opened may take the focus. */
  const then = (act: () => unknown) => () => {
    onDone();
    void act();
  };
  return (
    <Command label="Commands" className="flex flex-col">
      <Command.Input
        autoFocus
        placeholder="Go to a page, a session, a board or a loop…"
        className="border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-2">
        <Command.Empty className="p-4 text-center text-muted">Nothing is called that.</Command.Empty>
        <Command.Group heading="Pages" className={GROUP}>
          {PAGES.map(({ to, title, icon: Icon, key }) => (
            <Command.Item key={to} className={ITEM} onSelect={then(() => navigate({ to }))}>
              <span className="flex items-center gap-2">
                <Icon size={15} aria-hidden="true" className="text-muted" /> {title}
              </span>
              <kbd aria-hidden="true" className="font-mono text-xs text-muted max-md:hidden">
                g {key}
              </kbd>
            </Command.Item>
          ))}
          <Command.Item className={ITEM} onSelect={() => setTheme(nextTheme(theme))}>
            Change the theme ({theme} now)
          </Command.Item>
          <Command.Item className={ITEM} onSelect={then(() => signOut.mutate())}>
            Sign out
          </Command.Item>
        </Command.Group>
        <Command.Group heading="Sessions" className={GROUP}>
          {sessions.map(({ id, title, state }) => (
            <Choice key={id} value={`${title} ${id}`} title={title} state={state} onSelect={then(() => navigate({ to: "/sessions/$session", params: { session: id } }))} />
          ))}
        </Command.Group>
        <Command.Group heading="Boards" className={GROUP}>
          {[...(boards?.own ?? []), ...(boards?.shared ?? [])].map(({ id, short_id, name }) => (
            <Choice key={id} value={`board ${name} ${id}`} title={name} onSelect={then(() => navigate({ to: "/boards/$board", params: { board: short_id } }))} />
          ))}
        </Command.Group>
        <Command.Group heading="Loops" className={GROUP}>
          {loops.map(({ id, title, state, outcome }) => (
            <Choice key={id} value={`loop ${title} ${id}`} title={title} state={outcome ?? state} onSelect={then(() => navigate({ to: "/loops/$loop", params: { loop: id } }))} />
          ))}
        </Command.Group>
      </Command.List>
    </Command>
  );
}

/** Something that was given a name. */
function Choice({ value, title, state, onSelect }: { value: string; title: string; state?: string; onSelect: () => void }) {
  return (
    <Command.Item value={value} className={ITEM} onSelect={onSelect}>
      <span className="min-w-0 truncate">{plain(title)}</span>
      {state && <StateBadge state={state} />}
    </Command.Item>
  );
}
