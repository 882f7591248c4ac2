//! `wheelhouse credential`.

use std::io::{IsTerminal, Read, Write};

use clap::{Args, Subcommand, ValueEnum};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use wh_api::{CredentialListRequest, CredentialListView, CredentialSetRequest, CredentialView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui};

/// Manage credentials for hosts of private repositories
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse credential set github.com
  gh auth token | wheelhouse credential set github.com
  wheelhouse credential set git.example.org:8443 --usable-by everyone < token.txt
  wheelhouse credential ls
  wheelhouse credential rm github.com

A token is never an argument, where other users of the machine could read it.")]
pub(crate) enum CredentialCommand {
    /// Store a token for a host, read from standard input or typed without echo
    Set(SetArgs),
    /// List credentials, without their tokens
    #[command(visible_alias = "list")]
    Ls(PageArgs),
    /// Delete a credential
    #[command(visible_alias = "delete")]
    Rm {
        /// The host, or the credential's id or its last 8 digits
        #[arg(value_name = "HOST|ID")]
        credential: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The host, with its port unless that is 443
    host: String,
    /// The user name, for hosts that require one
    #[arg(long)]
    username: Option<String>,
    /// Whose repositories it is used for; all but own are for administrators
    #[arg(long, value_enum, default_value = "own")]
    usable_by: UsableByArg,
}

/// Whose repositories a credential is used for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum UsableByArg {
    /// Your own
    Own,
    /// Those of every administrator
    Admins,
    /// Those of every user
    Everyone,
}

impl UsableByArg {
    fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Admins => "admins",
            Self::Everyone => "everyone",
        }
    }
}

/// Maximum number of bytes read as a token.
const TOKEN_BYTES_MAX: u64 = 8 << 10;

pub(crate) async fn run(cx: &Context, command: CredentialCommand) -> CliResult {
    let client = cx.client()?;
    match command {
        CredentialCommand::Set(args) => {
            let request = CredentialSetRequest {
                token: read_token(&args.host).await?,
                host: args.host,
                username: args.username,
                usable_by: Some(args.usable_by.as_str().to_owned()),
                idempotency_key: None,
            };
            let stored = client.credential_set(&request).await?;
            cx.ui.answer(&stored, |ui| {
                show(ui, &stored)?;
                ui.note("stored encrypted; `wheelhouse repo check REPO` tests it")
            })
        }
        CredentialCommand::Ls(PageArgs { limit, cursor }) => {
            let request = CredentialListRequest { limit, cursor };
            let list = client.credential_list(&request).await?;
            cx.ui.answer(&list, |ui| table(ui, &list))
        }
        CredentialCommand::Rm { credential } => {
            let deleted = client.credential_delete(&credential).await?;
            cx.ui.answer(&deleted, |ui| {
                ui.line(&format!("deleted the credential for {}", deleted.host))
            })
        }
    }
}

/// Reads a token: at a terminal one line without echo, otherwise all of standard input.
async fn read_token(host: &str) -> CliResult<String> {
    let text = match std::io::stdin().is_terminal() {
        true => type_token(host).await?,
        false => {
            let mut text = String::new();
            let mut bounded = std::io::stdin().take(TOKEN_BYTES_MAX);
            bounded.read_to_string(&mut text).map_err(unreadable)?;
            text
        }
    };
    match text.trim() {
        "" => Err(CliError::usage("the token is empty")
            .hint("type it, or pass it on standard input: `… credential set HOST < FILE`")),
        token => Ok(token.to_owned()),
    }
}

/// Asks for a token at the terminal. Ctrl-C ends the command, and the terminal echoes again.
async fn type_token(host: &str) -> CliResult<String> {
    let hidden = Hidden::begin().map_err(unreadable)?;
    let mut stderr = std::io::stderr();
    write!(stderr, "Token for {host}: ")
        .and_then(|()| stderr.flush())
        .map_err(unreadable)?;
    let (send, typed) = tokio::sync::oneshot::channel();
    // Not a task of the runtime, which would wait for the line after Ctrl-C.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().read_line(&mut text);
        // Whoever asked may have gone away.
        drop(send.send(read.map(|_| text)));
    });
    let typed = tokio::select! {
        typed = typed => typed.map_err(|_| CliError::failed("the token cannot be read"))?,
        _ = tokio::signal::ctrl_c() => Err(std::io::ErrorKind::Interrupted.into()),
    };
    drop(hidden);
    writeln!(stderr).map_err(unreadable)?;
    typed.map_err(unreadable)
}

fn unreadable(error: impl Into<std::io::Error>) -> CliError {
    let error: std::io::Error = error.into();
    CliError::failed(format!("the token cannot be read: {error}"))
}

/// Keeps the terminal from showing what is typed, until dropped.
struct Hidden(Termios);

impl Hidden {
    fn begin() -> rustix::io::Result<Self> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Flush, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // The terminal may be gone.
        tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}

fn table(ui: &Ui, list: &CredentialListView) -> CliResult {
    let mut table = Table::new(&["ID", "HOST", "USERNAME", "USABLE BY", "SOURCE"]);
    for credential in &list.credentials {
        let CredentialView {
            short_id,
            host,
            username,
            usable_by,
            ..
        } = credential;
        table.row([short_id, host, username, usable_by, "stored"]);
    }
    for configured in &list.configured {
        let source = configured.problem.as_deref();
        let source = source.or(configured.source.as_deref()).unwrap_or("-");
        table.row(["-", &configured.host, "-", &configured.usable_by, source]);
    }
    ui.table(
        &table,
        "no credentials yet; store one with `wheelhouse credential set HOST`",
    )?;
    ui.more(
        list.credentials.len(),
        list.total,
        list.next_cursor.as_ref(),
    )
}

fn show(ui: &Ui, credential: &CredentialView) -> CliResult {
    ui.fields(&[
        ("id", Some(credential.id.clone())),
        ("host", Some(credential.host.clone())),
        ("username", Some(credential.username.clone())),
        ("usable by", Some(credential.usable_by.clone())),
    ])
}
