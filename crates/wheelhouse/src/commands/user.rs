//! `wheelhouse user`.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use wh_api::{UserCreateRequest, UserDeleteRequest, UserListRequest, UserUpdateRequest, UserView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, moment_ago, when};

/// Make, see and change the people and services that may use the server
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse user create ann --role admin --email ann@example.org
  wheelhouse user list
  wheelhouse user update ann --role member
  wheelhouse user allow-path ann /srv/projects
  wheelhouse user disable ann
  wheelhouse user rm ann --force")]
pub(crate) enum UserCommand {
    /// Make a user
    Create {
        /// The name to sign in under: letters, digits and . _ - @ +
        name: String,
        /// What the user may do
        #[arg(long, value_enum, default_value_t = RoleArg::Member)]
        role: RoleArg,
        #[arg(long, value_name = "ADDRESS")]
        email: Option<String>,
    },
    /// List users, newest first
    List(PageArgs),
    /// Show a user
    Show {
        /// The user's id or name; you unless given
        user: Option<String>,
    },
    /// Change a user's role or email
    #[command(group(ArgGroup::new("change").required(true).multiple(true)))]
    Update {
        /// The user's id or name
        user: String,
        #[arg(long, value_enum, group = "change")]
        role: Option<RoleArg>,
        /// Empty takes it away
        #[arg(long, value_name = "ADDRESS", group = "change")]
        email: Option<String>,
    },
    /// Allow a member to use a directory of the server's machine: `path` sessions and local repositories
    AllowPath(PathArgs),
    /// Withdraw a directory that was allowed; `user show` lists them
    DisallowPath(PathArgs),
    /// Let a user in nowhere any more, and stop what they have running; nothing is deleted
    Disable {
        /// The user's id or name
        user: String,
    },
    /// Let a disabled user in again
    Enable {
        /// The user's id or name
        user: String,
    },
    /// Delete a user
    #[command(visible_alias = "delete")]
    Rm {
        /// The user's id or name
        user: String,
        /// Delete a user who owns something: stop sessions, take over what the user owns, and revoke keys
        #[arg(long)]
        force: bool,
    },
}

/// A user and a directory.
#[derive(Debug, Args)]
pub(crate) struct PathArgs {
    /// The user's id or name
    user: String,
    /// An absolute path on the server's machine
    directory: String,
}

/// What a user may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Everything, of everyone
    Admin,
    /// Its own things
    Member,
}

impl RoleArg {
    fn text(self) -> String {
        match self {
            Self::Admin => "admin".to_owned(),
            Self::Member => "member".to_owned(),
        }
    }
}

pub(crate) async fn run(cx: &Context, command: UserCommand) -> CliResult {
    let client = cx.client()?;
    match command {
        UserCommand::Create { name, role, email } => {
            let request = UserCreateRequest {
                name,
                role: Some(role.text()),
                email,
                avatar_url: None,
                idempotency_key: None,
            };
            let user = client.user_create(&request).await?;
            cx.ui.answer(&user, |ui| {
                fields(ui, &user)?;
                let name = &user.name;
                ui.note(&format!(
                    "give {name} a key with `wheelhouse key create --user {name} --scope full --name …`"
                ))
            })
        }
        UserCommand::List(PageArgs { limit, cursor }) => {
            let request = UserListRequest { limit, cursor };
            let list = client.user_list(&request).await?;
            cx.ui.answer(&list, |ui| {
                let mut table = Table::new(&["ID", "NAME", "ROLE", "STATUS", "EMAIL", "CREATED"]);
                for user in &list.users {
                    let email = user.email.as_deref().unwrap_or("-");
                    let created = when(&user.created_at);
                    let status = status(user);
                    table.row([
                        &user.short_id,
                        &user.name,
                        &user.role,
                        status,
                        email,
                        &created,
                    ]);
                }
                ui.table(&table, "no users that you may see")?;
                ui.more(list.users.len(), list.total, list.next_cursor.as_ref())
            })
        }
        UserCommand::Show { user } => {
            let user = match user {
                Some(user) => client.user_get(&user).await?,
                None => client.whoami().await?.user,
            };
            cx.ui.answer(&user, |ui| fields(ui, &user))
        }
        UserCommand::Update { user, role, email } => {
            let request = UserUpdateRequest {
                user,
                role: role.map(RoleArg::text),
                email,
                ..UserUpdateRequest::default()
            };
            let user = client.user_update(&request).await?;
            cx.ui.answer(&user, |ui| fields(ui, &user))
        }
        UserCommand::AllowPath(PathArgs { user, directory }) => {
            let request = UserUpdateRequest {
                user,
                allow_paths: vec![directory],
                ..UserUpdateRequest::default()
            };
            let user = client.user_update(&request).await?;
            cx.ui.answer(&user, |ui| fields(ui, &user))
        }
        UserCommand::DisallowPath(PathArgs { user, directory }) => {
            let request = UserUpdateRequest {
                user,
                disallow_paths: vec![directory],
                ..UserUpdateRequest::default()
            };
            let user = client.user_update(&request).await?;
            cx.ui.answer(&user, |ui| fields(ui, &user))
        }
        UserCommand::Disable { user } => turn(cx, user, true).await,
        UserCommand::Enable { user } => turn(cx, user, false).await,
        UserCommand::Rm { user, force } => {
            let request = UserDeleteRequest {
                user,
                force: force.then_some(true),
                idempotency_key: None,
            };
            let deleted = client.user_delete(&request).await?;
            super::deleted::show(cx, "user", &deleted)
        }
    }
}

/// Disables or enables a user.
async fn turn(cx: &Context, user: String, disabled: bool) -> CliResult {
    let request = UserUpdateRequest {
        user,
        disabled: Some(disabled),
        ..UserUpdateRequest::default()
    };
    let user = cx.client()?.user_update(&request).await?;
    cx.ui.answer(&user, |ui| {
        fields(ui, &user)?;
        let name = &user.name;
        ui.note(&match disabled {
            true => format!("what {name} has running is being stopped; `wheelhouse user enable {name}` undoes it"),
            false => format!("the keys of {name} open again; stopped sessions are started with `wheelhouse resume`"),
        })
    })
}

fn status(user: &UserView) -> &'static str {
    match user.disabled_at {
        Some(_) => "disabled",
        None => "active",
    }
}

fn fields(ui: &Ui, user: &UserView) -> CliResult {
    ui.fields(&[
        ("id", Some(user.id.clone())),
        ("name", Some(user.name.clone())),
        ("role", Some(user.role.clone())),
        ("email", user.email.clone()),
        ("created", Some(moment_ago(&user.created_at))),
        ("disabled", user.disabled_at.as_deref().map(moment_ago)),
        (
            "allowed paths",
            Some(user.local_roots.join(", ")).filter(|roots| !roots.is_empty()),
        ),
    ])
}
