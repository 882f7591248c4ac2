import { Circle, CircleCheck, CircleDot } from "lucide-react";

import { AnsiText } from "./ansi-text";

interface Step {
  text: string;
  status: string;
}

/** The steps of a plan as the server stores it, checked: everything in it was chosen by an agent. */
function stepsOf(detail: unknown): Step[] {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return (Array.isArray(detail) ? detail : []).map((step: { text?: unknown; status?: unknown } | null) => ({
    text: text(step?.text),
    status: text(step?.status),
  }));
}

/** What an agent means to do, and how far it is. Without steps it is shown as it was written. */
export function Plan({ text, detail }: { text: string; detail: unknown }) {
  const steps = stepsOf(detail);
  if (steps.length === 0) {
    return (
      <p className="whitespace-pre-wrap">
        <AnsiText>{text}</AnsiText>
      </p>
    );
  }
  return (
    <ol aria-label="Plan" className="flex flex-col gap-0.5">
      {steps.map((step, index) => (
        <li key={index} className="flex items-start gap-2">
          <Mark status={step.status} />
          <span className={`min-w-0 break-words whitespace-pre-wrap ${step.status === "completed" ? "text-muted line-through" : ""}`}>
            <AnsiText>{step.text}</AnsiText>
          </span>
        </li>
      ))}
    </ol>
  );
}

function Mark({ status }: { status: string }) {
  const [Icon, words, look] =
    status === "completed"
      ? ([CircleCheck, "Done: ", "text-good"] as const)
      : status === "in_progress"
        ? ([CircleDot, "At work: ", "text-info"] as const)
        : ([Circle, "To do: ", "text-muted"] as const);
  return (
    <>
      <Icon size={14} aria-hidden="true" className={`mt-1 shrink-0 ${look}`} />
      <span className="sr-only">{words}</span>
    </>
  );
}
