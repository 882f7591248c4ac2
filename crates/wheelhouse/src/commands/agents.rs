//! `wheelhouse agents`.

mod install;

use clap::{Args, Subcommand};
use wh_api::{AgentListView, AgentView};

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui};

/// List the agents that can run here, and install others
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse agents
  wheelhouse agents show claude-code
  wheelhouse agents install claude-code

Any program that speaks ACP can be added in the configuration file:

  [agents.mine]
  title = \"My agent\"
  command = [\"my-agent\", \"--acp\"]
  env = { MY_AGENT_KEY = \"…\" }

Agents find your logins and settings as in a terminal, because they get your HOME. Of the other variables they get those that
every program needs, and no keys; what one needs besides is set in the configuration file, for the agents above too:

  [agents.claude-code]
  env = { ANTHROPIC_API_KEY = \"…\" }")]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List agents; the same as `wheelhouse agents`
    List,
    /// Show one agent and how to install what is missing
    Show {
        /// The agent's name, such as claude-code
        name: String,
    },
    Install(install::InstallArgs),
}

pub(crate) async fn run(cx: &Context, args: AgentsArgs) -> CliResult {
    match args.command.unwrap_or(AgentsCommand::List) {
        AgentsCommand::List => {
            let list = cx.client()?.agent_list().await?;
            cx.ui.answer(&list, |ui| table(ui, &list))
        }
        AgentsCommand::Install(args) => install::run(cx, args).await,
        AgentsCommand::Show { name } => {
            let agent = cx.client()?.agent_get(&name).await?;
            cx.ui.answer(&agent, |ui| fields(ui, &agent))
        }
    }
}

fn table(ui: &Ui, list: &AgentListView) -> CliResult {
    let mut table = Table::new(&["NAME", "STATE", "VERSION", "ABOUT"]);
    for agent in &list.agents {
        let version = agent.version.as_deref().unwrap_or("-");
        table.row([&agent.name, &state(agent), version, &agent.about]);
    }
    ui.table(&table, "no agents")?;
    if list.agents.iter().any(|agent| !agent.ready) {
        ui.note(
            "`wheelhouse agents install NAME` installs what is missing, on the server's machine",
        )?;
    }
    Ok(())
}

fn state(agent: &AgentView) -> String {
    if agent.ready {
        "ready".to_owned()
    } else {
        format!("missing: {}", agent.missing.join(", "))
    }
}

/// Lists the models that an agent offered last.
fn models(agent: &AgentView) -> Option<String> {
    let ids: Vec<_> = agent.models.iter().map(|model| model.id.as_str()).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

fn fields(ui: &Ui, agent: &AgentView) -> CliResult {
    ui.fields(&[
        ("name", Some(agent.name.clone())),
        ("title", Some(agent.title.clone())),
        ("about", Some(agent.about.clone())),
        ("origin", Some(agent.origin.clone())),
        ("state", Some(state(agent))),
        ("version", agent.version.clone()),
        ("models", models(agent)),
    ])?;
    for install in &agent.install {
        ui.note(install)?;
    }
    Ok(())
}
