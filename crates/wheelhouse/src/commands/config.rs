//! `wheelhouse config`.

use clap::Subcommand;
use serde::Serialize;
use wh_api::{ConfigSetRequest, SettingInput, SettingView, StartValueView};
use wh_client::{Client, ClientError};

use crate::config::{Config, start_text};
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::ui::{Table, Tone, Ui};

/// Show and change the configuration of the server
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse config show
  wheelhouse config set review.max_iterations 5
  wheelhouse config unset review.max_iterations

Start-up values come from flags, WHEELHOUSE_* variables and wheelhouse.toml, in this order, and are read when the server starts.
They are shown to administrators. Settings with a dot in their name are kept by the server and change at once.")]
pub(crate) enum ConfigCommand {
    /// Show what the running server uses, and where each value came from
    Show,
    /// Show one value
    Get { key: String },
    /// Change a setting of the running server
    Set {
        key: String,
        #[arg(allow_negative_numbers = true)]
        value: String,
    },
    /// Put a setting of the running server back to its default
    Unset { key: String },
    /// Show which configuration file is read
    Path,
}

#[derive(Debug, Serialize)]
struct ShowView {
    file: String,
    file_exists: bool,
    /// server: what the running server uses; configuration: what a server would be started with; hidden: administrators see it.
    start_from: StartFrom,
    start: Vec<StartValueView>,
    /// What the configuration says by now, and the running server does not use before it is restarted.
    start_changed: Vec<StartValueView>,
    /// Absent when no server runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Vec<SettingView>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum StartFrom {
    Server,
    Configuration,
    Hidden,
}

#[derive(Debug, Serialize)]
struct PathView {
    file: String,
    file_exists: bool,
    source: String,
}

pub(crate) async fn run(cx: &Context, command: ConfigCommand) -> CliResult {
    match command {
        ConfigCommand::Show => show(cx).await,
        ConfigCommand::Get { key } => get(cx, &key).await,
        ConfigCommand::Set { key, value } => {
            let value = match value.parse() {
                Ok(number) => SettingInput::Number(number),
                Err(_) => SettingInput::Name(value),
            };
            change(cx, key, Some(value)).await
        }
        ConfigCommand::Unset { key } => change(cx, key, None).await,
        ConfigCommand::Path => {
            let config = cx.config()?;
            let view = PathView {
                file: config.file.value.display().to_string(),
                file_exists: config.file_exists,
                source: config.file.source.to_string(),
            };
            cx.ui.answer(&view, |ui| {
                ui.line(&view.file)?;
                match view.file_exists {
                    true => Ok(()),
                    false => ui.note("there is no such file yet; defaults apply"),
                }
            })
        }
    }
}

