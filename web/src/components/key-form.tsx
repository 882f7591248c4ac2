import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Failure } from "@/ui/loaded";
import { EXPIRES, expiresAt, KEY_KINDS } from "@/util/keys";

import { ShownOnce } from "./shown-once";

/** Creates a key and shows its secret, this once. */
export function KeyForm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState("");
  const [scope, setScope] = useState("full");
  const [session, setSession] = useState("");
  const [expires, setExpires] = useState("");
  const [date, setDate] = useState("");
  const scopes = KEY_KINDS.find((one) => one.value === kind)?.scopes ?? [];
  const isBound = scope === "session_internal";
  const make = useMutation({
    mutationFn: () => {
      const at = expiresAt(expires, date, Date.now());
      const body = {
        name: name.trim(),
        scope,
        ...(kind && { dialect: kind }),
        ...(isBound && { session: session.trim() }),
        ...(at && { expires_at: at }),
      };
      return ask(api.POST("/api/v1/keys", { params: { header: mark() }, body }));
    },
  });
  const isMissing = name.trim() === "" || (isBound && session.trim() === "") || (expires === "date" && date === "");
  const close = () => {
    make.reset();
    setName("");
    setKind("");
    setScope("full");
    setSession("");
    setExpires("");
    setDate("");
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
        <Choice
          label="For"
          choices={KEY_KINDS}
          value={kind}
          onChange={(value) => {
            setKind(value);
            setScope("full");
          }}
        />
        <Choice label="What it may do" choices={scopes} value={scope} onChange={setScope} />
        {isBound && (
          <label>
            <span className="text-sm text-muted">Session (its id or last 8 digits)</span>
            <input className="field" maxLength={45} value={session} onChange={(event) => setSession(event.target.value)} />
          </label>
        )}
        <Choice label="Expires" choices={EXPIRES} value={expires} onChange={setExpires} />
        {expires === "date" && (
          <label>
            <span className="text-sm text-muted">Date (from its beginning, UTC)</span>
            <input type="date" className="field" value={date} onChange={(event) => setDate(event.target.value)} />
          </label>
        )}
        {make.isError && <Failure error={make.error} />}
        <Button type="submit" look="primary" disabled={isMissing || make.isPending}>
          Create key
        </Button>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  label: string;
  choices: { value: string; about: string }[];
  value: string;
  onChange: (value: string) => void;
}

function Choice({ label, choices, value, onChange }: ChoiceProps) {
  return (
    <label>
      <span className="text-sm text-muted">{label}</span>
      <select className="field" value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map((one) => (
          <option key={one.value} value={one.value}>
            {one.about}
          </option>
        ))}
      </select>
    </label>
  );
}
