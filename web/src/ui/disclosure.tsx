import { useState, type ReactNode } from "react";

interface Props {
  summary: ReactNode;
  summaryClassName: string;
  className: string;
  children: ReactNode;
}

/** A line that opens. What is inside is drawn when it is opened for the first time: most are not, and there may be much of it. */
export function Disclosure({ summary, summaryClassName, className, children }: Props) {
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <details className={className} onToggle={(event) => event.currentTarget.open && setWasOpened(true)}>
      <summary className={summaryClassName}>{summary}</summary>
      {wasOpened && children}
    </details>
  );
}