async fn show(cx: &Context) -> CliResult {
    let config = cx.config()?;
    let client = cx.client()?;
    let settings = match client.config_list().await {
        Ok(view) => Some(view.settings),
        Err(ClientError::NotRunning { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let (start_from, start) = match &settings {
        Some(_) => in_force(&client).await?,
        None => (StartFrom::Configuration, config.values()),
    };
    let is_here = start_from == StartFrom::Server && cx.url().is_none();
    let start_changed = match is_here {
        true => changed(&start, config.values()),
        false => Vec::new(),
    };
    let view = ShowView {
        file: config.file.value.display().to_string(),
        file_exists: config.file_exists,
        start_from,
        start,
        start_changed,
        settings,
    };
    cx.ui.answer(&view, |ui| show_words(ui, &config, &view))
}

/// Returns what the running server uses, if the caller may see it.
async fn in_force(client: &Client) -> CliResult<(StartFrom, Vec<StartValueView>)> {
    match client.server_config_get().await.map_err(CliError::from) {
        Ok(view) => Ok((StartFrom::Server, view.values)),
        Err(error) if error.exit == Exit::Refused => Ok((StartFrom::Hidden, Vec::new())),
        Err(error) => Err(error),
    }
}

/// Returns the values that the configuration has and the running server does not. What a flag or a variable sets is not compared: it
/// belongs to one start.
fn changed(running: &[StartValueView], configured: Vec<StartValueView>) -> Vec<StartValueView> {
    let is_kept = |value: &StartValueView| {
        !["flag ", "environment "]
            .iter()
            .any(|start| value.source.starts_with(start))
    };
    let differs = |value: &StartValueView| {
        let running = running.iter().find(|it| it.key == value.key);
        running.is_some_and(|running| is_kept(running) && running.value != value.value)
    };
    let configured = configured.into_iter();
    configured
        .filter(|value| is_kept(value) && differs(value))
        .collect()
}

fn show_words(ui: &Ui, config: &Config, view: &ShowView) -> CliResult {
    let state = if config.file_exists { "" } else { " (absent)" };
    ui.raw(&format!("{}\n", ui.paint(Tone::Strong, "Start-up")))?;
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    if view.start_from == StartFrom::Configuration {
        table.row([
            "(file)",
            &format!("{}{state}", view.file),
            &config.file.source.to_string(),
        ]);
    }
    for value in &view.start {
        table.row([&value.key, &start_text(&value.value), &value.source]);
    }
    ui.table(&table, "start-up values are shown to administrators")?;
    for value in &view.start_changed {
        let (key, text, source) = (&value.key, start_text(&value.value), &value.source);
        ui.note(&format!(
            "{key} is {text} in {source}; restart the server to apply it"
        ))?;
    }
    let Some(settings) = &view.settings else {
        return ui.note(
            "no server is running: these values apply to the next start; start one with `wheelhouse serve`",
        );
    };
    ui.raw(&format!("\n{}\n", ui.paint(Tone::Strong, "Settings")))?;
    let mut table = Table::new(&["KEY", "VALUE", "FROM", "ABOUT"]);
    for setting in settings {
        table.row([
            &setting.key,
            &value_text(setting),
            &setting.source,
            &setting.about,
        ]);
    }
    ui.table(&table, "")
}

async fn get(cx: &Context, key: &str) -> CliResult {
    let mut values = cx.config()?.values();
    if let Some(at) = values.iter().position(|value| value.key == key) {
        let configured = values.swap_remove(at);
        let running = match in_force(&cx.client()?).await {
            Ok((_, values)) => values.into_iter().find(|value| value.key == key),
            Err(error) if error.exit == Exit::Unavailable => None,
            Err(error) => return Err(error),
        };
        let value = running.unwrap_or(configured);
        return cx.ui.answer(&value, |ui| {
            ui.line(&start_text(&value.value))?;
            ui.note(&format!("from: {}", value.source))
        });
    }
    let view = cx.client()?.config_get(key).await?;
    cx.ui.answer(&view, |ui| {
        let mut settings = view.settings.iter();
        settings.try_for_each(|setting| ui.line(&value_text(setting)))
    })
}

async fn change(cx: &Context, key: String, value: Option<SettingInput>) -> CliResult {
    let config = cx.config()?;
    if config.values().iter().any(|start| start.key == key) {
        let file = config.file.value.display();
        let message = format!("{key} is read when the server starts");
        return Err(
            CliError::usage(message).hint(format!("set it in {file} and restart the server"))
        );
    }
    let request = ConfigSetRequest {
        key,
        value,
        idempotency_key: None,
    };
    let setting = cx.client()?.config_set(&request).await?;
    cx.ui.answer(&setting, |ui| {
        ui.line(&format!(
            "{} is {} ({})",
            setting.key,
            value_text(&setting),
            setting.source
        ))
    })
}

fn value_text(setting: &SettingView) -> String {
    if let Some(name) = &setting.value_name {
        return name.clone();
    }
    setting
        .value
        .map_or("unlimited".to_owned(), |value| value.to_string())
}
