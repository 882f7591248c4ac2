import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { boardList } from "@/api/queries";
import { DeleteBoard } from "@/components/board/delete-board";
import { NameForm } from "@/components/board/name-form";
import { Name } from "@/components/name";
import { useNow } from "@/hooks/use-now";
import { usePageTitle } from "@/hooks/use-page-title";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { counted, since } from "@/util/text";

type Summary = Schemas["BoardSummaryView"];

/** Every board, one's own and those that others share. */
export function BoardsPage() {
  usePageTitle("Boards");
  const own = useInfiniteQuery(boardList("own"));
  const shared = useInfiniteQuery(boardList("shared"));
  const navigate = useNavigate();
  const [isMaking, setMaking] = useState(false);
  const make = async (name: string) => {
    const made = await ask(api.POST("/api/v1/boards", { params: { header: mark() }, body: { name } }));
    await navigate({ to: "/boards/$board", params: { board: made.short_id } });
  };
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-6">
      <div className="flex items-center justify-between gap-3">
        <h1 className="text-xl font-semibold">Boards</h1>
        <Button look="primary" onClick={() => setMaking(true)}>
          <Plus size={14} aria-hidden="true" /> New board
        </Button>
      </div>
      <Loaded query={own}>
        {({ rows, total }) => (
          <>
            {rows.length === 0 && (
              <Empty title="No boards yet">
                Make one, put worktrees and sessions on it, and draw zones: what is dropped into a zone gets the zone’s prompt.
              </Empty>
            )}
            <BoardItems label="Your boards" boards={rows} isOwn />
            <ShowMore list={own} shown={rows.length} total={total} />
          </>
        )}
      </Loaded>
      <Loaded query={shared}>
        {({ rows, total }) => (
          <>
            {rows.length > 0 && <h2 className="font-semibold">Shared with you</h2>}
            <BoardItems label="Boards shared with you" boards={rows} />
            <ShowMore list={shared} shown={rows.length} total={total} />
          </>
        )}
      </Loaded>
      <NameForm
        title="New board"
        about="What is it for? It can be renamed later."
        action="Make board"
        isOpen={isMaking}
        onClose={() => setMaking(false)}
        onSave={make}
      />
    </div>
  );
}

function BoardItems({ label, boards, isOwn = false }: { label: string; boards: Summary[]; isOwn?: boolean }) {
  const now = useNow();
  if (boards.length === 0) {
    return null;
  }
  return (
    <ul aria-label={label} className="grid gap-3 sm:grid-cols-2">
      {boards.map((board) => (
        <li key={board.id} className="relative">
          <Link
            to="/boards/$board"
            params={{ board: board.short_id }}
            className="block rounded-lg border border-line bg-panel p-4 hover:border-accent"
          >
            <Name className="font-medium break-words">{board.name}</Name>
            <span className="mt-1 block text-sm text-muted">
              {counted(board.zones, "zone")} · {counted(board.items, "item")} · changed {since(board.updated_at, now)}
            </span>
          </Link>
          {isOwn && (
            <span className="absolute top-2 right-2">
              <DeleteBoard id={board.id} name={board.name} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
