import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const NAME = "wheelhouse-theme";
const isDark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? "system";
  } catch {
    return "system";
  }
}

let theme = stored();

/** Puts the theme on the document. Called once before anything is drawn. */
export function applyTheme(): void {
  const shown = theme === "system" ? (isDark.matches ? "dark" : "light") : theme;
  document.documentElement.dataset.theme = shown;
}

isDark.addEventListener("change", applyTheme);

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // Then it holds until the page is closed.
  }
  applyTheme();
  listeners.forEach((listener) => listener());
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => theme,
  );
}

/** The theme that follows when one presses the button again and again. */
export function nextTheme(current: Theme): Theme {
  return THEMES[(THEMES.indexOf(current) + 1) % THEMES.length] ?? "system";
}
