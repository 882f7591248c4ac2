import { useState } from "react";

import { loopList } from "@/api/queries";
import { LoopForm } from "@/components/loop-form";
import { PastLoops } from "@/components/loop-past";
import { LoopsUnderWay } from "@/components/loops";
import { useAllPages } from "@/hooks/use-all-pages";
import { usePageTitle } from "@/hooks/use-page-title";
import { Button } from "@/ui/button";
import { Empty } from "@/ui/empty";
import { Loaded } from "@/ui/loaded";

/** Work that goes on by iterations until it is done: what is under way, what is over, and a form for more. */
export function LoopsPage() {
  usePageTitle("Loops");
  const loops = useAllPages(loopList);
  const [isStarting, setStarting] = useState(false);
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-3xl flex-col gap-4 p-6">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Loops</h1>
          <Button aria-expanded={isStarting} onClick={() => setStarting(!isStarting)}>
            {isStarting ? "Not now" : "New loop"}
          </Button>
        </div>
        {isStarting && <LoopForm />}
        <Loaded query={loops}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty title="No loop yet">
                A loop lets a fresh agent for each iteration work through one list of tasks on one branch, until the work is done.
              </Empty>
            ) : (
              <>
                <LoopsUnderWay />
                <PastLoops loops={rows.filter((loop) => loop.state === "ended")} />
              </>
            )
          }
        </Loaded>
      </div>
    </div>
  );
}
