import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";

import { AppRoot } from "@/app";
import { NotFound } from "@/pages/not-found";
import { readAuditSearch } from "@/util/audit";
import { readView } from "@/util/board";
import { readPane } from "@/util/panes";
import { readCostSearch } from "@/util/usage";

const root = createRootRoute({ component: AppRoot, notFoundComponent: NotFound });

/** The pages. The server knows the same addresses (`PAGES` in `wh-http/src/dashboard.rs`), and no others. */
const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: lazyRouteComponent(() => import("@/pages/sessions"), "SessionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/inbox",
    component: lazyRouteComponent(() => import("@/pages/inbox"), "InboxPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/new",
    component: lazyRouteComponent(() => import("@/pages/new"), "NewPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/keys",
    component: lazyRouteComponent(() => import("@/pages/keys"), "KeysPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/loops",
    component: lazyRouteComponent(() => import("@/pages/loops"), "LoopsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/loops/$loop",
    component: lazyRouteComponent(() => import("@/pages/loop"), "LoopPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/search",
    validateSearch: (search: Record<string, unknown>) => (typeof search.q === "string" ? { q: search.q } : {}),
    component: lazyRouteComponent(() => import("@/pages/search"), "SearchPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/agents",
    component: lazyRouteComponent(() => import("@/pages/agents"), "AgentsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/cost",
    validateSearch: readCostSearch,
    component: lazyRouteComponent(() => import("@/pages/cost"), "CostPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/users",
    component: lazyRouteComponent(() => import("@/pages/users"), "UsersPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: lazyRouteComponent(() => import("@/pages/settings"), "SettingsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    validateSearch: readAuditSearch,
    component: lazyRouteComponent(() => import("@/pages/audit"), "AuditPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/boards",
    component: lazyRouteComponent(() => import("@/pages/boards"), "BoardsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/boards/$board",
    validateSearch: (search: Record<string, unknown>) => {
      const view = readView(search.view);
      return view ? { view } : {};
    },
    component: lazyRouteComponent(() => import("@/pages/board"), "BoardPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/sessions/$session",
    validateSearch: (search: Record<string, unknown>) => {
      const pane = readPane(search.pane);
      const at = Number(search.at);
      return { ...(pane && { pane }), ...(Number.isSafeInteger(at) && at > 0 && { at }) };
    },
    component: lazyRouteComponent(() => import("@/pages/session"), "SessionPage"),
  }),
]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent" });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
