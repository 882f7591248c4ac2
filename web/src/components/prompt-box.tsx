import { useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { CornerDownLeft, Square } from "lucide-react";
import { useId, useState } from "react";

import { api, ask, mark, type Session } from "@/api/client";
import { turn, turnList } from "@/api/queries";
import { useAttached } from "@/hooks/use-attached";
import { asText, useStored } from "@/hooks/use-stored";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { withFiles, type Attached } from "@/util/files";
import { isBusy, sessionCan } from "@/util/session";
import { counted, plain, shortened } from "@/util/text";

import { AttachButton, Attachments } from "./attachments";

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
      <Queue session={id} />
      <label htmlFor={field} className="sr-only">
        Prompt
      </label>
      <textarea
        id={field}
        data-prompt=""
        rows={Math.min(8, Math.max(2, text.split("\n").length))}
        className="field resize-none"
        placeholder={refused ?? "What should the agent do next? Enter sends, Shift+Enter makes a new line."}
        disabled={refused !== undefined}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          add([...event.clipboardData.files]);
        }}
        onKeyDown={(event) => {
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
            While it is at work
            <select
              className="field w-auto py-1"
              value={whenBusy}
              onChange={(event) => setWhenBusy(event.target.value === "steer" ? "steer" : "queue")}
            >
              <option value="queue">queue the prompt</option>
              <option value="steer">steer: end the turn first</option>
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

/** The most prompts of the queue that are shown in words. */
const SHOWN_MAX = 3;

/** Prompts that wait for their turn. */
function Queue({ session }: { session: string }) {
  const turns = useQuery(turnList(session));
  const queued = turns.data?.turns.filter((one) => one.state === "queued") ?? [];
  const details = useQueries({ queries: queued.slice(-SHOWN_MAX).map((one) => turn(session, one.id)) });
  if (queued.length === 0) {
    return null;
  }
  return (
    <div role="status" className="mb-2 rounded-md bg-sunken px-3 py-1.5 text-sm text-muted">
      <p>{counted(queued.length, "prompt waits", "prompts wait")}</p>
      {details.map(({ data }, index) => data && <p key={index}>“{plain(shortened(data.prompt, 120))}”</p>)}
    </div>
  );
}
