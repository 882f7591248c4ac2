import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, mark, type Schemas } from "@/api/client";
import { config, keys, whoami } from "@/api/queries";
import { Credentials } from "@/components/credentials";
import { Repositories } from "@/components/repositories";
import { usePageTitle } from "@/hooks/use-page-title";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Loaded } from "@/ui/loaded";
import { toast, toastError } from "@/ui/toast";

type Setting = Schemas["SettingView"];

/** Beyond this a bound is as good as none. */
const SHOWN_MAX = 1e12;

/** The server's settings: what may be changed here, and where the rest is. */
export function SettingsPage() {
  usePageTitle("Settings");
  const settings = useQuery(config);
  const role = useQuery(whoami).data?.user.role;
  const refused = role === "admin" ? undefined : "Only administrators change settings.";
  return (
    <div className="h-full overflow-y-auto">
      <div className="mx-auto flex max-w-4xl flex-col gap-4 p-6">
        <h1 className="text-xl font-semibold">Settings</h1>
        <p className="text-muted">
          These hold for everyone and take effect at once, without a restart.
          {role && refused && ` ${refused}`}
        </p>
        <Loaded query={settings}>
          {(data) => (
            <ul aria-label="Settings" className="flex flex-col rounded-lg border border-line bg-panel">
              {data.settings.map((setting) => (
                <Row key={`${setting.key} ${setting.source} ${setting.value}`} setting={setting} refused={refused} />
              ))}
            </ul>
          )}
        </Loaded>
        <Repositories />
        <Credentials isAdmin={role === "admin"} />
        <section aria-label="Elsewhere" className="text-muted">
          <h2 className="font-semibold text-text">Only in the file</h2>
          <p>
            Where the server listens, which names it answers to, your own agents, the model for summaries, hooks of loops and webhooks are in
            the configuration file on the server’s machine, and change with a restart.{" "}
            <code className="rounded bg-sunken px-1 font-mono">wheelhouse config path</code> says where it is,{" "}
            <code className="rounded bg-sunken px-1 font-mono">wheelhouse config show</code> what holds and why.
          </p>
        </section>
      </div>
    </div>
  );
}

/** One setting. What is shown after saving is what the server says holds now. */
function Row({ setting, refused }: { setting: Setting; refused: string | undefined }) {
  const client = useQueryClient();
  const now = setting.value?.toString() ?? "";
  const [text, setText] = useState(now);
  const save = useMutation({
    mutationFn: (value: number | undefined) =>
      ask(
        api.PUT("/api/v1/config/{key}", {
          params: { path: { key: setting.key }, header: mark() },
          body: value === undefined ? {} : { value },
        }),
      ),
    onSuccess: (applied) => {
      client.setQueryData(config.queryKey, (kept) =>
        kept && { settings: kept.settings.map((one) => (one.key === applied.key ? applied : one)) },
      );
      toast(`${applied.key} is ${applied.value_name ?? applied.value ?? "without limit"}`, applied.source === "set" ? "It holds from now on." : "That is the default.");
    },
    onError: toastError,
    onSettled: () => client.invalidateQueries({ queryKey: keys.config }),
  });
  const names = setting.names ?? [];
  const choices = names.map((name, index) => ({ name, value: (setting.min + index).toString() }));
  const range = names.length > 0 ? names.join(" or ") : setting.max < SHOWN_MAX ? `${setting.min} to ${setting.max}` : `${setting.min} or more`;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line px-3 py-2.5 not-first:border-t">
      <div className="min-w-60 flex-1">
        <p className="flex flex-wrap items-center gap-2">
          <code className="font-mono">{setting.key}</code>
          <Badge tone={setting.source === "set" ? "accent" : "neutral"}>{setting.source === "set" ? "set here" : "default"}</Badge>
        </p>
        <p className="text-sm text-muted">
          {setting.about}; {range}
        </p>
      </div>
      <form
        className="flex items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(Number(text));
        }}
      >
        {choices.length > 0 ? (
          <select
            className="field w-36"
            aria-label={setting.key}
            disabled={refused !== undefined}
            title={refused}
            value={text}
            onChange={(event) => setText(event.target.value)}
          >
            {choices.map((choice) => (
              <option key={choice.value} value={choice.value}>
                {choice.name}
              </option>
            ))}
          </select>
        ) : (
        <input
          className="field w-36"
          type="number"
          aria-label={setting.key}
          placeholder="no limit"
          required
          step={1}
          disabled={refused !== undefined}
          title={refused}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        )}
        <Button type="submit" refused={refused} disabled={save.isPending || text === now || text === ""}>
          Save
        </Button>
        <Button
          refused={refused ?? (setting.source === "set" ? undefined : "It is the default.")}
          disabled={save.isPending}
          aria-label={`${setting.key} back to its default`}
          onClick={() => save.mutate(undefined)}
        >
          Default
        </Button>
      </form>
    </li>
  );
}
