//! What the configuration file says about loops: `[loops]` and `[loops.hooks]`.
//!
//! A hook runs with the rights of the server, so it is named here and nowhere else: no request, and no agent, can set one.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;
use wh_domain::{HookPoint, LoopHooks};

use super::Env;

/// The longest that a hook may take.
const SECONDS_MAX: u64 = 3_600;

/// The variables of the server that a hook has too.
const INHERITED: [&str; 6] = ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"];

/// The table `[loops]`; what is absent has its default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileLoops {
    /// How long each hook may take.
    hook_seconds: Option<Spanned<u64>>,
    /// Programs with their arguments, by the points at which they are run.
    #[serde(default)]
    hooks: BTreeMap<String, Spanned<Vec<String>>>,
    /// Variables that hooks have beside a few of the server's own.
    #[serde(default)]
    hook_env: BTreeMap<String, String>,
}

/// What is wrong, and where, if that can be told by a command.
type Refusal<'f> = (Option<&'f Spanned<Vec<String>>>, String);

/// Reads the hooks, or says what is wrong with which.
pub(super) fn read<'f>(loops: &'f FileLoops, env: Env<'_>) -> Result<LoopHooks, Refusal<'f>> {
    let mut hooks = LoopHooks::default();
    if let Some(seconds) = &loops.hook_seconds {
        hooks.time_limit = match *seconds.get_ref() {
            seconds @ 1..=SECONDS_MAX => Duration::from_secs(seconds),
            _ => {
                return Err((
                    None,
                    format!("hook_seconds must be from 1 to {SECONDS_MAX}"),
                ));
            }
        };
    }
    for (name, spanned) in &loops.hooks {
        let refuse = |why: String| (Some(spanned), why);
        let Some(point) = HookPoint::parse(name) else {
            let known = HookPoint::ALL.map(HookPoint::as_str).join(", ");
            return Err(refuse(format!(
                "there is no hook {name:?}; there are {known}"
            )));
        };
        let command = spanned.get_ref();
        check(command).map_err(|why| refuse(format!("the hook {name:?} {why}")))?;
        hooks.commands.insert(point, command.clone());
    }
    let inherited = INHERITED
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), env(name)?)));
    hooks.environment = inherited.collect();
    hooks.environment.extend(loops.hook_env.clone());
    match hooks
        .environment
        .iter()
        .all(|(name, value)| is_variable(name, value))
    {
        true => Ok(hooks),
        false => Err((None, "a variable of hook_env cannot be set".to_owned())),
    }
}

/// Refuses what would be looked for in a worktree, where agents write.
fn check(command: &[String]) -> Result<(), &'static str> {
    let Some(program) = command.first().filter(|program| !program.is_empty()) else {
        return Err("needs a program and its arguments");
    };
    if program.contains('/') && !program.starts_with('/') {
        return Err("must name a program of the PATH, or one by its path from the root");
    }
    match command.iter().any(|word| word.contains('\0')) {
        true => Err("holds a zero byte"),
        false => Ok(()),
    }
}

fn is_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}
