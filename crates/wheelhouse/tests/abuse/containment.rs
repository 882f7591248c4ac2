//! D: the agent's process and its sandbox.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::harness::{Setting, USER, World};

/// Families of sockets that do not belong to a network namespace, or need privileges.
const VSOCK: i32 = 40;
const PACKET: i32 = 17;
const KERNEL_CRYPTO: i32 = 38;
const BLUETOOTH: i32 = 31;

impl World {
    fn plan(&self) -> Value {
        let (home, data) = (self.server.home(), self.server.data_dir());
        let run = data.join("runs").join(format!("{}-1", self.victim));
        let own = data.join("runs").join(format!("{}-1", self.session));
        let scratch = data.join("scratch").join(&self.victim);
        let git = self.repo.join(".git");
        // Without a PID namespace, the command lines and states of other processes are visible.
        let process_files: &[&str] = match self.setting.namespaces {
            true => &[
                "environ",
                "root/etc/hostname",
                "cwd/.",
                "maps",
                "cmdline",
                "status",
            ],
            false => &["environ", "root/etc/hostname", "cwd/.", "maps"],
        };
        let mut plan = json!({
            "secrets": [
                home.join(".ssh/id_ed25519"), home.join(".aws/credentials"), home.join(".config/gh/hosts.yml"),
                home.join(".netrc"), home.join(".Xauthority"), home.join(".codex/auth.json"),
                home.join("snap/firefox/common/cookies.sqlite"), home.join(".config/wheelhouse/wheelhouse.toml"),
                data.join("wheelhouse.db"), data.join("server.json"), run.join("spec.json"), own.join("spec.json"),
                scratch.join("notes.txt"), "/etc/shadow",
            ],
            "private_dirs": [home.join(".ssh"), run, scratch, data.join("homes").join(&self.victim), "/run/user", "/run/lock"],
            "sockets": [
                data.join("wheelhouse.sock"), run.join("socket"), own.join("socket"), "/run/docker.sock",
                "/run/dbus/system_bus_socket",
            ],
            "abstract_socket": self.abstract_socket.0,
            "untouchable": [
                home.join(".bashrc"), home.join(".gitconfig"), home.join(".ssh/authorized_keys"), home.join(".profile"),
                git.join("config"), git.join("hooks/pre-commit"), git.join("info/attributes"), git.join("commondir"),
                git.join("config.worktree"), git.join("objects/info/alternates"),
            ],
            "processes": [std::process::id(), self.server.about().pid],
            "process_files": process_files,
        });
        if ["strict", "container"].contains(&self.setting.tier) {
            self.add_strict(&mut plan);
        }
        plan
    }

    /// Adds what only the isolated tiers deny.
    fn add_strict(&self, plan: &mut Value) {
        let home = self.server.home();
        let extend = |list: &mut Value, more: Value| {
            let more = more.as_array().unwrap().clone();
            list.as_array_mut().unwrap().extend(more);
        };
        extend(
            &mut plan["secrets"],
            json!([
                home.join("diary.txt"),
                home.join("code/project/README.md"),
                home.join(".gitconfig"),
                self.repo.join(".git/HEAD"),
                self.repo.join(".git/config"),
                "/etc/hostname",
                "/etc/resolv.conf",
                "/proc/1/root/etc/hostname",
            ]),
        );
        extend(
            &mut plan["private_dirs"],
            json!([
                home.join("code"),
                "/var/log",
                "/var/lib",
                "/srv",
                "/mnt",
                "/sys/class/block",
                "/sys/fs/cgroup"
            ]),
        );
        let (_, port) = self.server.url().rsplit_once(':').unwrap();
        let here = |host: &str| format!("{host}:{port}");
        let outside = [
            "169.254.169.254:80",
            "10.0.0.1:443",
            "192.0.2.1:443",
            "198.51.100.1:53",
            "[2001:db8::1]:443",
        ];
        let addresses = [here("127.0.0.1"), here("127.0.0.2"), here("[::1]")];
        plan["addresses"] = json!(
            addresses
                .iter()
                .map(String::as_str)
                .chain(outside)
                .collect::<Vec<_>>()
        );
        plan["proxied"] = json!([
            here("127.0.0.1"),
            here("localhost"),
            here("[::1]"),
            here("2130706433"),
            here("0x7f.1"),
            here("[::ffff:127.0.0.1]"),
            "169.254.169.254:80",
            "evil.example:443",
            "allowed.example:22",
            "allowed.example.evil.example:443",
            "evilallowed.example:443",
            "allowed.example\u{0}.evil.example:443",
            "allowed.example:443:443",
            "sub.allowed.example:443",
        ]);
        plan["socket_families"] = json!([VSOCK, PACKET, KERNEL_CRYPTO, BLUETOOTH]);
    }
}

