import { useMutation } from "@tanstack/react-query";
import { CornerDownLeft, Square } from "lucide-react";
import { useId, useState } from "react";

import { api, ask, mark, type Session } from "@/api/client";
import { useAttached } from "@/hooks/use-attached";
import { useCommandMenu } from "@/hooks/use-command-menu";
import { asText, useStored } from "@/hooks/use-stored";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { withFiles, type Attached } from "@/util/files";
import { isBusy, sessionCan } from "@/util/session";

import { AttachButton, Attachments } from "./attachments";
import { CommandMenu } from "./command-menu";
import { Queue } from "./queue";

/** Sends a prompt to a session. */
export function usePrompt(session: string) {
  return useMutation({
    mutationFn: ({ prompt, whenBusy, files }: { prompt: string; whenBusy?: "queue" | "steer"; files?: Attached[] }) =>
      ask(
        api.POST("/api/v1/sessions/{session}/prompts", {
          params: { path: { session }, header: mark() },
          body: {
            prompt,
            when_busy: whenBusy ?? "queue",
            ...withFiles(files),
          },
        }),
      ),
    onError: toastError,
  });
}

/** Where a prompt is written: it waits for its turn, or ends the running one first. */
export function PromptBox({ id, session }: { id: string; session: Session }) {
  const [text, setText] = useStored(`prompt-${id}`, "", asText);
  const [whenBusy, setWhenBusy] = useState<"queue" | "steer">("queue");
  const { files, add, remove, clear } = useAttached();
  const send = usePrompt(id);
  const interrupt = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/v1/sessions/{session}/interrupt", { params: { path: { session: id }, header: mark() }, body: {} })),
    onError: toastError,
  });
  const field = useId();
  const menu = useCommandMenu(text, session.commands ?? [], setText);
  const refused = sessionCan.prompt(session);
  const busy = isBusy(session.state);
  const submit = () => {
    if (text.trim() === "" || refused || send.isPending) return;
    const sent = () => {
      setText("");
      clear();
    };
    send.mutate({ prompt: text, whenBusy, files }, { onSuccess: sent });
  };
  return (
    <form
      className="border-t border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes("Files")) event.preventDefault();
      }}
      onDrop={(event) => {
        if (refused || event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        add([...event.dataTransfer.files]);
      }}
    >
      <Queue session={id} refused={sessionCan.interrupt({ state: "running", shared: session.shared ?? null })} />
      <label htmlFor={field} className="sr-only">
        Prompt
      </label>
      {menu.isOpen && <CommandMenu id={menu.id} commands={menu.offered} chosen={menu.chosen} onChoose={menu.choose} />}
      <textarea
        id={field}
        {...menu.field}
        data-prompt=""
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        className="field resize-none"
        placeholder={refused ?? `What should the agent do next? Enter sends, Shift+Enter makes a new line.${session.commands?.length ? " / shows its commands." : ""}`}
        disabled={refused !== undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          add([...event.clipboardData.files]);
        }}
        onKeyDown={(event) => {
          if (menu.onKey(event)) return;
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            submit();
          }
        }}
      />
      <Attachments files={files} onRemove={remove} />
      <div className="mt-2 flex flex-wrap items-center justify-end gap-2">
        {busy && !session.shared && (
          <label className="mr-auto flex items-center gap-2 text-sm text-muted">
            While running
            <select
              className="field w-auto py-1"
              value={whenBusy}
              onChange={(event) => setWhenBusy(event.target.value === "steer" ? "steer" : "queue")}
            >
              <option value="queue">Queue</option>
              <option value="steer">Interrupt and send now</option>
            </select>
          </label>
        )}
        {busy && (
          <Button
            refused={sessionCan.interrupt(session)}
            disabled={interrupt.isPending}
            onClick={() => interrupt.mutate()}
          >
            <Square size={13} aria-hidden="true" /> Interrupt
          </Button>
        )}
        <AttachButton refused={refused} onChosen={add} />
        <Button type="submit" look="primary" refused={refused} disabled={text.trim() === "" || send.isPending}>
          <CornerDownLeft size={14} aria-hidden="true" /> Send
        </Button>
      </div>
    </form>
  );
}
