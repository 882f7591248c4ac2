import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";

interface Props {
  title: string;
  about?: string;
  /** What the button says. */
  action: string;
  name?: string;
  isOpen: boolean;
  onClose: () => void;
  onSave: (name: string) => Promise<unknown>;
}

/** Asks what something is called. */
export function NameForm({ title, about, action, name: initial = "", isOpen, onClose, onSave }: Props) {
  const [name, setName] = useState(initial);
  const save = useMutation({
    mutationFn: () => onSave(name.trim()),
    onSuccess: () => close(),
  });
  const close = () => {
    save.reset();
    setName(initial);
    onClose();
  };
  return (
    <Dialog title={title} about={about} isOpen={isOpen} onClose={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <label>
          <span className="text-sm text-muted">Name</span>
          <input autoFocus className="field" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        {save.isError && <Failure error={save.error} />}
        <Button type="submit" look="primary" disabled={name.trim() === "" || save.isPending}>
          {action}
        </Button>
      </form>
    </Dialog>
  );
}
