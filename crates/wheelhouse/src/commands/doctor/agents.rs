//! Which agents can be run, how they are contained, and how many run now.

use wh_agents::{AGENTS_DIR, Agents};
use wh_api::AgentView;
use wh_client::Client;
use wh_runner::{
    cgroup::{CgroupSetting, Cgroups, inspect},
    process::{Containment, containment},
    sandbox::{Support, Unsupported, probe},
};

use super::Check;
use crate::config::Config;
use crate::serve::{DataDir, find_engine, turn_namespaces_off};

pub(super) async fn checks(config: &Config) -> Vec<Check> {
    let mut checks: Vec<_> = agents(config).await.iter().map(agent).collect();
    checks.push(processes(containment()));
    let support = support(config).await;
    checks.extend([guarded(&support), strict(&support)]);
    checks.push(container(config, &support).await);
    let server = super::server::running(&config.data_dir.value);
    let setting = &config.containment.cgroup;
    checks.push(limits(setting, inspect(setting, server), server.is_some()));
    checks.push(runs(config));
    checks
}

/// Asks the server, whose path counts, or looks itself when none runs.
async fn agents(config: &Config) -> Vec<AgentView> {
    if let Ok(client) = Client::local(&config.data_dir.value)
        && let Ok(list) = client.agent_list().await
    {
        return list.agents;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let agents = Agents::new(path, config.agents.clone());
    let agents = agents.with_installed(config.data_dir.value.join(AGENTS_DIR));
    let found = agents.list().await;
    found.into_iter().map(AgentView::from).collect()
}

fn agent(agent: &AgentView) -> Check {
    const NAME: &str = "agent";
    let name = &agent.name;
    if !agent.ready {
        let message = format!("{name} lacks {}", agent.missing.join(", "));
        return Check::warn(NAME, message, agent.install.join("; "));
    }
    match &agent.version {
        Some(version) => Check::ok(NAME, format!("{name} is ready, version {version}")),
        None => Check::ok(NAME, format!("{name} is ready")),
    }
}

/// Tries the mechanisms in a directory beside the sessions' own, as the server does.
async fn support(config: &Config) -> Support {
    let scratch = config.data_dir.value.join("homes/.doctor");
    let tried = tokio::task::spawn_blocking(move || probe(&scratch)).await;
    let mut support = tried.unwrap_or_else(|error| {
        let failed = Unsupported {
            reason: error.to_string(),
            remedy: "run `wheelhouse doctor` again".to_owned(),
        };
        Support {
            namespaces: Err(failed.clone()),
            strict: Err(failed),
            landlock_abi: 0,
        }
    });
    if config.containment.without_namespaces {
        turn_namespaces_off(&mut support);
    }
    support
}

/// A warning at most: nobody has to use this tier.
fn strict(support: &Support) -> Check {
    const NAME: &str = "tier strict";
    match &support.strict {
        Ok(()) => Check::ok(NAME, "works: a built root and a network of its own"),
        Err(why) => Check::warn(
            NAME,
            format!("does not work: {}", why.reason),
            why.remedy.clone(),
        ),
    }
}

/// A warning at most, as for `strict`. Asks the engine for its version, because Docker without its daemon does not work.
async fn container(config: &Config, support: &Support) -> Check {
    const NAME: &str = "tier container";
    let warn = |why: &Unsupported| {
        let message = format!("does not work: {}", why.reason);
        Check::warn(NAME, message, why.remedy.clone())
    };
    if let Err(why) = &support.strict {
        return warn(why);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<_> = std::env::split_paths(&path).collect();
    let engine = match find_engine(&path, config.containment.engine) {
        Ok(engine) => engine,
        Err(why) => return warn(&why),
    };
    match engine.version().await {
        Ok(version) => {
            let name = engine.kind.as_str();
            Check::ok(NAME, format!("works: images from {name} {version}"))
        }
        Err(error) => {
            let remedy = format!(
                "run `{} version` to see what is wrong",
                engine.kind.as_str()
            );
            Check::warn(NAME, format!("does not work: {error}"), remedy)
        }
    }
}

/// The version of Landlock that restricts signals and abstract sockets.
const LANDLOCK_SCOPES: i32 = 6;

fn guarded(support: &Support) -> Check {
    const NAME: &str = "tier guarded";
    let abi = support.landlock_abi;
    match (&support.namespaces, support.best()) {
        (Ok(()), _) if abi > 0 && abi < LANDLOCK_SCOPES => Check::ok(
            NAME,
            format!(
                "works: namespaces, and Landlock (ABI {abi}) behind them; this kernel is older than 6.12, so Landlock \
                 does not repeat the rules on signals and abstract sockets: agents can connect to abstract sockets of this machine"
            ),
        ),
        (Ok(()), _) if abi > 0 => Check::ok(
            NAME,
            format!("works: namespaces, and Landlock (ABI {abi}) behind them"),
        ),
        (Ok(()), _) => Check::warn(
            NAME,
            "works: namespaces; this kernel has no Landlock behind them",
            "boot with `lsm=landlock,…` or a kernel that has Landlock",
        ),
        (Err(why), Some(_)) => Check::warn(
            NAME,
            format!(
                "works by Landlock (ABI {abi}) alone, without namespaces: {}{}",
                why.reason,
                if abi < LANDLOCK_SCOPES {
                    "; this kernel is older than 6.12, so agents can send signals to other processes of the server's user"
                } else {
                    ""
                }
            ),
            why.remedy.clone(),
        ),
        (Err(why), None) => Check::fail(
            NAME,
            format!("does not work: {}; Landlock has ABI {abi}", why.reason),
            why.remedy.clone(),
        ),
    }
}

fn processes(containment: Containment) -> Check {
    const NAME: &str = "processes";
    match containment {
        Containment::PidNamespace => {
            Check::ok(NAME, "a PID namespace holds each agent; nothing escapes")
        }
        Containment::UserNamespace => Check::ok(
            NAME,
            "a PID namespace in a user namespace holds each agent; nothing escapes",
        ),
        Containment::Tagged => Check::warn(
            NAME,
            "agents are held by a tag and a walk of their tree; a process that clears its \
             environment can outlive a runner that is killed",
            "allow user namespaces without privileges, such as with \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
        ),
    }
}

/// Tells what enforces the limits of sessions. A warning at most: without cgroups the runners watch the limits.
fn limits(
    setting: &CgroupSetting,
    found: Result<Option<Cgroups>, Unsupported>,
    is_running: bool,
) -> Check {
    const NAME: &str = "limits";
    const WATCHED: &str = "watched every 250 ms and set per process";
    match (found, setting) {
        (Ok(Some(cgroups)), _) => {
            let (base, controllers) = (cgroups.base().display(), cgroups.controllers());
            Check::ok(
                NAME,
                format!("cgroups in {base}; controllers: {controllers}"),
            )
        }
        (Ok(None), _) => Check::ok(NAME, format!("{WATCHED}; cgroups are off")),
        (Err(_), CgroupSetting::Auto) if !is_running => Check::ok(
            NAME,
            format!("{WATCHED}, unless systemd delegates a cgroup to the server that is started"),
        ),
        (Err(why), CgroupSetting::Auto) => {
            Check::warn(NAME, format!("{WATCHED}: {}", why.reason), why.remedy)
        }
        (Err(why), _) => Check::fail(NAME, why.reason, why.remedy),
    }
}

fn runs(config: &Config) -> Check {
    const NAME: &str = "live runs";
    let root = DataDir::new(&config.data_dir.value).runs();
    match wh_runner::link::list_runs(&root) {
        Ok(runs) => {
            let live = runs.iter().filter(|run| run.alive.is_some()).count();
            Check::ok(NAME, live.to_string())
        }
        Err(error) => {
            let message = format!("cannot read {}: {error}", super::shown(&root));
            Check::warn(NAME, message, "see who owns the directory")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn what_an_agent_lacks_comes_with_how_to_get_it() {
        let ready = AgentView {
            name: "codex".to_owned(),
            title: String::new(),
            about: String::new(),
            origin: String::new(),
            ready: true,
            version: Some("1.2".to_owned()),
            missing: Vec::new(),
            install: Vec::new(),
            models: Vec::new(),
        };
        let check = agent(&ready);
        assert_eq!(check.status, Status::Ok);
        assert_eq!(check.message, "codex is ready, version 1.2");
        let check = agent(&AgentView {
            ready: false,
            missing: vec!["codex-acp".to_owned()],
            install: vec!["npm install codex-acp".to_owned()],
            ..ready
        });
        assert_eq!(check.status, Status::Warn);
        assert_eq!(check.message, "codex lacks codex-acp");
        assert_eq!(check.hint.as_deref(), Some("npm install codex-acp"));
    }

    #[test]
    fn guarded_is_told_with_what_enforces_it_and_what_to_do() {
        let support = |namespaces: bool, landlock_abi| {
            let tried = namespaces.then_some(()).ok_or_else(|| Unsupported {
                reason: "forbidden".to_owned(),
                remedy: "allow it".to_owned(),
            });
            Support {
                namespaces: tried.clone(),
                strict: tried,
                landlock_abi,
            }
        };
        assert_eq!(strict(&support(true, 0)).status, Status::Ok);
        let none = strict(&support(false, 7));
        assert_eq!(
            (none.status, none.hint.as_deref()),
            (Status::Warn, Some("allow it"))
        );
        assert_eq!(guarded(&support(true, 7)).status, Status::Ok);
        assert_eq!(guarded(&support(true, 0)).status, Status::Warn);
        let alone = guarded(&support(false, 4));
        assert_eq!(
            (alone.status, alone.hint.as_deref()),
            (Status::Warn, Some("allow it"))
        );
        assert_eq!(guarded(&support(false, 0)).status, Status::Fail);
        let message = |namespaces, abi| guarded(&support(namespaces, abi)).message;
        assert!(message(true, 5).contains("abstract sockets"));
        assert!(message(false, 5).contains("send signals"));
        assert!(!message(true, 6).contains("older") && !message(false, 6).contains("older"));
        let mut off = support(true, 7);
        turn_namespaces_off(&mut off);
        let hint = strict(&off).hint.unwrap();
        assert!(hint.contains("namespaces = false"), "{hint}");
    }

    #[test]
    fn limits_without_cgroups_come_with_what_to_do() {
        let missing = || {
            Err(Unsupported {
                reason: "not delegated".to_owned(),
                remedy: "delegate it".to_owned(),
            })
        };
        let directory = CgroupSetting::Directory("/sys/fs/cgroup/x".into());
        let check = limits(&CgroupSetting::Auto, missing(), true);
        assert_eq!(
            (check.status, check.hint.as_deref()),
            (Status::Warn, Some("delegate it"))
        );
        // Whoever runs doctor is in another cgroup than the server will be.
        let check = limits(&CgroupSetting::Auto, missing(), false);
        assert_eq!((check.status, check.hint), (Status::Ok, None));
        assert_eq!(limits(&directory, missing(), false).status, Status::Fail);
        assert_eq!(
            limits(&CgroupSetting::Off, Ok(None), true).status,
            Status::Ok
        );
    }

    #[test]
    fn a_weak_containment_is_a_warning() {
        assert_eq!(processes(Containment::PidNamespace).status, Status::Ok);
        assert_eq!(processes(Containment::UserNamespace).status, Status::Ok);
        assert_eq!(processes(Containment::Tagged).status, Status::Warn);
    }
}
