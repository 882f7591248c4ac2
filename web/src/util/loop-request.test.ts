import { expect, test } from "vitest";

import { fieldsOf } from "./budget";
import { EMPTY_LOOP, loopRequest, resumeRequest } from "./loop-request";

test("what was left empty is not asked for", () => {
  expect(loopRequest({ ...EMPTY_LOOP, spec: "Port it." }, "echo", "app")).toEqual({
    spec: "Port it.",
    agent: "echo",
    repo: "app",
    tasks: [],
    iterations_max: 20,
  });
});

test("lines are tasks, each after the one before, and amounts are in the server's units", () => {
  const draft = { ...EMPTY_LOOP, spec: "s", tasks: "one\n\n two \nthree\n", inOrder: true, dollars: "1.5", minutes: "2", allowAll: true };
  expect(loopRequest(draft, "echo", "app")).toMatchObject({
    tasks: [{ content: "one" }, { content: "two", depends_on: ["+1"] }, { content: "three", depends_on: ["+2"] }],
    budget: { cost_micros: 1_500_000, wall_seconds: 120 },
    policy: { default: "allow" },
  });
});

test("a loop is resumed with the limits that differ", () => {
  const loop = { budget: { tokens: 40, turns: 3 }, iterations_max: 20 };
  const fields = fieldsOf(loop.budget);
  expect(resumeRequest(loop, fields, "20")).toEqual({});
  expect(resumeRequest(loop, { ...fields, tokens: "", dollars: "2.50" }, "30")).toEqual({
    budget: { tokens: null, cost_micros: 2_500_000 },
    iterations_max: 30,
  });
});
