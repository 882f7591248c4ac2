import { Bot, Brain, CircleAlert, CircleQuestionMark, ListChecks, User } from "lucide-react";
import { memo, useDeferredValue, type ReactNode } from "react";

import type { Message } from "@/api/client";
import { Disclosure } from "@/ui/disclosure";

import { AnsiText } from "./ansi-text";
import { SentFiles } from "./attachments";
import { Markdown } from "./markdown";
import { Plan } from "./plan";
import { ToolCall } from "./tool-call";
import { Who } from "./who";

/** One entry of a conversation. */
export const MessageRow = memo(function MessageRow({ message }: { message: Message }) {
  switch (message.kind) {
    case "prompt":
      return (
        <Entry icon={<User size={15} aria-hidden="true" />} who={<Who name={message.sender ?? "You"} session={message.sender_session_id} />}>
          <Said>{message.text}</Said>
          <SentFiles turn={message.turn_id ?? undefined} detail={message.detail} />
        </Entry>
      );
    case "agent":
      return (
        <Entry icon={<Bot size={15} aria-hidden="true" />} who="Agent">
          <Words>{message.text}</Words>
        </Entry>
      );
    case "thought":
      return (
        <Disclosure
          className="ml-7 text-muted"
          summaryClassName="inline-flex cursor-pointer items-center gap-1.5 text-sm"
          summary={
            <>
              <Brain size={14} aria-hidden="true" /> Thought
            </>
          }
        >
          <div className="mt-1 border-l-2 border-line pl-3">
            <Markdown>{message.text}</Markdown>
          </div>
        </Disclosure>
      );
    case "tool_call":
      return (
        <div className="ml-7">
          <ToolCall title={message.text} detail={message.detail} />
        </div>
      );
    case "plan":
      return (
        <Entry icon={<ListChecks size={15} aria-hidden="true" />} who="Plan">
          <Plan text={message.text} detail={message.detail} />
        </Entry>
      );
    case "question":
      return (
        <Entry icon={<CircleQuestionMark size={15} aria-hidden="true" />} who="Agent asks">
          <Words>{message.text}</Words>
        </Entry>
      );
    case "answer":
      return (
        <Entry icon={<User size={15} aria-hidden="true" />} who={<AnswerBy message={message} />}>
          <Said>{message.text}</Said>
        </Entry>
      );
    default:
      return (
        <p className="ml-7 flex items-start gap-1.5 text-sm text-muted">
          <CircleAlert size={14} aria-hidden="true" className="mt-1 shrink-0" />
          <span className="min-w-0 break-words whitespace-pre-wrap">
            <AnsiText>{message.text}</AnsiText>
          </span>
        </p>
      );
  }
});

/** Answers of earlier versions do not say who gave them. */
function AnswerBy({ message }: { message: Message }) {
  return message.sender ? (
    <>
      Answer of <Who name={message.sender} session={message.sender_session_id} />
    </>
  ) : (
    "Answer"
  );
}

/** What somebody told the agent, as it was written. */
function Said({ children }: { children: string }) {
  return (
    <div dir="auto" className="rounded-lg bg-accent-soft px-3 py-2 break-words whitespace-pre-wrap">
      <AnsiText>{children}</AnsiText>
    </div>
  );
}

/**
 * An agent's words: as they were written at first, and laid out as soon as there is time. A screen full of them would otherwise
 * hold up whoever scrolls.
 */
function Words({ children }: { children: string }) {
  const laidOut = useDeferredValue<string | undefined>(children, undefined);
  if (laidOut !== undefined) {
    return <Markdown>{laidOut}</Markdown>;
  }
  return (
    <div className="prose break-words whitespace-pre-wrap" dir="auto">
      <AnsiText>{children}</AnsiText>
    </div>
  );
}

function Entry({ icon, who, children }: { icon: ReactNode; who: ReactNode; children: ReactNode }) {
  return (
    <article className="flex gap-2">
      <span className="mt-0.5 flex size-5 shrink-0 items-center justify-center text-muted">{icon}</span>
      <div className="min-w-0 flex-1">
        <p className="text-xs font-medium text-muted">{who}</p>
        {children}
      </div>
    </article>
  );
}
