import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog as Radix } from "radix-ui";
import { useEffect } from "react";

import { sessionList } from "@/api/queries";
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

function Choices({ onDone }: { onDone: () => void }) {
  const navigate = useNavigate();
  const sessions = useQuery(sessionList).data?.sessions ?? [];
  const theme = useTheme();
  const group = "[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted";
  return (
    <Command label="Commands" className="flex flex-col">
      <Command.Input
        autoFocus
        placeholder="Go to a page or a session…"
        className="border-b border-line bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-2">
        <Command.Empty className="p-4 text-center text-muted">Nothing is called that.</Command.Empty>
        <Command.Group heading="Pages" className={group}>
          {PAGES.map((page) => (
            <Command.Item
              key={page.to}
              className={ITEM}
              onSelect={() => {
                onDone();
                void navigate({ to: page.to });
              }}
            >
              {page.title}
            </Command.Item>
          ))}
          <Command.Item className={ITEM} onSelect={() => setTheme(nextTheme(theme))}>
            Change the theme ({theme} now)
          </Command.Item>
        </Command.Group>
        <Command.Group heading="Sessions" className={group}>
          {sessions.map((session) => (
            <Command.Item
              key={session.id}
              value={`${session.title} ${session.id}`}
              className={ITEM}
              onSelect={() => {
                onDone();
                void navigate({ to: "/sessions/$session", params: { session: session.id } });
              }}
            >
              <span className="min-w-0 truncate">{plain(session.title)}</span>
              <StateBadge state={session.state} />
            </Command.Item>
          ))}
        </Command.Group>
      </Command.List>
    </Command>
  );
}
