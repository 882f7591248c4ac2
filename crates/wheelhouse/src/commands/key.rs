//! `wheelhouse key`.

use clap::{Args, Subcommand, ValueEnum};
use wh_api::{KeyCreateRequest, KeyListRequest, KeyListView, KeyView};

use super::{expiry, page::PageArgs};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui, moment_ago, when};

/// Make, see and revoke keys, by which programs call the server
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse key create --scope full --name laptop --expires 30d
  wheelhouse key create --scope client --name ci --user ann --json
  wheelhouse key create --scope full --name orchestrator --dialect clawed-abode
  wheelhouse key create --scope read --name monitor --dialect clawed-abode --expires 30d
  wheelhouse key revoke 89abcdef")]
pub(crate) enum KeyCommand {
    /// Make a key and show it, this once
    Create(CreateArgs),
    /// List keys, newest first
    List(ListArgs),
    /// Revoke a key, at once and for good
    Revoke {
        /// The key's id or its last 8 digits; never the key itself
        #[arg(value_name = "ID")]
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// How far the key reaches
    #[arg(long, value_enum, required_unless_present = "session")]
    scope: Option<ScopeArg>,
    /// What it is for
    #[arg(long)]
    name: String,
    /// Whose it will be, by id or name; yours unless given
    #[arg(long)]
    user: Option<String>,
    /// When it ends: 30d, 12h, 2027-01-31 (when that day begins here) or 2027-01-31T12:00:00Z; never unless given
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// Make a key of another system's contract, which opens that dialect's address alone
    #[arg(long, value_enum)]
    dialect: Option<DialectArg>,
    /// Let the key rename this session and do nothing else
    #[arg(
        long,
        value_name = "ID",
        requires = "dialect",
        conflicts_with = "scope"
    )]
    session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Whose, by id or name; all you may see unless given
    #[arg(long)]
    user: Option<String>,
    /// Signed-in browsers and agents' session tokens too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    page: PageArgs,
}

/// The scope of a key that is bound to a session.
const BOUND_SCOPE: &str = "session_internal";

/// How far a key reaches.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Everything of its user
    Full,
    /// The same, changing nothing
    Read,
    /// Only what this key itself creates
    Client,
}

/// Another system's contract.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DialectArg {
    /// Clawed Abode, at /mcp/clawed-abode and /api/mcp
    ClawedAbode,
}

impl DialectArg {
    fn as_str(self) -> &'static str {
        match self {
            Self::ClawedAbode => wh_domain::Dialect::ClawedAbode.as_str(),
        }
    }
}

impl ScopeArg {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Read => "read",
            Self::Client => "client",
        }
    }
}

pub(crate) async fn run(cx: &Context, command: KeyCommand) -> CliResult {
    match command {
        KeyCommand::Create(args) => create(cx, args).await,
        KeyCommand::List(args) => list(cx, args).await,
        KeyCommand::Revoke { key } => {
            // A whole key on a command line is seen by others; do not send it on as if it were an id.
            if wh_domain::Secret::parse(&key).is_some() {
                return Err(CliError::usage("that is a key, not the id of one")
                    .hint("find its id with `wheelhouse key list`"));
            }
            let key = cx.client()?.key_revoke(&key).await?;
            cx.ui.answer(&key, |ui| {
                ui.line(&format!("revoked {} ({})", key.name, key.prefix))
            })
        }
    }
}

async fn create(cx: &Context, args: CreateArgs) -> CliResult {
    let expires_at = args.expires.as_deref().map(expiry::parse).transpose();
    let expires_at = expires_at.map_err(|why| CliError::usage(format!("--expires: {why}")))?;
    let request = KeyCreateRequest {
        name: args.name,
        scope: args.scope.map_or(BOUND_SCOPE, ScopeArg::as_str).to_owned(),
        user: args.user,
        expires_at,
        dialect: args.dialect.map(|dialect| dialect.as_str().to_owned()),
        session: args.session,
        idempotency_key: None,
    };
    let created = cx.client()?.key_create(&request).await?;
    cx.ui.answer(&created, |ui| {
        ui.line(created.key.as_deref().unwrap_or("(shown before)"))?;
        ui.note("keep it: it is not shown again")?;
        let until = match &created.about.expires_at {
            Some(at) => format!("ends {}", moment_ago(at)),
            None => "does not end by itself".to_owned(),
        };
        let id = &created.about.short_id;
        ui.note(&format!(
            "it {until}; revoke it with `wheelhouse key revoke {id}`"
        ))
    })
}

async fn list(cx: &Context, args: ListArgs) -> CliResult {
    let request = KeyListRequest {
        user: args.user,
        include_automatic: args.all.then_some(true),
        limit: args.page.limit,
        cursor: args.page.cursor,
    };
    let list = cx.client()?.key_list(&request).await?;
    cx.ui.answer(&list, |ui| table(ui, &list))
}

fn table(ui: &Ui, list: &KeyListView) -> CliResult {
    let mut table = Table::new(&["ID", "NAME", "SCOPE", "KEY", "STATUS", "LAST USED", "ENDS"]);
    for key in &list.keys {
        let at = |time: &Option<String>| time.as_deref().map_or("never".to_owned(), when);
        let KeyView {
            short_id,
            name,
            scope,
            prefix,
            status,
            ..
        } = key;
        let prefix = format!("{prefix}…");
        let (used, ends) = (at(&key.last_used_at), at(&key.expires_at));
        table.row([short_id, name, scope, &prefix, status, &used, &ends]);
    }
    let empty = "no keys yet; make one with `wheelhouse key create --scope full --name NAME`";
    ui.table(&table, empty)?;
    ui.more(list.keys.len(), list.total, list.next_cursor.as_ref())
}
