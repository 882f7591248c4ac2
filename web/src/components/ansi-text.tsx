import { ansiSpans, hasAnsi } from "@/util/ansi";
import { plainLines } from "@/util/text";

/** What a program printed: its colours are kept, everything else it asked of a terminal is not. */
export function AnsiText({ children }: { children: string }) {
  if (!hasAnsi(children)) {
    return <>{plainLines(children)}</>;
  }
  return (
    <>
      {ansiSpans(children).map((span, index) => (
        <span key={index} className={span.style || undefined}>
          {plainLines(span.text)}
        </span>
      ))}
    </>
  );
}
