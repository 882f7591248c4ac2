//! The command line of xtask, parsed by hand: clap belongs to the product's binary, and this is small.

use anyhow::{Result, bail};

use crate::product::Profile;

pub(crate) const HELP: &str = "\
cargo xtask up [--dev] [ARGS]       build the dashboard and wheelhouse and start it; ARGS go to `wheelhouse serve`,
                                    such as --listen 127.0.0.1:4190 --data-dir DIR; --dev builds without optimisation
cargo xtask dist                    build the binary for distribution, with its debug information in a separate file
cargo xtask test [STEP...]          run the checks, all of them or the named steps
cargo xtask test --agents           install the coding agents, and run the step that drives them
cargo xtask test --list             list the steps
cargo xtask web build               build the dashboard into web/dist, which the next build of wheelhouse embeds
cargo xtask web dev                 serve the dashboard from its sources, beside a running server
cargo xtask agents                  install the coding agents into target/tools/agents and say where they are
cargo xtask tidy                    check the shape of the code: crate edges, file sizes, forbidden words
cargo xtask bench [NAME...]         run benchmarks: mcp, events, startup, context, sessions, lists, subscribers, bad-keys, fairness, web";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    Help,
    Up(UpOptions),
    Test(TestOptions),
    Dist,
    Agents,
    Web(WebTask),
    Tidy,
    Bench { names: Vec<String> },
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UpOptions {
    pub(crate) profile: Profile,
    pub(crate) serve_args: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebTask {
    Build,
    Dev,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TestOptions {
    List,
    /// Runs the named steps, in the table's order; no name means all.
    Run {
        steps: Vec<String>,
        /// Installs the coding agents first.
        with_agents: bool,
    },
}

impl Invocation {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut args = args.into_iter();
        let Some(command) = args.next() else {
            return Ok(Self::Help);
        };
        let rest: Vec<String> = args.collect();
        match command.as_str() {
            "help" | "-h" | "--help" => Ok(Self::Help),
            _ if rest
                .first()
                .is_some_and(|arg| arg == "-h" || arg == "--help") =>
            {
                Ok(Self::Help)
            }
            "up" => parse_up(rest),
            "dist" => nothing_after(&command, &rest, Self::Dist),
            "test" => parse_test(rest),
            "agents" => nothing_after(&command, &rest, Self::Agents),
            "web" => parse_web(&rest),
            "tidy" => nothing_after(&command, &rest, Self::Tidy),
            "bench" => Ok(Self::Bench {
                names: names_only("bench", rest)?,
            }),
            other => bail!("there is no command `{other}`\n\n{HELP}"),
        }
    }
}

fn parse_up(args: Vec<String>) -> Result<Invocation> {
    let mut options = UpOptions::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dev" => options.profile = Profile::Dev,
            "--" => options.serve_args.extend(args.by_ref()),
            flag if flag.starts_with("--") => {
                options.serve_args.push(arg);
                options.serve_args.extend(args.by_ref());
            }
            other => bail!("up does not know `{other}`\n\n{HELP}"),
        }
    }
    Ok(Invocation::Up(options))
}

fn parse_web(args: &[String]) -> Result<Invocation> {
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["build"] => Ok(Invocation::Web(WebTask::Build)),
        ["dev"] => Ok(Invocation::Web(WebTask::Dev)),
        _ => bail!("web takes `build` or `dev`\n\n{HELP}"),
    }
}

fn parse_test(mut args: Vec<String>) -> Result<Invocation> {
    if args == ["--list"] {
        return Ok(Invocation::Test(TestOptions::List));
    }
    let count = args.len();
    args.retain(|arg| arg != "--agents");
    let with_agents = args.len() < count;
    let mut steps = names_only("test", args)?;
    if with_agents {
        steps.push("agents".to_owned());
    }
    Ok(Invocation::Test(TestOptions::Run { steps, with_agents }))
}

fn nothing_after(command: &str, rest: &[String], invocation: Invocation) -> Result<Invocation> {
    match rest.first() {
        None => Ok(invocation),
        Some(arg) => bail!("{command} takes no arguments, got `{arg}`\n\n{HELP}"),
    }
}

fn names_only(command: &str, args: Vec<String>) -> Result<Vec<String>> {
    if let Some(flag) = args.iter().find(|arg| arg.starts_with('-')) {
        bail!("{command} does not know `{flag}`\n\n{HELP}");
    }
    Ok(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Invocation> {
        Invocation::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn what_is_not_ours_goes_to_serve() {
        let expected = UpOptions {
            profile: Profile::Dev,
            serve_args: vec!["--listen".into(), "127.0.0.1:0".into()],
        };
        assert_eq!(
            parse("up --dev -- --listen 127.0.0.1:0").unwrap(),
            Invocation::Up(expected)
        );
        assert_eq!(
            parse("up --dev --listen 127.0.0.1:0").unwrap(),
            parse("up --dev -- --listen 127.0.0.1:0").unwrap()
        );
        assert_eq!(parse("up").unwrap(), Invocation::Up(UpOptions::default()));
    }

    #[test]
    fn steps_and_benchmarks_are_names() {
        let steps = vec!["fmt".into(), "tidy".into()];
        assert_eq!(
            parse("test fmt tidy").unwrap(),
            Invocation::Test(TestOptions::Run {
                steps,
                with_agents: false
            })
        );
        let steps = vec!["fmt".into(), "agents".into()];
        assert_eq!(
            parse("test --agents fmt").unwrap(),
            Invocation::Test(TestOptions::Run {
                steps,
                with_agents: true
            })
        );
        assert_eq!(
            parse("test --list").unwrap(),
            Invocation::Test(TestOptions::List)
        );
        assert_eq!(parse("web dev").unwrap(), Invocation::Web(WebTask::Dev));
        let names = vec!["mcp".into()];
        assert_eq!(parse("bench mcp").unwrap(), Invocation::Bench { names });
    }

    #[test]
    fn unknown_words_are_refused_with_the_usage() {
        for line in [
            "serve",
            "up fast",
            "test --quick",
            "dist now",
            "tidy all",
            "web",
            "web serve",
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains("cargo xtask up"), "{line}: {error}");
        }
        assert_eq!(parse("").unwrap(), Invocation::Help);
        assert_eq!(parse("test --help").unwrap(), Invocation::Help);
        assert_eq!(parse("dist").unwrap(), Invocation::Dist);
    }
}
