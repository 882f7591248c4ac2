import { useMutation } from "@tanstack/react-query";
import { GitBranchPlus } from "lucide-react";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { shortId } from "@/api/queries";
import { Button } from "@/ui/button";
import { toast, toastError } from "@/ui/toast";
import { keepTerms, narrowedWords } from "@/util/terms";

/** Begins a session under another, which is told when it is done. */
export function SpawnForm({ id }: { id: string }) {
  const [prompt, setPrompt] = useState("");
  const [isTold, setTold] = useState(false);
  const spawn = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/v1/sessions/{parent}/children", {
          params: { path: { parent: id }, header: mark() },
          body: { prompt: prompt.trim(), callback: isTold },
        }),
      ),
    onSuccess: (made) => {
      setPrompt("");
      const narrowed = made.terms?.narrowed ?? [];
      keepTerms(shortId(made.session), { requested: [], narrowed });
      toast("The child is started", narrowedWords(narrowed).join("; ") || undefined);
    },
    onError: toastError,
  });
  return (
    <form
      className="border-t border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault();
        spawn.mutate();
      }}
    >
      <label>
        <span className="text-sm text-muted">Begin a child, which knows nothing of this conversation</span>
        <textarea
          rows={2}
          className="field resize-none"
          placeholder="What should the child do?"
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
        />
      </label>
      <div className="mt-1 flex items-center justify-between gap-2">
        <label className="flex items-center gap-2 text-sm text-muted">
          <input type="checkbox" checked={isTold} onChange={(event) => setTold(event.target.checked)} />
          Tell this session when it is done
        </label>
        <Button type="submit" disabled={prompt.trim() === "" || spawn.isPending}>
          <GitBranchPlus size={14} aria-hidden="true" /> Spawn
        </Button>
      </div>
    </form>
  );
}
