//! `wheelhouse user`.

use clap::{Subcommand, ValueEnum};
use wh_api::{UserCreateRequest, UserListRequest, UserView};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui, moment};

/// Make and see the people and services that may use the server
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse user create ann --role admin --email ann@example.org
  wheelhouse user list")]
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
}

/// What a user may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Everything, of everyone
    Admin,
    /// Its own things
    Member,
}

pub(crate) async fn run(cx: &Context, command: UserCommand) -> CliResult {
    let client = cx.client()?;
    match command {
        UserCommand::Create { name, role, email } => {
            let role = match role {
                RoleArg::Admin => "admin",
                RoleArg::Member => "member",
            };
            let request = UserCreateRequest {
                name,
                role: Some(role.to_owned()),
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
                let mut table = Table::new(&["ID", "NAME", "ROLE", "EMAIL", "CREATED"]);
                for user in &list.users {
                    let email = user.email.as_deref().unwrap_or("-");
                    let created = moment(&user.created_at);
                    table.row([&user.short_id, &user.name, &user.role, email, &created]);
                }
                ui.table(&table, "no users that you may see")?;
                ui.more(list.next_cursor.as_ref())
            })
        }
        UserCommand::Show { user } => {
            let user = match user {
                Some(user) => client.user_get(&user).await?,
                None => client.whoami().await?.user,
            };
            cx.ui.answer(&user, |ui| fields(ui, &user))
        }
    }
}

fn fields(ui: &Ui, user: &UserView) -> CliResult {
    ui.fields(&[
        ("id", Some(user.id.clone())),
        ("name", Some(user.name.clone())),
        ("role", Some(user.role.clone())),
        ("email", user.email.clone()),
        ("created", Some(moment(&user.created_at))),
    ])
}
