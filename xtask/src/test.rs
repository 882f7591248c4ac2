//! `cargo xtask test`: every check, in order, and one line at the end that sums them all. A step is a row of [`STEPS`].

mod agents;
mod cargo;
mod clients;
mod conformance;
mod web;

use std::ops::AddAssign;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::args::TestOptions;
use crate::tidy;
use crate::ui;
use crate::workspace::Workspace;

struct Step {
    name: &'static str,
    about: &'static str,
    run: StepFn,
}

/// Every step, in the order they run.
const STEPS: &[Step] = &[
    step("fmt", "the code is formatted", cargo::fmt),
    step("clippy", "clippy has no warnings", cargo::clippy),
    step("tidy", "the code has the agreed shape", tidy_step),
    step("unit", "all Rust tests", cargo::unit),
    step("abuse", "what must not be possible, tried", cargo::abuse),
    step("conformance", "the official MCP suite", conformance::run),
    step("clients", "the official MCP clients", clients::run),
    step("web", "the dashboard, in a real browser", web::run),
    step("agents", "real agents, a scripted model", agents::run),
];

const fn step(name: &'static str, about: &'static str, run: StepFn) -> Step {
    Step { name, about, run }
}

type StepFn = fn(&Workspace) -> Result<Outcome>;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Count {
    /// A step that is one check.
    fn single(success: bool) -> Self {
        Self {
            passed: usize::from(success),
            failed: usize::from(!success),
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// How a step ended.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Counted(Count),
    /// Nothing after it could say anything new.
    BuildFailed,
}

struct Line {
    step: &'static str,
    /// `None` when an earlier build failure kept the step from running.
    ran: Option<(Count, Duration)>,
}

pub(crate) fn test(workspace: &Workspace, options: &TestOptions) -> Result<ExitCode> {
    match options {
        TestOptions::List => {
            let rows: Vec<_> = STEPS
                .iter()
                .map(|step| vec![format!("{}: {}", step.name, step.about)])
                .collect();
            ui::line(&ui::table(&["steps, in order"], &rows));
            Ok(ExitCode::SUCCESS)
        }
        TestOptions::Run { steps, with_agents } => {
            if *with_agents {
                crate::agents::install(workspace)?;
            }
            let lines = run_steps(workspace, &chosen(STEPS, steps)?);
            Ok(summarise(&lines))
        }
    }
}

/// The steps with these names, in the table's order; all of them without a name.
fn chosen<'a>(steps: &'a [Step], names: &[String]) -> Result<Vec<&'a Step>> {
    if let Some(unknown) = names
        .iter()
        .find(|name| steps.iter().all(|step| step.name != **name))
    {
        let known: Vec<_> = steps.iter().map(|step| step.name).collect();
        bail!(
            "there is no step `{unknown}`; the steps are {}",
            known.join(", ")
        );
    }
    Ok(steps
        .iter()
        .filter(|step| names.is_empty() || names.iter().any(|name| name == step.name))
        .collect())
}

fn run_steps(workspace: &Workspace, steps: &[&Step]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut build_failed = false;
    for step in steps {
        if build_failed {
            lines.push(Line {
                step: step.name,
                ran: None,
            });
            continue;
        }
        ui::progress(&format!("step {}: {}", step.name, step.about));
        let started = Instant::now();
        let count = match (step.run)(workspace) {
            Ok(Outcome::Counted(count)) => count,
            Ok(Outcome::BuildFailed) => {
                build_failed = true;
                ui::error(&format!(
                    "step {}: the build failed, the remaining steps are not run",
                    step.name
                ));
                Count::single(false)
            }
            Err(error) => {
                ui::error(&format!("step {}: {error:#}", step.name));
                Count::single(false)
            }
        };
        let ran = Some((count, started.elapsed()));
        lines.push(Line {
            step: step.name,
            ran,
        });
    }
    lines
}

/// Prints the table and, as the last line, the sum.
fn summarise(lines: &[Line]) -> ExitCode {
    let (text, total) = summary(lines);
    ui::line(&text);
    if total.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn summary(lines: &[Line]) -> (String, Count) {
    let mut total = Count::default();
    let mut rows = Vec::new();
    for line in lines {
        let cells = match line.ran {
            None => ["-".to_owned(), "-".to_owned(), "not run".to_owned()],
            Some((count, elapsed)) => {
                total += count;
                [
                    count.passed.to_string(),
                    count.failed.to_string(),
                    format!("{:.1}", elapsed.as_secs_f64()),
                ]
            }
        };
        rows.push(std::iter::once(line.step.to_owned()).chain(cells).collect());
    }
    let table = ui::table(&["step", "passed", "failed", "seconds"], &rows);
    let Count { passed, failed } = total;
    (
        format!("\n{table}\n\n{passed} passed, {failed} failed"),
        total,
    )
}

fn tidy_step(workspace: &Workspace) -> Result<Outcome> {
    let findings = tidy::check(workspace)?;
    tidy::report(&findings);
    Ok(Outcome::Counted(Count::single(
        findings.problems.is_empty(),
    )))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn workspace() -> Workspace {
        Workspace {
            root: PathBuf::from("/"),
            target: PathBuf::from("/target"),
            packages: Vec::new(),
        }
    }

    const GOOD: Step = step("good", "", |_| counted(5, 0));
    const BAD: Step = step("bad", "", |_| counted(2, 1));
    const BROKEN: Step = step("broken", "", |_| bail!("no such thing"));
    const UNBUILT: Step = step("unbuilt", "", |_| Ok(Outcome::BuildFailed));

    fn counted(passed: usize, failed: usize) -> Result<Outcome> {
        Ok(Outcome::Counted(Count { passed, failed }))
    }

    fn last_line(steps: &[&Step]) -> String {
        let (text, _) = summary(&run_steps(&workspace(), steps));
        text.lines().last().unwrap().to_owned()
    }

    #[test]
    fn the_last_line_sums_all_steps() {
        assert_eq!(last_line(&[&GOOD, &GOOD]), "10 passed, 0 failed");
        assert_eq!(last_line(&[]), "0 passed, 0 failed");
    }

    #[test]
    fn later_steps_run_after_a_failed_test() {
        assert_eq!(last_line(&[&BAD, &BROKEN, &GOOD]), "7 passed, 2 failed");
    }

    #[test]
    fn a_failed_build_stops() {
        let lines = run_steps(&workspace(), &[&GOOD, &UNBUILT, &GOOD]);
        assert!(lines[2].ran.is_none());
        let (text, total) = summary(&lines);
        assert_eq!(
            total,
            Count {
                passed: 5,
                failed: 1
            }
        );
        assert!(text.contains("not run"), "{text}");
    }

    #[test]
    fn steps_are_chosen_by_name_in_the_tables_order() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        let chosen_names =
            |chosen: Vec<&Step>| chosen.iter().map(|step| step.name).collect::<Vec<_>>();
        assert_eq!(
            chosen_names(chosen(STEPS, &names(&["tidy", "fmt"])).unwrap()),
            ["fmt", "tidy"]
        );
        assert_eq!(chosen(STEPS, &[]).unwrap().len(), STEPS.len());
        let error = chosen(STEPS, &names(&["lint"])).err().unwrap().to_string();
        assert!(
            error.contains("no step `lint`") && error.contains("clippy"),
            "{error}"
        );
    }
}
