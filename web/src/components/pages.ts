import { Bot, CircleDollarSign, Inbox, KeyRound, LayoutGrid, PanelsTopLeft, Repeat, ScrollText, Search, Settings, SquarePen, Users, type LucideIcon } from "lucide-react";

interface PageLink {
  to: "/" | "/boards" | "/inbox" | "/new" | "/loops" | "/search" | "/agents" | "/cost" | "/keys" | "/users" | "/audit" | "/settings";
  title: string;
  icon: LucideIcon;
  /** The key that follows `g`. */
  key: string;
}

/** The pages that are linked from everywhere, in the order of the menu. */
export const PAGES: PageLink[] = [
  { to: "/", title: "Sessions", icon: LayoutGrid, key: "s" },
  { to: "/boards", title: "Boards", icon: PanelsTopLeft, key: "b" },
  { to: "/inbox", title: "Inbox", icon: Inbox, key: "i" },
  { to: "/new", title: "New session", icon: SquarePen, key: "n" },
  { to: "/loops", title: "Loops", icon: Repeat, key: "r" },
  { to: "/search", title: "Search", icon: Search, key: "f" },
  { to: "/agents", title: "Agents", icon: Bot, key: "a" },
  { to: "/cost", title: "Cost", icon: CircleDollarSign, key: "c" },
  { to: "/keys", title: "Keys", icon: KeyRound, key: "k" },
  { to: "/users", title: "Users", icon: Users, key: "u" },
  { to: "/audit", title: "Audit", icon: ScrollText, key: "l" },
  { to: "/settings", title: "Settings", icon: Settings, key: "o" },
];
