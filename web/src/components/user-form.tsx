import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";
import { toast } from "@/ui/toast";
import { plain } from "@/util/text";

const ROLES = [
  { value: "member", about: "member: what is their own, and what is shared with them" },
  { value: "admin", about: "admin: everything of everyone" },
];

interface Props {
  /** Whom to change; somebody new unless given. */
  user?: Schemas["UserView"];
  onClose: () => void;
}

/** Makes a user, or changes one. How a new one gets in is a second step: a link for a browser, a key for a program. */
export function UserForm({ user, onClose }: Props) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState(user?.email ?? "");
  const [role, setRole] = useState(user?.role ?? "member");
  const save = useMutation({
    mutationFn: () =>
      user
        ? ask(
            api.PATCH("/api/v1/users/{user}", {
              params: { path: { user: user.id }, header: mark() },
              body: { role, email: email.trim() },
            }),
          )
        : ask(
            api.POST("/api/v1/users", {
              params: { header: mark() },
              body: { name: name.trim(), role, ...(email.trim() && { email: email.trim() }) },
            }),
          ),
    onSuccess: (saved) => {
      if (user) {
        toast(`${plain(saved.name)} was changed`);
      } else {
        toast(`${plain(saved.name)} is a user now`, "A sign-in link lets them in.");
      }
      onClose();
    },
  });
  const about = user ? "What they may do changes at once, also where they are signed in." : "Their sessions, boards and keys are their own.";
  return (
    <Dialog title={user ? `Change ${plain(user.name)}` : "New user"} isOpen onClose={onClose} about={about}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {!user && (
          <label>
            <span className="text-sm text-muted">Name: letters, digits and . _ - @ +</span>
            <input autoFocus className="field" value={name} onChange={(event) => setName(event.target.value)} />
          </label>
        )}
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
        {save.isError && <Failure error={save.error} />}
        <Button type="submit" look="primary" disabled={(!user && name.trim() === "") || save.isPending}>
          {user ? "Save" : "Create user"}
        </Button>
      </form>
    </Dialog>
  );
}
