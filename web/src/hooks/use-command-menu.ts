import { useId, useState, type KeyboardEvent } from "react";

import { optionId } from "@/components/command-menu";
import { commandsFor, type AgentCommand } from "@/util/command-menu";

/** Offers an agent's commands while a prompt is a slash and letters, and lets keys choose one. */
export function useCommandMenu(text: string, commands: readonly AgentCommand[], onText: (text: string) => void) {
  const id = useId();
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string>();
  const offered = closedFor === text ? [] : commandsFor(text, commands);
  const isOpen = offered.length > 0;
  const chosen = Math.min(at, offered.length - 1);
  const choose = (command: AgentCommand) => {
    setAt(0);
    onText(`/${command.name} `);
  };
  const move = (by: number) => setAt((chosen + by + offered.length) % offered.length);

  /** Tells whether the menu has taken a key. */
  const onKey = (event: KeyboardEvent): boolean => {
    const command = offered[chosen];
    if (!command || event.nativeEvent.isComposing) {
      return false;
    }
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: () => choose(command),
      Tab: () => choose(command),
      Escape: () => setClosedFor(text),
    };
    const act = keys[event.key];
    if (!act || event.shiftKey) {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    act();
    return true;
  };
  const field = isOpen && ({ "aria-autocomplete": "list", "aria-controls": id, "aria-activedescendant": optionId(id, chosen) } as const);
  return { id, offered, isOpen, chosen, choose, onKey, field };
}
