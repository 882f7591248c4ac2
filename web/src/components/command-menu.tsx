import type { AgentCommand } from "@/util/command-menu";
import { plain } from "@/util/text";

interface Props {
  id: string;
  commands: AgentCommand[];
  /** The one that a key would choose. */
  chosen: number;
  onChoose: (command: AgentCommand) => void;
}

/** The id of an entry, for the field that it belongs to. */
export const optionId = (menu: string, index: number): string => `${menu}-${index}`;

/** The commands of an agent that a prompt may begin with. */
export function CommandMenu({ id, commands, chosen, onChoose }: Props) {
  return (
    <ul id={id} role="listbox" aria-label="Commands of the agent" className="mb-1 max-h-60 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-lg">
      {commands.map((command, index) => (
        <li
          key={command.name}
          id={optionId(id, index)}
          role="option"
          aria-selected={index === chosen}
          className={`cursor-pointer rounded px-3 py-1.5 ${index === chosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
          // Before the field loses the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(command);
          }}
        >
          <span className="font-mono">/{plain(command.name)}</span> <span className="text-sm text-muted">{plain(command.about)}</span>
        </li>
      ))}
    </ul>
  );
}
