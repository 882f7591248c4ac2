import { Inbox, KeyRound, LayoutGrid, SquarePen, type LucideIcon } from "lucide-react";

interface PageLink {
  to: "/" | "/inbox" | "/new" | "/keys";
  title: string;
  icon: LucideIcon;
  /** The key that follows `g`. */
  key: string;
}

/** The pages that are linked from everywhere, in the order of the menu. */
export const PAGES: PageLink[] = [
  { to: "/", title: "Sessions", icon: LayoutGrid, key: "s" },
  { to: "/inbox", title: "Inbox", icon: Inbox, key: "i" },
  { to: "/new", title: "New session", icon: SquarePen, key: "n" },
  { to: "/keys", title: "Keys", icon: KeyRound, key: "k" },
];
