/** A stretch of text in one style. */
export interface Span {
  text: string;
  style: string;
}

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/**
 * Sequences of a terminal: of control (`ESC [ … m`), of an operating system (titles, links), strings, and single ones. Only
 * colours are kept; what moves the cursor, clears the screen, or names a link is dropped.
 */
const SEQUENCE = /(?:\u001b\[|\u009b)([0-9;:?<=>]*)[ -/]*([@-~])|\u001b[\]PX^_](?:[^\u0007\u001b]|\u001b(?!\\))*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b/g;

/** Reads text as a terminal would, as far as colours go. Returns no sequence, whatever is in the text. */
export function ansiSpans(text: string): Span[] {
  const spans: Span[] = [];
  let style = new Style();
  let at = 0;
  const push = (end: number) => {
    const part = text.slice(at, end);
    if (part) spans.push({ text: part, style: style.classes() });
  };
  for (const found of text.matchAll(SEQUENCE)) {
    push(found.index);
    at = found.index + found[0].length;
    if (found[2] === "m") {
      style = style.with((found[1] ?? "").split(/[;:]/).map((code) => Number(code || 0)));
    }
  }
  push(text.length);
  return spans;
}

/** Tells whether text holds something only a terminal would understand. */
export function hasAnsi(text: string): boolean {
  return text.includes("\u001b") || text.includes("\u009b");
}

class Style {
  constructor(
    private readonly colour?: string,
    private readonly marks: ReadonlySet<string> = new Set(),
  ) {}

  classes(): string {
    return [this.colour && `ansi-${this.colour}`, ...[...this.marks].map((mark) => `ansi-${mark}`)]
      .filter(Boolean)
      .join(" ");
  }

  with(codes: number[]): Style {
    let { colour } = this;
    const marks = new Set(this.marks);
    for (let i = 0; i < codes.length; i += 1) {
      const code = codes[i] ?? 0;
      if (code === 0) {
        colour = undefined;
        marks.clear();
      } else if (code === 1) marks.add("bold");
      else if (code === 2) marks.add("dim");
      else if (code === 3) marks.add("italic");
      else if (code === 4) marks.add("underline");
      else if (code === 22) {
        marks.delete("bold");
        marks.delete("dim");
      } else if (code === 23) marks.delete("italic");
      else if (code === 24) marks.delete("underline");
      else if (code === 39) colour = undefined;
      else if (code >= 30 && code <= 37) colour = COLOURS[code - 30];
      else if (code >= 90 && code <= 97) colour = COLOURS[code - 90];
      // Colours by number or by parts take the codes that follow; they are not shown.
      else if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4;
    }
    return new Style(colour, marks);
  }
}
