import { useMutation, useQuery } from "@tanstack/react-query";
import { Link2, Plus } from "lucide-react";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { userList, whoami } from "@/api/queries";
import { Name } from "@/components/name";
import { ShownOnce } from "@/components/shown-once";
import { UserForm } from "@/components/user-form";
import { useNow } from "@/hooks/use-now";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Loaded } from "@/ui/loaded";
import { toastError } from "@/ui/toast";
import { ago, plain } from "@/util/text";

type User = Schemas["UserView"];

const NOT_YOURS = "Only administrators make users and sign them in.";

/** Who may use this server, and how each of them gets in. */
export function UsersPage() {
  usePageTitle("Users");
  const list = useQuery(userList);
  const own = useQuery(whoami).data?.user;
  const refused = own?.role === "admin" ? undefined : NOT_YOURS;
  const [isMaking, setMaking] = useState(false);
  const link = useMutation({
    mutationFn: (user: User) => ask(api.POST("/api/v1/login-links", { params: { header: mark() }, body: { user: user.id } })),
    onError: toastError,
  });
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-6">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Users</h1>
          <Button look="primary" refused={refused} onClick={() => setMaking(true)}>
            <Plus size={14} aria-hidden="true" /> New user
          </Button>
        </div>
        {own && refused && (
          <p role="note" className="rounded-md border border-line bg-panel p-3 text-muted">
            You are a member: you see yourself here. {NOT_YOURS} Ask one of them for what you miss.
          </p>
        )}
        <Loaded query={list}>
          {(data) => <UserTable users={data.users} own={own?.id} refused={refused} onSignIn={(user) => link.mutate(user)} />}
        </Loaded>
      </div>
      <UserForm isOpen={isMaking} onClose={() => setMaking(false)} />
      <Dialog
        title={`A link for ${plain(link.variables?.name ?? "")}`}
        about={`It signs one browser in, once, within 15 minutes. It is shown this once.`}
        isOpen={link.data !== undefined}
        onClose={() => link.reset()}
      >
        <ShownOnce label="Sign-in link" secret={link.data?.url ?? ""} onClose={() => link.reset()} />
      </Dialog>
    </div>
  );
}

interface TableProps {
  users: User[];
  own: string | undefined;
  refused: string | undefined;
  onSignIn: (user: User) => void;
}

function UserTable({ users, own, refused, onSignIn }: TableProps) {
  const now = useNow();
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-panel">
      <table className="w-full text-left">
        <thead className="text-sm text-muted">
          <tr>
            {["Name", "Role", "Email", "Known for"].map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-medium">
                {title}
              </th>
            ))}
            <th scope="col">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.id} className="border-t border-line">
              <th scope="row" className="px-3 py-2 font-medium break-all">
                <Name>{user.name}</Name> {user.id === own && <Badge>you</Badge>}
              </th>
              <td className="px-3 py-2">
                <Badge tone={user.role === "admin" ? "accent" : "neutral"}>{user.role}</Badge>
              </td>
              <td className="px-3 py-2 break-all text-muted">{plain(user.email ?? "")}</td>
              <td className="px-3 py-2 text-sm text-muted">{ago(user.created_at, now)}</td>
              <td className="px-3 py-2 text-right">
                <Button refused={refused} aria-label={`Make a sign-in link for ${plain(user.name)}`} onClick={() => onSignIn(user)}>
                  <Link2 size={14} aria-hidden="true" /> Sign-in link
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
