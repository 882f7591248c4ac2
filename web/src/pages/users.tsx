import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";

import { api, ask, mark } from "@/api/client";
import { keys, userList, whoami } from "@/api/queries";
import { DeleteConfirm } from "@/components/delete-confirm";
import { ShownOnce } from "@/components/shown-once";
import { UserForm } from "@/components/user-form";
import { type User, UserTable } from "@/components/user-table";
import { usePageTitle } from "@/hooks/use-page-title";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Loaded } from "@/ui/loaded";
import { ShowMore } from "@/ui/show-more";
import { toast, toastError } from "@/ui/toast";
import { plain } from "@/util/text";

const NOT_YOURS = "Only administrators make and change users, and sign them in.";

/** What is open over the list. */
type Open = { kind: "new" } | { kind: "change" | "disable" | "delete"; user: User };

/** Who may use this server, and how each of them gets in. */
export function UsersPage() {
  usePageTitle("Users");
  const client = useQueryClient();
  const list = useInfiniteQuery(userList);
  const own = useQuery(whoami).data?.user;
  const refused = own?.role === "admin" ? undefined : NOT_YOURS;
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const link = useMutation({
    mutationFn: (user: User) => ask(api.POST("/api/v1/login-links", { params: { header: mark() }, body: { user: user.id } })),
    onError: toastError,
  });
  const turn = useMutation({
    mutationFn: ({ user, disabled }: { user: User; disabled: boolean }) =>
      ask(api.PATCH("/api/v1/users/{user}", { params: { path: { user: user.id }, header: mark() }, body: { disabled } })),
    onSuccess: (user) => toast(`${plain(user.name)} is ${user.disabled_at ? "disabled" : "enabled"}`),
    onError: toastError,
    onSettled: close,
  });
  const remove = (user: User, force: boolean) =>
    ask(
      api.DELETE("/api/v1/users/{user}", {
        params: { path: { user: user.id }, query: force ? { force } : {}, header: mark() },
      }),
    );
  const disabling = open?.kind === "disable" ? open.user : undefined;
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-6">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Users</h1>
          <Button look="primary" refused={refused} onClick={() => setOpen({ kind: "new" })}>
            <Plus size={14} aria-hidden="true" /> New user
          </Button>
        </div>
        {own && refused && (
          <p role="note" className="rounded-md border border-line bg-panel p-3 text-muted">
            You are a member: you see yourself here. {NOT_YOURS} Ask one of them for what you miss.
          </p>
        )}
        <Loaded query={list}>
          {({ rows, total }) => (
            <>
              <UserTable
                users={rows}
                own={own?.id}
                refused={refused}
                onSignIn={(user) => link.mutate(user)}
                onChange={(user) => setOpen({ kind: "change", user })}
                onDisable={(user) => setOpen({ kind: "disable", user })}
                onEnable={(user) => turn.mutate({ user, disabled: false })}
                onDelete={(user) => setOpen({ kind: "delete", user })}
              />
              <ShowMore list={list} shown={rows.length} total={total} />
            </>
          )}
        </Loaded>
      </div>
      {open?.kind === "new" && <UserForm onClose={close} />}
      {open?.kind === "change" && <UserForm user={open.user} onClose={close} />}
      <Confirm
        title={`Disable ${plain(disabling?.name ?? "the user")}?`}
        about="Their keys and browsers are not let in any more, and what they have running is stopped. Nothing is deleted, and you can enable them again."
        action="Disable"
        isOpen={disabling !== undefined}
        isBusy={turn.isPending}
        onClose={close}
        onConfirm={() => disabling && turn.mutate({ user: disabling, disabled: true })}
      />
      {open?.kind === "delete" && (
        <DeleteConfirm
          what="user"
          name={open.user.name}
          about="They can never sign in again, and nobody else can have the name."
          forced="Their sessions and loops are stopped, and everything they own becomes yours: nothing in a worktree is deleted. Their keys are revoked; shares, webhooks and their own credentials are deleted."
          remove={(force) => remove(open.user, force)}
          onDeleted={() => client.invalidateQueries({ queryKey: keys.users })}
          onClose={close}
        />
      )}
      <Dialog
        title={`A link for ${plain(link.variables?.name ?? "")}`}
        about="It signs one browser in, once, within 15 minutes. It is shown this once."
        isOpen={link.data !== undefined}
        onClose={() => link.reset()}
      >
        <ShownOnce label="Sign-in link" secret={link.data?.url ?? ""} onClose={() => link.reset()} />
      </Dialog>
    </div>
  );
}
