import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { api, ask, mark, type Board } from "@/api/client";
import { userList } from "@/api/queries";
import { useAllPages } from "@/hooks/use-all-pages";
import { keepBoard } from "@/hooks/use-board-change";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";

import { Name } from "../name";

const EVERYONE = "everyone";

const LEVELS = [
  { level: "read", words: "may look and read" },
  { level: "prompt", words: "may also prompt" },
] as const;

interface Share {
  with: string;
  /** `none` takes it back. */
  level: string;
}

interface Props {
  id: string;
  board: Board;
  isOpen: boolean;
  onClose: () => void;
}

/** Whom a board is shared with, and with it the sessions on it. */
export function ShareForm({ id, board, isOpen, onClose }: Props) {
  const client = useQueryClient();
  const share = useMutation({
    mutationFn: (body: Share) =>
      ask(api.PUT("/api/v1/boards/{board}/shares", { params: { path: { board: id }, header: mark() }, body })),
    onSuccess: (changed) => keepBoard(client, id, changed),
  });
  const close = () => {
    share.reset();
    onClose();
  };
  return (
    <Dialog
      title="Share the board"
      about="With it you share the sessions on it and in the worktrees on it: what was said in them and, if you like, the right to prompt them. Files and settings stay yours."
      isOpen={isOpen}
      onClose={close}
      wide
    >
      <div className="flex flex-col gap-3">
        <Shares shares={board.shares ?? []} isBusy={share.isPending} onShare={share.mutate} />
        <NewShare isBusy={share.isPending} onShare={share.mutateAsync} />
        {share.isError && <Failure error={share.error} />}
      </div>
    </Dialog>
  );
}

function Shares({ shares, isBusy, onShare }: { shares: Share[]; isBusy: boolean; onShare: (share: Share) => void }) {
  if (shares.length === 0) {
    return <p className="text-sm text-muted">Nobody else sees it yet, but for administrators.</p>;
  }
  return (
    <ul aria-label="Shared with" className="flex flex-col gap-2">
      {shares.map((share) => (
        <li key={share.with} className="flex items-center gap-2">
          <Name className="min-w-0 flex-1 truncate">{share.with}</Name>
          <LevelChoice
            label={`What ${share.with} may do`}
            level={share.level}
            isBusy={isBusy}
            onChoose={(level) => onShare({ with: share.with, level })}
          />
          <Button look="quiet" disabled={isBusy} aria-label={`Stop sharing with ${share.with}`} onClick={() => onShare({ with: share.with, level: "none" })}>
            Stop
          </Button>
        </li>
      ))}
    </ul>
  );
}

function NewShare({ isBusy, onShare }: { isBusy: boolean; onShare: (share: Share) => Promise<unknown> }) {
  const [name, setName] = useState("");
  const [level, setLevel] = useState<string>("read");
  const users = useAllPages(userList).data?.rows ?? [];
  const known = useId();
  return (
    <form
      className="flex flex-wrap items-end gap-2 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        // What was refused is said, and stays in the form.
        onShare({ with: name.trim(), level }).then(
          () => setName(""),
          () => undefined,
        );
      }}
    >
      <label className="min-w-40 flex-1">
        <span className="text-sm text-muted">Name of a user, or everyone</span>
        <input className="field" list={known} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <datalist id={known}>
        {[EVERYONE, ...users.map((user) => user.name)].map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
      <LevelChoice label="What they may do" level={level} isBusy={isBusy} onChoose={setLevel} />
      <Button type="submit" look="primary" disabled={isBusy || name.trim() === ""}>
        Share
      </Button>
    </form>
  );
}

interface LevelProps {
  label: string;
  level: string;
  isBusy: boolean;
  onChoose: (level: string) => void;
}

function LevelChoice({ label, level, isBusy, onChoose }: LevelProps) {
  return (
    <select aria-label={label} className="field w-auto" value={level} disabled={isBusy} onChange={(event) => onChoose(event.target.value)}>
      {LEVELS.map((choice) => (
        <option key={choice.level} value={choice.level}>
          {choice.words}
        </option>
      ))}
    </select>
  );
}
