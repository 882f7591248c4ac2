//! `wheelhouse completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::CliResult;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse completions bash > ~/.local/share/bash-completion/completions/wheelhouse
  wheelhouse completions fish > ~/.config/fish/completions/wheelhouse.fish
  wheelhouse completions zsh  > ~/.zfunc/_wheelhouse")]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(cx: &Context, args: CompletionsArgs) -> CliResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wheelhouse", &mut script);
    cx.ui.raw(&String::from_utf8_lossy(&script))
}
