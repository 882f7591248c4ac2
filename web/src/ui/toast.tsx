import { X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { useSyncExternalStore } from "react";

import { ApiError } from "@/api/client";

interface Note {
  id: number;
  kind: "good" | "bad";
  title: string;
  about?: string | undefined;
}

/** The most notes that are shown; older ones make room. */
const NOTES_MAX = 4;

let notes: Note[] = [];
let counter = 0;
const listeners = new Set<() => void>();

function change(next: Note[]): void {
  notes = next.slice(-NOTES_MAX);
  listeners.forEach((listener) => listener());
}

/** Says briefly that something was done. */
export function toast(title: string, about?: string): void {
  change([...notes, { id: ++counter, kind: "good", title, about }]);
}

/** Says why something was not done, in the server's words. */
export function toastError(error: unknown): void {
  const title = error instanceof Error ? error.message : "something went wrong";
  const about = error instanceof ApiError ? error.hint : undefined;
  change([...notes, { id: ++counter, kind: "bad", title, about }]);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notes,
  );
  return (
    <Radix.Provider duration={6000} swipeDirection="right">
      {shown.map((note) => (
        <Radix.Root
          key={note.id}
          type={note.kind === "bad" ? "foreground" : "background"}
          duration={note.kind === "bad" ? 12_000 : 5_000}
          onOpenChange={(open) => !open && change(notes.filter((other) => other.id !== note.id))}
          className={`flex items-start justify-between gap-3 rounded-md border bg-raised p-3 shadow-lg ${note.kind === "bad" ? "border-danger" : "border-line"}`}
        >
          <div className="min-w-0">
            <Radix.Title className={`break-words font-medium ${note.kind === "bad" ? "text-danger" : ""}`}>
              {note.title}
            </Radix.Title>
            {note.about && <Radix.Description className="break-words text-muted">{note.about}</Radix.Description>}
          </div>
          <Radix.Close aria-label="Dismiss" className="rounded p-0.5 text-muted hover:bg-sunken">
            <X size={14} aria-hidden="true" />
          </Radix.Close>
        </Radix.Root>
      ))}
      <Radix.Viewport className="fixed right-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2 max-md:bottom-16" />
    </Radix.Provider>
  );
}
