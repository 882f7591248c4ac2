import { Ellipsis, Link2 } from "lucide-react";

import type { Schemas } from "@/api/client";
import { Name } from "@/components/name";
import { useNow } from "@/hooks/use-now";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Menu, MenuItem } from "@/ui/menu";
import { Table } from "@/ui/table";
import { ago, plain } from "@/util/text";

export type User = Schemas["UserView"];

interface Props {
  users: User[];
  /** The id of who looks. */
  own: string | undefined;
  /** Why who looks may change nothing here. */
  refused: string | undefined;
  onSignIn: (user: User) => void;
  onChange: (user: User) => void;
  onDisable: (user: User) => void;
  onEnable: (user: User) => void;
  onDelete: (user: User) => void;
}

/** Users, and what an administrator can do about each. */
export function UserTable({ users, ...of }: Props) {
  return (
    <Table columns={["Name", "Role", "Email", "Known for"]} hasActions>
      {users.map((user) => (
        <UserRow key={user.id} user={user} {...of} />
      ))}
    </Table>
  );
}

function UserRow({ user, own, refused, onSignIn, onChange, onDisable, onEnable, onDelete }: Omit<Props, "users"> & { user: User }) {
  const now = useNow();
  const name = plain(user.name);
  const isDisabled = user.disabled_at != null;
  return (
    <tr className="border-t border-line">
      <th scope="row" className="px-3 py-2 font-medium break-all">
        <Name>{user.name}</Name> {user.id === own && <Badge>you</Badge>}
      </th>
      <td className="px-3 py-2">
        <span className="flex flex-wrap gap-1">
          <Badge tone={user.role === "admin" ? "accent" : "neutral"}>{user.role}</Badge>
          {isDisabled && <Badge tone="danger">disabled</Badge>}
        </span>
      </td>
      <td className="px-3 py-2 break-all text-muted">{plain(user.email ?? "")}</td>
      <td className="px-3 py-2 text-sm text-muted">{ago(user.created_at, now)}</td>
      <td className="px-3 py-2">
        <div className="flex justify-end gap-2">
          <Button
            refused={refused ?? (isDisabled ? `${name} is disabled: enable them first.` : undefined)}
            aria-label={`Make a sign-in link for ${name}`}
            onClick={() => onSignIn(user)}
          >
            <Link2 size={14} aria-hidden="true" /> Sign-in link
          </Button>
          <Menu
            trigger={
              <Button refused={refused} aria-label={`More about ${name}`}>
                <Ellipsis size={14} aria-hidden="true" />
              </Button>
            }
          >
            <MenuItem onSelect={() => onChange(user)}>Change role or email</MenuItem>
            {isDisabled ? (
              <MenuItem onSelect={() => onEnable(user)}>Enable</MenuItem>
            ) : (
              <MenuItem isDangerous onSelect={() => onDisable(user)}>
                Disable
              </MenuItem>
            )}
            {user.id !== own && (
              <MenuItem isDangerous onSelect={() => onDelete(user)}>
                Delete
              </MenuItem>
            )}
          </Menu>
        </div>
      </td>
    </tr>
  );
}
