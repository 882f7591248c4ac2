import { expect, test } from "vitest";

import { ago, counted, dollars, plain, plainLines, since, unmarked, until } from "./text";

test("what would disguise a name is made visible", () => {
  expect(plain("a\u202etxt.exe")).toBe("a⟨202e⟩txt.exe");
  expect(plain("a\u0000\u001b[31m")).toBe("a⟨0000⟩⟨001b⟩[31m");
  expect(plain("one\r\ntwo\tthree")).toBe("one two three");
  expect(plain("👨‍💻 naïve שלום")).toBe("👨‍💻 naïve שלום");
});

test("what cannot be seen is shown", () => {
  expect(plain("ok\u{e0069}\u2060")).toBe("ok⟨e0069⟩⟨2060⟩");
  expect(plain("a\u200db\u200c")).toBe("a⟨200d⟩b⟨200c⟩");
  expect(plain("x\ufe01\ufe02")).toBe("x\ufe01⟨fe02⟩");
  expect(plain("👩🏽\u200d❤\ufe0f\u200d👨 می\u200cخواهم")).toBe("👩🏽\u200d❤\ufe0f\u200d👨 می\u200cخواهم");
});

test("lines and tabs of a text stay", () => {
  expect(plainLines("a\n\tb\u200b\r\nc")).toBe("a\n\tb⟨200b⟩ \nc");
});

test("markdown is read as words where it is not laid out", () => {
  expect(unmarked("I added **rate limiting** to `src/a_b.rs`, see [the docs](https://example.com/x).")).toBe(
    "I added rate limiting to src/a_b.rs, see the docs.",
  );
  expect(unmarked("## Done\n\n- one\n2. two\n> three")).toBe("Done\n\none\ntwo\nthree");
  expect(unmarked("```rust\nlet x = 2 * 3;\n```")).toBe("let x = 2 * 3;");
  expect(unmarked("a * b * c, 2**3, snake_case_name, #1, -1, [x], **open")).toBe("a * b * c, 2**3, snake_case_name, #1, -1, [x], **open");
});

test("ages have one unit", () => {
  const now = Date.parse("2026-01-02T00:00:00Z");
  expect(ago("2026-01-01T23:59:58Z", now)).toBe("now");
  expect(ago("2026-01-01T23:59:20Z", now)).toBe("40 s");
  expect(ago("2026-01-01T21:30:00Z", now)).toBe("2 h");
  expect(ago("2025-12-23T00:00:00Z", now)).toBe("10 d");
});

test("money and counts", () => {
  expect(dollars(1500)).toBe("$0.002");
  expect(dollars(12_345_678)).toBe("$12.35");
  expect([counted(1, "file"), counted(2, "file")]).toEqual(["1 file", "2 files"]);
});

test("a moment is told as part of a sentence", () => {
  expect(until("2026-01-01T00:59:30Z", Date.parse("2026-01-01T00:00:00Z"))).toBe("in 59 min");
  expect(until("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:02:00Z"))).toBe("now");
  expect(since("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:02:00Z"))).toBe("2 min ago");
  expect(since("2026-01-01T00:00:00Z", Date.parse("2026-01-01T00:00:01Z"))).toBe("just now");
});
