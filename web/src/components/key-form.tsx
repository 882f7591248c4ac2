import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";

import { ShownOnce } from "./shown-once";

const SCOPES = [
  { value: "full", about: "full: everything you may do" },
  { value: "read", about: "read: look, and change nothing" },
  { value: "client", about: "client: only what it makes itself" },
];

/** Makes a key and shows its secret, this once. */
export function KeyForm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("full");
  const make = useMutation({
    mutationFn: () =>
      ask(api.POST("/api/v1/keys", { params: { header: mark() }, body: { name: name.trim(), scope } })),
  });
  const close = () => {
    make.reset();
    setName("");
    onClose();
  };
  const secret = make.data?.key;
  if (secret) {
    return (
      <Dialog title="Your new key" isOpen={isOpen} onClose={close} about="It is shown this once. Store it where its program finds it.">
        <ShownOnce label="Secret key" secret={secret} onClose={close} />
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" isOpen={isOpen} onClose={close} about="A program sends it as Authorization: Bearer KEY.">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <label>
          <span className="text-sm text-muted">Name</span>
          <input autoFocus className="field" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          <span className="text-sm text-muted">What it may do</span>
          <select className="field" value={scope} onChange={(event) => setScope(event.target.value)}>
            {SCOPES.map((one) => (
              <option key={one.value} value={one.value}>
                {one.about}
              </option>
            ))}
          </select>
        </label>
        {make.isError && <Failure error={make.error} />}
        <Button type="submit" look="primary" disabled={name.trim() === "" || make.isPending}>
          Create key
        </Button>
      </form>
    </Dialog>
  );
}
