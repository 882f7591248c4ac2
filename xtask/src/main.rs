//! `cargo xtask …`: the commands a developer and CI use on this repository. `up` builds and starts the server, `test` runs
//! every check, `dist` builds what is distributed, `web` builds the dashboard, `agents` installs the coding agents they drive, `tidy` holds the rules about the code's shape, and `bench` measures. It depends on none of our crates, so that
//! it still builds when they do not.

mod agents;
mod args;
mod bench;
mod product;
mod run;
mod server;
mod test;
mod tidy;
mod tools;
mod ui;
mod up;
mod web;
mod workspace;

use std::process::ExitCode;

use args::Invocation;
use workspace::Workspace;

fn main() -> ExitCode {
    match dispatch() {
        Ok(code) => code,
        Err(error) => {
            ui::error(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> anyhow::Result<ExitCode> {
    let invocation = Invocation::parse(std::env::args().skip(1))?;
    if let Invocation::Help = invocation {
        ui::line(args::HELP);
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = Workspace::load()?;
    match invocation {
        Invocation::Help => Ok(ExitCode::SUCCESS),
        Invocation::Up(options) => up::up(&workspace, &options),
        Invocation::Dist => product::dist(&workspace).map(|()| ExitCode::SUCCESS),
        Invocation::Test(options) => test::test(&workspace, &options),
        Invocation::Agents => agents::agents(&workspace),
        Invocation::Web(task) => web::web(&workspace, task),
        Invocation::Tidy => tidy::tidy(&workspace),
        Invocation::Bench { names } => bench::bench(&workspace, &names),
    }
}
