import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";

import { search, shortId } from "@/api/queries";
import { Name } from "@/components/name";
import { usePageTitle } from "@/hooks/use-page-title";
import { useSessionTitle } from "@/hooks/use-session-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { plain } from "@/util/text";

/** Finds words in every conversation. */
export function SearchPage() {
  usePageTitle("Search");
  const { q = "" } = useSearch({ from: "/search" });
  const navigate = useNavigate();
  const [words, setWords] = useState(q);
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-4 p-6">
        <h1 className="text-xl font-semibold">Search</h1>
        <form
          role="search"
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            void navigate({ to: "/search", search: words.trim() ? { q: words.trim() } : {} });
          }}
        >
          <label className="min-w-0 flex-1">
            <span className="text-sm text-muted">Messages that hold all of these words</span>
            <input autoFocus type="search" className="field" value={words} onChange={(event) => setWords(event.target.value)} />
          </label>
          <Button type="submit" look="primary">
            Search
          </Button>
        </form>
        {q && <Hits words={q} />}
      </div>
    </div>
  );
}

function Hits({ words }: { words: string }) {
  const list = useInfiniteQuery(search(words));
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const hits = pages.flatMap((page) => page.hits);
        if (hits.length === 0) {
          return <Empty title="Nothing was found">Every word must stand in the same message.</Empty>;
        }
        return (
          <>
            <ul aria-label="Found messages" className="flex flex-col gap-2">
              {hits.map((hit) => (
                <li key={hit.message}>
                  <Link
                    to="/sessions/$session"
                    params={{ session: shortId(hit.session) }}
                    search={{ at: hit.seq }}
                    className="block rounded-lg border border-line bg-panel p-3 hover:border-accent"
                  >
                    <span className="flex items-center gap-2">
                      <SessionTitle id={shortId(hit.session)} />
                      <Badge>{hit.kind}</Badge>
                    </span>
                    <span className="mt-1 block text-sm break-words text-muted">{plain(hit.snippet)}</span>
                  </Link>
                </li>
              ))}
            </ul>
            <ShowMore list={list} shown={hits.length} total={pages.at(-1)?.total} />
          </>
        );
      }}
    </Loaded>
  );
}

function SessionTitle({ id }: { id: string }) {
  return <Name className="min-w-0 truncate font-medium">{useSessionTitle(id)}</Name>;
}
