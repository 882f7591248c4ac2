import { plain } from "@/util/text";

/** Something that was named by an agent, a branch or a file: shown as it is, isolated from the text around it. */
export function Name({ children, className }: { children: string; className?: string }) {
  return (
    <bdi dir="auto" className={className}>
      {plain(children)}
    </bdi>
  );
}
