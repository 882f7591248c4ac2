import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

import { ansiSpans, hasAnsi } from "@/util/ansi";
import { plain, plainLines } from "@/util/text";

/** Addresses that a link may have. Everything else is shown as text. */
function webAddress(href: string | undefined): URL | undefined {
  try {
    const url = new URL(href ?? "");
    return ["http:", "https:"].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The words of an agent are not trusted. Markup in them is text (no plugin reads HTML), a link shows where it leads, and an
 * image is a link: showing it would tell its server that somebody reads this.
 */
const COMPONENTS: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => (
    <Link href={typeof src === "string" ? src : undefined}>{`[image: ${plain(alt ?? "") || "no description"}]`}</Link>
  ),
  // A box that nobody can tick.
  input: ({ checked }) => <span aria-hidden="true">{checked ? "☑" : "☐"}</span>,
};

function Link({ href, children }: { href: string | undefined; children?: React.ReactNode }) {
  const url = webAddress(href);
  if (!url) {
    return <span>{children}</span>;
  }
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
      {children} <span className="text-xs text-muted">({url.host})</span>
    </a>
  );
}

const PLUGINS = [remarkGfm];

/** Shows an agent's words. Parsing is the dear part, so unchanged words are not parsed again. */
export const Markdown = memo(function Markdown({ children }: { children: string }) {
  const spans = hasAnsi(children) ? ansiSpans(children).map((span) => span.text) : [children];
  const text = plainLines(spans.join(""));
  return (
    <div className="prose" dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
