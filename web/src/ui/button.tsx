import type { ButtonHTMLAttributes } from "react";

const LOOKS = {
  primary: "bg-accent text-on-accent border-transparent hover:opacity-90",
  plain: "bg-panel text-text border-line hover:bg-sunken",
  danger: "bg-danger text-on-danger border-transparent hover:opacity-90",
  quiet: "bg-transparent text-muted border-transparent hover:bg-sunken hover:text-text",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof LOOKS;
  /** Why it cannot be pressed now; the button is then disabled and says so. */
  refused?: string | undefined;
}

export function Button({ look = "plain", refused, className = "", disabled, title, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || refused !== undefined}
      title={refused ?? title}
      className={`inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50 ${LOOKS[look]} ${className}`}
    />
  );
}
