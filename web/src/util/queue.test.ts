import { expect, test } from "vitest";

import { inRunOrder } from "./queue";

test("prompts are in the order in which they run", () => {
  const turn = (number: number, state = "queued", urgent = false) => ({ number, state, urgent });
  const turns = [turn(6, "queued", true), turn(5), turn(4, "queued", true), turn(3), turn(2, "running"), turn(1, "completed")];
  expect(inRunOrder(turns).map(({ number }) => number)).toEqual([4, 6, 3, 5]);
});
