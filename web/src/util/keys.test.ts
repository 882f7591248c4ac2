import { expect, test } from "vitest";

import { expiresAt } from "./keys";

test("a key expires after some days, on a date, or never", () => {
  const now = Date.parse("2026-11-19T12:00:00Z");
  expect(expiresAt("", "", now)).toBeUndefined();
  expect(expiresAt("7", "", now)).toBe("2026-11-26T12:00:00.000Z");
  expect(expiresAt("date", "2027-01-31", now)).toBe("2027-01-31T00:00:00Z");
  expect(expiresAt("date", "", now)).toBeUndefined();
});
