import "./styles.css";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { ApiError } from "@/api/client";
import { applyTheme } from "@/hooks/use-theme";

import { preloadPages, router } from "./routes";

applyTheme();

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The feed says when something is out of date; nothing is by age alone.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // A refusal stays one. Only a server that is away is asked again.
      retry: (failures, error) => failures < 3 && error instanceof ApiError && [0, 502, 503].includes(error.status),
      retryDelay: 500,
    },
    mutations: {
      // What cannot be sent now fails now: it is not kept back and sent later without a word.
      networkMode: "always",
    },
  },
});

const element = document.getElementById("root");
if (element) {
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

// Also those that nobody has opened yet work while the server is away.
window.addEventListener("load", () => preloadPages());
