//! What the dashboard costs its reader, in Debian's Chromium and from the real server: what the first page loads, a conversation of
//! 50 000 messages, and what Lighthouse says of every page. Each has a budget, and a broken one fails.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::fixture::Programs;
use crate::run::{self, Echo};
use crate::tools;
use crate::ui;
use crate::web::Web;
use crate::workspace::Workspace;

const MEASURED_WITHIN: Duration = Duration::from_secs(15 * 60);

/// One line of what `web/bench` measured.
#[derive(Debug, Deserialize)]
struct Figure {
    name: String,
    value: f64,
    most: Option<f64>,
    least: Option<f64>,
    /// What is known about a broken budget.
    #[serde(default)]
    about: String,
}

impl Figure {
    fn is_kept(&self) -> bool {
        self.most.is_none_or(|most| self.value < most)
            && self.least.is_none_or(|least| self.value >= least)
    }

    fn row(&self) -> Vec<String> {
        let budget = match (self.most, self.least) {
            (Some(most), _) => format!("< {most}"),
            (None, Some(least)) => format!(">= {least}"),
            (None, None) => String::new(),
        };
        let verdict = if self.is_kept() {
            String::new()
        } else {
            format!("broken {}", self.about)
        };
        vec![
            self.name.clone(),
            format!("{:.0}", self.value),
            budget,
            verdict,
        ]
    }
}

pub(super) fn run(workspace: &Workspace, programs: &Programs) -> Result<String> {
    tools::debian(tools::CHROMIUM)?;
    let web = Web::ready(workspace)?;
    web.install("bench")?;
    let file = programs.data_dir("web.json");
    fs::create_dir_all(programs.data_dir(""))?;
    ui::progress("driving the browser; Lighthouse takes some seconds for each page");
    let mut measure = web.npm("figures")?;
    programs.name_in(&mut measure);
    measure
        .env("NO_COLOR", "1")
        .env("WHEELHOUSE_FIGURES", &file);
    let ended = run::within(MEASURED_WITHIN, Echo::Hide, &mut measure)?;
    if !ended.success() {
        bail!("measuring has failed:\n{}", ended.text().trim());
    }
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    judged(&serde_json::from_str::<Vec<Figure>>(&text)?)
}

/// Returns the table, as an error when a budget is broken.
fn judged(figures: &[Figure]) -> Result<String> {
    let rows: Vec<_> = figures.iter().map(Figure::row).collect();
    let table = ui::table(&["", "measured", "budget", ""], &rows);
    match figures.iter().filter(|figure| !figure.is_kept()).count() {
        0 => Ok(table),
        broken => bail!("{broken} budgets are broken\n{table}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(json: &str) -> Vec<Figure> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_kept_budget_is_a_table() {
        let kept = figures(
            r#"[{"name": "bundle", "value": 156.6, "most": 350},
                {"name": "task", "value": 80},
                {"name": "score", "value": 95, "least": 95, "about": ""}]"#,
        );
        assert_eq!(
            judged(&kept).unwrap(),
            "        measured  budget\n\
             bundle       157   < 350\n\
             task          80\n\
             score         95   >= 95"
        );
    }

    #[test]
    fn a_broken_budget_fails_and_says_why() {
        for broken in [
            r#"[{"name": "bundle", "value": 350, "most": 350}]"#,
            r#"[{"name": "score", "value": 94, "least": 95, "about": "target-size"}]"#,
        ] {
            let error = judged(&figures(broken)).unwrap_err().to_string();
            assert!(
                error.starts_with("1 budgets are broken") && error.contains("broken"),
                "{error}"
            );
        }
    }
}
