//! `wheelhouse config`.

use clap::Subcommand;
use serde::Serialize;
use wh_api::{ConfigSetRequest, SettingInput, SettingView};

use crate::config::{Config, StartValue};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Tone, Ui};

/// See and change how the server is set up
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse config show
  wheelhouse config set review.max_iterations 5
  wheelhouse config unset review.max_iterations

Start-up values come from flags, WHEELHOUSE_* variables and wheelhouse.toml, in this order. Settings with a dot in their
name live in the server and change at once.")]
pub(crate) enum ConfigCommand {
    /// Show every value in force and where it came from
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
    start: Vec<StartValue>,
    /// Absent when no server runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Vec<SettingView>>,
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
    let settings = match cx.client()?.config_list().await {
        Ok(view) => Some(view.settings),
        Err(wh_client::ClientError::NotRunning { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let view = ShowView {
        file: config.file.value.display().to_string(),
        file_exists: config.file_exists,
        start: config.values(),
        settings,
    };
    cx.ui.answer(&view, |ui| show_words(ui, &config, &view))
}

fn show_words(ui: &Ui, config: &Config, view: &ShowView) -> CliResult {
    let state = if config.file_exists { "" } else { " (absent)" };
    ui.raw(&format!("{}\n", ui.paint(Tone::Strong, "Start-up")))?;
    let mut table = Table::new(&["KEY", "VALUE", "FROM"]);
    table.row([
        "(file)",
        &format!("{}{state}", view.file),
        &config.file.source.to_string(),
    ]);
    for value in &view.start {
        table.row([value.key, &value.text(), &value.source]);
    }
    ui.table(&table, "")?;
    let Some(settings) = &view.settings else {
        return ui
            .note("settings are shown while a server runs; start one with `wheelhouse serve`");
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
        let value = values.swap_remove(at);
        return cx.ui.answer(&value, |ui| {
            ui.line(&value.text())?;
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
