import { useMutation } from "@tanstack/react-query";
import { Paperclip, X } from "lucide-react";
import { useRef } from "react";

import { api, ask } from "@/api/client";
import { Button } from "@/ui/button";
import { toastError } from "@/ui/toast";
import { save, sentFiles, type Attached } from "@/util/files";

import { Name } from "./name";

/** Chooses files to go with a prompt. */
export function AttachButton({ refused, onChosen }: { refused: string | undefined; onChosen: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to send along"
        onChange={(event) => {
          onChosen([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <Button refused={refused} onClick={() => input.current?.click()}>
        <Paperclip size={14} aria-hidden="true" /> Attach
      </Button>
    </>
  );
}

/** What will go with a prompt. */
export function Attachments({ files, onRemove }: { files: Attached[]; onRemove: (index: number) => void }) {
  if (files.length === 0) {
    return null;
  }
  return (
    <ul aria-label="Files that go along" className="mt-2 flex flex-wrap gap-2">
      {files.map((file, index) => (
        <li key={index} className="flex items-center gap-1.5 rounded-md border border-line bg-sunken px-2 py-1 text-sm">
          <About name={file.name} bytes={file.bytes} />
          <button
            type="button"
            aria-label={`Leave out ${file.name}`}
            className="rounded p-0.5 hover:bg-line"
            onClick={() => onRemove(index)}
          >
            <X size={13} aria-hidden="true" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** What went with a prompt; a click keeps a copy. */
export function SentFiles({ turn, detail }: { turn: string | undefined; detail: unknown }) {
  const files = sentFiles(detail);
  const keep = useMutation({
    mutationFn: (number: number) =>
      ask(api.GET("/api/v1/turns/{turn}/file", { params: { path: { turn: turn ?? "" }, query: { number } } })),
    onSuccess: (file) => save(file.name, file.data),
    onError: toastError,
  });
  if (files.length === 0 || !turn) {
    return null;
  }
  return (
    <ul aria-label="Files sent along" className="mt-1.5 flex flex-wrap gap-2">
      {files.map((file, index) => (
        <li key={index}>
          <button
            type="button"
            className="flex items-center gap-1.5 rounded-md border border-line bg-panel px-2 py-1 text-sm hover:bg-sunken"
            title="Save a copy"
            onClick={() => keep.mutate(index + 1)}
          >
            <About name={file.name} bytes={file.bytes} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function About({ name, bytes }: { name: string; bytes: number }) {
  return (
    <>
      <Paperclip size={13} aria-hidden="true" />
      <Name>{name}</Name>
      <span className="text-muted">{size(bytes)}</span>
    </>
  );
}

function size(bytes: number): string {
  const kilobytes = bytes / 1024;
  return kilobytes < 1 ? `${bytes} B` : kilobytes < 1024 ? `${Math.round(kilobytes)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`;
}
