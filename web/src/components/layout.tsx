import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Command, Ellipsis, Keyboard, LogOut, Moon, Sun, SunMoon } from "lucide-react";
import { useState, type ReactNode } from "react";

import { whoami } from "@/api/queries";
import { useWaiting } from "@/hooks/use-inbox";
import { useShortcuts, type Shortcut } from "@/hooks/use-shortcuts";
import { useSignOut } from "@/hooks/use-sign-out";
import { nextTheme, setTheme, useTheme } from "@/hooks/use-theme";
import icon from "@/icon.svg";
import { useFeedStatus } from "@/live/live";
import { Dialog } from "@/ui/dialog";

import { useNotifications } from "./notify";
import { PAGES } from "./pages";
import { Palette } from "./palette";

/** What is around every page: the menu, the state of the connection, and what is reached by keys. */
export function Layout() {
  const navigate = useNavigate();
  const [isPaletteOpen, setPalette] = useState(false);
  const [isHelpOpen, setHelp] = useState(false);
  const shortcuts: Shortcut[] = [
    ...PAGES.map(
      (page): Shortcut => ({ keys: ["g", page.key], about: page.title, run: () => void navigate({ to: page.to }) }),
    ),
    { keys: ["."], about: "Write a prompt", run: () => document.querySelector<HTMLElement>("[data-prompt]")?.focus() },
    { keys: ["?"], about: "Show the shortcuts", run: () => setHelp(true) },
  ];
  useShortcuts(shortcuts);
  useNotifications();
  return (
    <div className="flex h-full max-md:flex-col-reverse">
      <Menu onPalette={() => setPalette(true)} onHelp={() => setHelp(true)} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <OfflineBanner />
        <main className="min-h-0 flex-1 overflow-auto">
          <Outlet />
        </main>
      </div>
      <Palette isOpen={isPaletteOpen} onChange={setPalette} />
      <Dialog title="Keyboard shortcuts" isOpen={isHelpOpen} onClose={() => setHelp(false)}>
        <Shortcuts shortcuts={shortcuts} />
      </Dialog>
    </div>
  );
}

function Shortcuts({ shortcuts }: { shortcuts: Shortcut[] }) {
  const rows: [string[], string][] = [
    [["Ctrl", "K"], "Go anywhere"],
    ...shortcuts.map((shortcut): [string[], string] => [shortcut.keys, shortcut.about]),
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      {rows.map(([pressed, about]) => (
        <div key={about} className="contents">
          <dt>
            {pressed.map((key) => (
              <kbd key={key} className="mr-1 rounded border border-line bg-sunken px-1.5 font-mono text-xs">
                {key}
              </kbd>
            ))}
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Says that what is shown may be out of date. It goes by itself when everything was caught up with. */
function OfflineBanner() {
  if (useFeedStatus() !== "offline") {
    return null;
  }
  return (
    <p role="status" className="bg-warn-soft px-4 py-1.5 text-center text-warn">
      The server cannot be reached. Agents go on working, and this page refreshes when it is back. What you send until then does not arrive.
    </p>
  );
}

const ENTRY =
  "relative flex items-center gap-2 rounded-md px-3 py-2 text-muted hover:bg-sunken hover:text-text max-md:min-w-0 max-md:flex-1 max-md:flex-col max-md:gap-0.5 max-md:px-1 max-md:py-1 max-md:text-center max-md:whitespace-nowrap";

/** How many pages a phone has room for; the others are behind *More*. */
const ON_PHONE = 5;

function Menu({ onPalette, onHelp }: { onPalette: () => void; onHelp: () => void }) {
  const waiting = useWaiting();
  return (
    <nav
      aria-label="Main"
      className="flex w-52 shrink-0 flex-col gap-1 border-r border-line bg-panel p-3 max-md:w-full max-md:flex-row max-md:gap-0 max-md:border-t max-md:border-r-0 max-md:p-1"
    >
      <p className="mb-3 flex items-center gap-2 px-2 font-semibold max-md:hidden">
        <img src={icon} alt="" className="size-6" /> Wheelhouse
      </p>
      {PAGES.map(({ to, title, icon: Icon }, index) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === "/" }}
          activeProps={{ className: "bg-accent-soft text-accent", "aria-current": "page" }}
          className={`${ENTRY} ${index < ON_PHONE ? "" : "max-md:hidden"}`}
        >
          <Icon size={16} aria-hidden="true" />
          <span className="max-md:text-[11px]">{title}</span>
          {to === "/inbox" && waiting > 0 && (
            <span className="ml-auto rounded-full bg-warn-soft px-1.5 text-xs font-semibold text-warn max-md:absolute max-md:top-0 max-md:right-1/4">
              {waiting}
              <span className="sr-only"> waiting</span>
            </span>
          )}
        </Link>
      ))}
      <button type="button" onClick={onPalette} className={`${ENTRY} md:hidden`}>
        <Ellipsis size={16} aria-hidden="true" />
        <span className="text-[11px]">More</span>
      </button>
      <div className="mt-auto flex flex-col gap-1 max-md:hidden">
        <MenuButton label="Commands" hint="Ctrl K" onClick={onPalette}>
          <Command size={16} aria-hidden="true" />
        </MenuButton>
        <MenuButton label="Shortcuts" hint="?" onClick={onHelp}>
          <Keyboard size={16} aria-hidden="true" />
        </MenuButton>
        <ThemeButton />
        <Account />
      </div>
    </nav>
  );
}

function MenuButton({ label, hint, onClick, children }: { label: string; hint?: string; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" onClick={onClick} className={`${ENTRY} w-full text-left`}>
      {children}
      <span>{label}</span>
      {hint && (
        <kbd aria-hidden="true" className="ml-auto font-mono text-xs">
          {hint}
        </kbd>
      )}
    </button>
  );
}

const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon };

function ThemeButton() {
  const theme = useTheme();
  const Icon = THEME_ICONS[theme];
  return (
    <MenuButton label={`Theme: ${theme}`} onClick={() => setTheme(nextTheme(theme))}>
      <Icon size={16} aria-hidden="true" />
    </MenuButton>
  );
}

function Account() {
  const user = useQuery(whoami).data?.user;
  const logout = useSignOut();
  return (
    <MenuButton label={`Sign out ${user?.name ?? ""}`} onClick={() => logout.mutate()}>
      <LogOut size={16} aria-hidden="true" />
    </MenuButton>
  );
}
