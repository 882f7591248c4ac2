//! `wheelhouse mcp install`.

use clap::Args;
use serde::Serialize;
use wh_api::KeyCreateRequest;
use wh_client::Client;

use super::super::key::ScopeArg;
use crate::config::{Config, Source};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::install::{self, ClientName, Entry, Level, Plan};
use crate::serve::server_file;
use crate::ui::Ui;

/// Stands for a key where none is made.
const KEY_TO_BE_MADE: &str = "wh_full_…";

/// Write an MCP client's configuration, so that it uses this server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse mcp install claude-code
  wheelhouse mcp install vscode --project
  wheelhouse mcp install codex --http
  wheelhouse mcp install gemini --print

Only the entry `wheelhouse` is touched; a copy of the file is kept beside it. Without --http the client starts
`wheelhouse mcp` itself and needs no key.")]
pub(crate) struct InstallArgs {
    /// The client
    #[arg(value_enum)]
    client: ClientName,
    /// Use the server's HTTP address, with a key made for this client
    #[arg(long)]
    http: bool,
    /// How far that key reaches
    #[arg(long, value_enum, default_value_t = ScopeArg::Full, requires = "http")]
    scope: ScopeArg,
    /// Write the file of the project in this directory instead of the user's
    #[arg(long)]
    project: bool,
    /// Show what the file would be, and write nothing
    #[arg(long)]
    print: bool,
    /// Which groups of tools the client sees: all, session, board, repo, admin
    #[arg(long, value_name = "SETS", value_parser = super::toolsets)]
    toolsets: Option<String>,
}

#[derive(Debug, Serialize)]
struct InstalledView {
    client: &'static str,
    file: String,
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
}

pub(crate) async fn run(cx: &Context, args: InstallArgs) -> CliResult {
    let config = cx.config()?;
    let level = if args.project {
        Level::Project
    } else {
        Level::User
    };
    let file = install::file_of(args.client, level)?;
    let entry = match args.http {
        false => stdio_entry(cx, &config, &args)?,
        true => http_entry(cx, &config, &args, &file).await?,
    };
    let plan = install::plan(args.client, file, &entry)?;
    if args.print {
        return cx.ui.raw(&plan.text);
    }
    let backup = plan.write()?;
    let view = InstalledView {
        client: args.client.as_str(),
        file: plan.file.display().to_string(),
        changed: plan.is_change(),
        backup: backup.map(|path| path.display().to_string()),
    };
    cx.ui.answer(&view, |ui| say(ui, &view, &plan, &args))
}

fn say(ui: &Ui, view: &InstalledView, plan: &Plan, args: &InstallArgs) -> CliResult {
    if !view.changed {
        return ui.line(&format!(
            "{} knows this server already ({})",
            view.client, view.file
        ));
    }
    ui.line(&format!(
        "{} now knows this server ({})",
        view.client, view.file
    ))?;
    if let Some(backup) = &view.backup {
        ui.note(&format!("the file as it was: {backup}"))?;
    }
    if args.http && args.project {
        ui.note(&format!(
            "{} holds a key now: do not commit it",
            plan.file.display()
        ))?;
    }
    ui.note("restart the client to use it")
}

/// Lets the client start `wheelhouse mcp`, with the same data directory and configuration as this call.
fn stdio_entry(cx: &Context, config: &Config, args: &InstallArgs) -> CliResult<Entry> {
    if cx.url().is_some() {
        return Err(CliError::usage("a server elsewhere is used over HTTP").hint("add --http"));
    }
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("cannot tell where this program is: {error}")))?;
    let mut command = vec![program.display().to_string()];
    for (flag, sourced) in [("--config", &config.file), ("--data-dir", &config.data_dir)] {
        // What a file says, the same file will say again; flags and variables will not be there.
        if matches!(sourced.source, Source::Flag(_) | Source::Env(_)) {
            command.extend([flag.to_owned(), sourced.value.display().to_string()]);
        }
    }
    command.push("mcp".to_owned());
    if let Some(sets) = &args.toolsets {
        command.extend(["--toolsets".to_owned(), sets.clone()]);
    }
    Ok(Entry::Stdio { command })
}

async fn http_entry(
    cx: &Context,
    config: &Config,
    args: &InstallArgs,
    file: &std::path::Path,
) -> CliResult<Entry> {
    let base = match cx.url() {
        Some(url) => url
            .trim_end_matches('/')
            .trim_end_matches("/mcp")
            .to_owned(),
        None => match server_file(&config.data_dir.value) {
            Ok(Some(server)) => server.url,
            Ok(None) if args.print => format!("http://{}", config.listen.value),
            Ok(None) => {
                let code = wh_domain::ErrorCode::Unavailable;
                return Err(CliError::new(code, "no server runs, so no key can be made")
                    .hint("start one with `wheelhouse serve`, or leave out --http"));
            }
            Err(why) => return Err(CliError::failed(why)),
        },
    };
    let query = args
        .toolsets
        .as_ref()
        .map_or(String::new(), |sets| format!("?toolsets={sets}"));
    let url = format!("{base}/mcp{query}");
    if args.print {
        return Ok(Entry::Http {
            url,
            key: KEY_TO_BE_MADE.to_owned(),
        });
    }
    if let Some(key) = install::key_in(args.client, file)
        && key_works(&base, &key).await
    {
        return Ok(Entry::Http { url, key });
    }
    let request = KeyCreateRequest {
        name: format!("mcp install {}", args.client.as_str()),
        scope: args.scope.as_str().to_owned(),
        user: None,
        expires_at: None,
        dialect: None,
        session: None,
        idempotency_key: None,
    };
    let created = cx.client()?.key_create(&request).await?;
    let key = created
        .key
        .ok_or_else(|| CliError::failed("the server made no key"))?;
    Ok(Entry::Http { url, key })
}

/// Tells whether a key that an earlier installation left is still good, so that repeating it makes no second one.
async fn key_works(base: &str, key: &str) -> bool {
    match Client::remote(base, Some(key)) {
        Ok(client) => client.whoami().await.is_ok(),
        Err(_) => false,
    }
}
