import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";

import { AppRoot } from "@/app";
import { NotFound } from "@/pages/not-found";
import { PendingPage } from "@/pages/pending";
import { readAuditSearch } from "@/util/audit";
import { readView } from "@/util/board";
import { patient, preload } from "@/util/lazy-page";
import { readPane } from "@/util/panes";
import { readCostSearch } from "@/util/usage";

const loads: (() => Promise<unknown>)[] = [];

/** A page whose code is read when it is first opened, or when there is time for it. */
function page<T extends Record<string, unknown>, K extends keyof T & string>(load: () => Promise<T>, name: K) {
  loads.push(load);
  return lazyRouteComponent<T, K>(patient(load), name);
}

/** Reads the code of every page, when the browser has nothing better to do. */
export const preloadPages = (): void => preload(loads);

const root = createRootRoute({ component: AppRoot, notFoundComponent: NotFound });

/** The pages. The server knows the same addresses (`PAGES` in `wh-http/src/dashboard.rs`), and no others. */
const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: page(() => import("@/pages/sessions"), "SessionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/inbox",
    component: page(() => import("@/pages/inbox"), "InboxPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/new",
    component: page(() => import("@/pages/new"), "NewPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/keys",
    component: page(() => import("@/pages/keys"), "KeysPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/loops",
    component: page(() => import("@/pages/loops"), "LoopsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/loops/$loop",
    component: page(() => import("@/pages/loop"), "LoopPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/search",
    validateSearch: (search: Record<string, unknown>) => (typeof search.q === "string" ? { q: search.q } : {}),
    component: page(() => import("@/pages/search"), "SearchPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/agents",
    component: page(() => import("@/pages/agents"), "AgentsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/cost",
    validateSearch: readCostSearch,
    component: page(() => import("@/pages/cost"), "CostPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/users",
    component: page(() => import("@/pages/users"), "UsersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: page(() => import("@/pages/settings"), "SettingsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: readAuditSearch,
    component: page(() => import("@/pages/audit"), "AuditPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/boards",
    component: page(() => import("@/pages/boards"), "BoardsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/boards/$board",
    validateSearch: (search: Record<string, unknown>) => {
      const view = readView(search.view);
      return view ? { view } : {};
    },
    component: page(() => import("@/pages/board"), "BoardPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sessions/$session",
    validateSearch: (search: Record<string, unknown>) => {
      const pane = readPane(search.pane);
      const at = Number(search.at);
      return { ...(pane && { pane }), ...(Number.isSafeInteger(at) && at > 0 && { at }) };
    },
    component: page(() => import("@/pages/session"), "SessionPage"),
  }),
]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", defaultPendingComponent: PendingPage });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
