import { Copy as Icon } from "lucide-react";

import { Button } from "./button";
import { toast, toastError } from "./toast";

/** Copies a text. `about` says which, to who cannot see it. */
export function Copy({ text, about, children }: { text: string; about?: string; children?: string }) {
  const copy = () =>
    navigator.clipboard
      .writeText(text)
      .then(() => toast("It was copied"))
      .catch(() => toastError(new Error("the browser did not allow copying; select it and copy it yourself")));
  return (
    <Button look={children ? "plain" : "quiet"} aria-label={about && `Copy ${about}`} onClick={() => void copy()}>
      <Icon size={14} aria-hidden="true" /> {children}
    </Button>
  );
}
