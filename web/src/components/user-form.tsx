import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { plain } from "@/util/text";

const ROLES = [
  { value: "member", about: "member: what is their own, and what is shared with them" },
  { value: "admin", about: "admin: everything of everyone" },
];

/** Makes a user. How they get in is a second step: a link for a browser, a key for a program. */
export function UserForm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("member");
  const close = () => {
    make.reset();
    setName("");
    setEmail("");
    setRole("member");
    onClose();
  };
  const make = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/api/v1/users", {
          params: { header: mark() },
          body: { name: name.trim(), role, ...(email.trim() && { email: email.trim() }) },
        }),
      ),
    onSuccess: (made) => {
      toast(`${plain(made.name)} is a user now`, "A sign-in link lets them in.");
      close();
    },
  });
  return (
    <Dialog title="New user" isOpen={isOpen} onClose={close} about="Their sessions, boards and keys are their own.">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate();
        }}
      >
        <label>
          <span className="text-sm text-muted">Name: letters, digits and . _ - @ +</span>
          <input autoFocus className="field" value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <label>
          <span className="text-sm text-muted">Email, if you like</span>
          <input className="field" type="email" value={email} onChange={(event) => setEmail(event.target.value)} />
        </label>
        <label>
          <span className="text-sm text-muted">Role</span>
          <select className="field" value={role} onChange={(event) => setRole(event.target.value)}>
            {ROLES.map((one) => (
              <option key={one.value} value={one.value}>
                {one.about}
              </option>
            ))}
          </select>
        </label>
        {make.isError && <Failure error={make.error} />}
        <Button type="submit" look="primary" disabled={name.trim() === "" || make.isPending}>
          Create user
        </Button>
      </form>
    </Dialog>
  );
}
