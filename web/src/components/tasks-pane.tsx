import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { noteList, taskList, type ListOf } from "@/api/queries";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { toastError } from "@/ui/toast";
import { plain, plainLines } from "@/util/text";

type Task = Schemas["TaskView"];

const STATUSES = ["remaining", "in_progress", "blocked", "completed", "cancelled"];

/** The list of work that a tree of sessions or a loop has, and what its agents noted. */
export function TasksPane({ of }: { of: ListOf }) {
  const list = useInfiniteQuery(taskList(of));
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1 overflow-y-auto p-3">
        <Loaded query={list}>
          {({ pages }) => {
            const tasks = pages.flatMap((page) => page.groups.flatMap((group) => group.tasks));
            // Every page counts all tasks; the last one was read last.
            const groups = pages.at(-1)?.groups ?? [];
            const count = (status: string) => groups.find((group) => group.status === status)?.total ?? 0;
            const all = groups.reduce((sum, group) => sum + group.total, 0);
            const total = all - count("cancelled");
            if (tasks.length === 0) {
              return <Empty title="No tasks yet">Agents plan here with their tools; what you add, they find, too.</Empty>;
            }
            return (
              <>
                <Progress done={count("completed")} total={total} />
                <ul aria-label="Tasks" className="flex flex-col gap-2">
                  {tasks.map((task) => (
                    <TaskItem key={task.id} of={of} task={task} />
                  ))}
                </ul>
                <ShowMore list={list} shown={tasks.length} total={all} />
              </>
            );
          }}
        </Loaded>
        <Notes of={of} />
      </div>
      <AddTask of={of} />
    </div>
  );
}

function Progress({ done, total }: { done: number; total: number }) {
  return (
    <label className="mb-3 block text-sm text-muted">
      {done} of {total} done
      <progress className="mt-1 block h-2 w-full accent-accent" max={Math.max(1, total)} value={done} />
    </label>
  );
}

function TaskItem({ of, task }: { of: ListOf; task: Task }) {
  const update = useMutation({
    mutationFn: (status: string) =>
      ask(
        api.PATCH("/api/v1/tasks/{task}", {
          params: { path: { task: String(task.number) }, header: mark() },
          body: { ...of, status },
        }),
      ),
    onError: toastError,
  });
  const isOver = ["completed", "cancelled"].includes(task.status);
  return (
    <li className="flex items-start gap-2 rounded-md border border-line bg-panel px-3 py-2">
      <span className="text-muted">{task.number}</span>
      <span className="min-w-0 flex-1">
        <span className={`break-words whitespace-pre-wrap ${isOver ? "text-muted line-through" : ""}`}>{plainLines(task.content)}</span>
        <span className="flex flex-wrap gap-2 text-xs text-muted">
          {task.priority !== 2 && <span>priority {task.priority}</span>}
          {task.depends_on && task.depends_on.length > 0 && <span>after {task.depends_on.map(plain).join(", ")}</span>}
          {task.claimed_by && <Badge tone="info">{plain(task.claimed_by.slice(-8))} has it</Badge>}
        </span>
      </span>
      <select
        aria-label={`Status of task ${task.number}`}
        className="field w-auto py-0.5"
        value={task.status}
        disabled={update.isPending}
        onChange={(event) => update.mutate(event.target.value)}
      >
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {status.replace("_", " ")}
          </option>
        ))}
      </select>
    </li>
  );
}

function AddTask({ of }: { of: ListOf }) {
  const [content, setContent] = useState("");
  const add = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/v1/tasks", { params: { header: mark() }, body: { ...of, tasks: [{ content: content.trim() }] } })),
    onSuccess: () => setContent(""),
    onError: toastError,
  });
  return (
    <form
      className="flex items-end gap-2 border-t border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <label className="min-w-0 flex-1">
        <span className="text-sm text-muted">New task</span>
        <input className="field" value={content} onChange={(event) => setContent(event.target.value)} />
      </label>
      <Button type="submit" disabled={content.trim() === "" || add.isPending}>
        <Plus size={14} aria-hidden="true" /> Add
      </Button>
    </form>
  );
}

function Notes({ of }: { of: ListOf }) {
  const list = useInfiniteQuery(noteList(of));
  const notes = list.data?.pages.flatMap((page) => page.notes) ?? [];
  if (notes.length === 0) {
    return null;
  }
  return (
    <section aria-label="Notes" className="mt-4">
      <h2 className="mb-1 text-sm font-semibold text-muted">Notes</h2>
      <ul className="flex flex-col gap-1">
        {notes.map((note) => (
          <li key={note.id} className="text-sm break-words whitespace-pre-wrap">
            <Badge>{plain(note.kind)}</Badge> {plainLines(note.content)}
          </li>
        ))}
      </ul>
      <ShowMore list={list} shown={notes.length} total={list.data?.pages.at(-1)?.total} />
    </section>
  );
}