/// What a file and everything below it holds, to be compared.
fn snapshot(path: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => found.push((path.clone(), fs::read(&path).ok())),
        }
    }
    found.sort();
    found
}

/// Runs the probe, prints its table, and returns the names of what was not denied.
async fn allowed(setting: Setting, title: &str) -> Vec<String> {
    let world = World::new(setting).await;
    assert_eq!(world.shell("echo ready").await.trim(), "ready");
    let home = world.server.home();
    let watched: Vec<PathBuf> = [".bashrc", ".gitconfig", ".ssh", ".profile"]
        .iter()
        .map(|name| home.join(name))
        .chain(
            ["config", "hooks", "info", "commondir", "config.worktree"]
                .iter()
                .map(|name| world.repo.join(".git").join(name)),
        )
        .collect();
    let before: Vec<_> = watched.iter().map(|path| snapshot(path)).collect();
    let plan = world.plan().to_string().replace('\'', "");
    let printed = world
        .shell(&format!("{} '{plan}'", world.probe().display()))
        .await;
    let mut allowed = Vec::new();
    let mut count = 0;
    for line in printed.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{printed}"));
        let name = line["name"].as_str().unwrap();
        if name.starts_with('~') {
            continue;
        }
        count += 1;
        let denied = line["denied"] == true;
        let outcome = if denied { "denied" } else { "ALLOWED" };
        println!(
            "{title}\t{outcome}\t{name}\t{}",
            line["detail"].as_str().unwrap()
        );
        if !denied {
            allowed.push(name.to_owned());
        }
    }
    for (path, before) in watched.iter().zip(before) {
        let changed = snapshot(path) != before;
        count += 1;
        println!(
            "{title}\t{}\tchange {}\t",
            if changed { "ALLOWED" } else { "denied" },
            path.display()
        );
        if changed {
            allowed.push(format!("change {}", path.display()));
        }
    }
    println!("{title}: {count} attempts, {} allowed", allowed.len());
    allowed
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_guarded() {
    let setting = Setting {
        user: None,
        namespaces: true,
        tier: "guarded",
    };
    assert_eq!(allowed(setting, "guarded").await, Vec::<String>::new());
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_guarded_as_an_ordinary_user() {
    let user = root().then_some(USER);
    let setting = Setting {
        user,
        namespaces: true,
        tier: "guarded",
    };
    assert_eq!(
        allowed(setting, "guarded, ordinary user").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_guarded_without_namespaces() {
    // As root, Landlock alone cannot carry the tier.
    let user = root().then_some(USER);
    let setting = Setting {
        user,
        namespaces: false,
        tier: "guarded",
    };
    assert_eq!(
        allowed(setting, "guarded, Landlock alone").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_strict() {
    let setting = Setting {
        user: None,
        namespaces: true,
        tier: "strict",
    };
    assert_eq!(allowed(setting, "strict").await, Vec::<String>::new());
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_strict_as_an_ordinary_user() {
    let user = root().then_some(USER);
    let setting = Setting {
        user,
        namespaces: true,
        tier: "strict",
    };
    assert_eq!(
        allowed(setting, "strict, ordinary user").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_container() {
    let allowed = allowed(Setting::CONTAINER, "container").await;
    assert_eq!(allowed, Vec::<String>::new());
}

#[tokio::test]
async fn d1_to_d10_the_probe_is_denied_everything_in_container_as_an_ordinary_user() {
    let setting = Setting::CONTAINER.as_user();
    let allowed = allowed(setting, "container, ordinary user").await;
    assert_eq!(allowed, Vec::<String>::new());
}

#[tokio::test]
async fn the_probe_notices_what_is_allowed() {
    let setting = Setting {
        user: None,
        namespaces: true,
        tier: "none",
    };
    let allowed = allowed(setting, "none").await;
    let found = |part: &str| allowed.iter().any(|name| name.contains(part));
    for part in [
        "wheelhouse.db",
        "wheelhouse.sock",
        "spec.json",
        ".ssh/id_ed25519",
        ".Xauthority",
        ".codex/auth.json",
        "change",
        "dump core",
    ] {
        assert!(found(part), "{part}: {allowed:?}");
    }
}
