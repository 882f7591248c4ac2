//! The tier `strict`: readable paths, initial home directory and network environment.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use wh_agents::ModelRoute;
use wh_runner::{PROXY_PORT, TOOLS_PORT, sandbox::PrivateNetwork};

/// Programs, libraries and settings of the system that every program may need; no data, and nothing that is secret.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/sys/devices/system/cpu",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python3",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];

/// Toolchains and their caches, below the home directory of the server's user.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun",
    ".cargo/bin",
    ".cargo/git",
    ".cargo/registry",
    ".deno",
    ".local/bin",
    ".local/lib",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go",
];

/// The most programs of one directory whose symlinks are followed.
const LINKS_MAX: usize = 2_000;

/// The most symlinks of one path that are followed; the kernel follows no more.
const PATH_LINKS_MAX: usize = 40;

/// Maximum size of a settings file to copy.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// Placeholder for the model's key, for agents that require one to start.
const KEY_PLACEHOLDER: &str = "held-by-wheelhouse";

/// Returns what of the system and its toolchains is readable.
pub(super) fn readable(home: Option<&Path>, extra: &[PathBuf]) -> BTreeSet<PathBuf> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let toolchains = home
        .into_iter()
        .flat_map(|home| TOOLCHAINS.iter().map(move |name| home.join(name)));
    let all = system.chain(toolchains).chain(extra.iter().cloned());
    all.filter(|path| fs::symlink_metadata(path).is_ok())
        .collect()
}

/// Returns where the symlinks in these directories of programs lead, as far as that is outside of them.
pub(super) fn linked_programs(dirs: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for dir in dirs.iter().filter(|dir| !dir.starts_with("/usr")) {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let links = entries
            .take(LINKS_MAX)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let targets = links.filter_map(|link| link.path().canonicalize().ok());
        found.extend(targets.filter(|target| target.is_file() && !target.starts_with(dir)));
    }
    found
}

/// Returns the symlinks by which a path leads to where it is, so that it can be used in a built root as it is written.
pub(super) fn links_of(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = path.to_owned();
    while found.len() < PATH_LINKS_MAX {
        let mut above: Vec<_> = rest.ancestors().collect();
        above.reverse();
        let is_link = |path: &&&Path| path.is_symlink();
        let Some((link, target)) = above
            .iter()
            .find(is_link)
            .and_then(|link| Some((link.to_path_buf(), fs::read_link(link).ok()?)))
        else {
            break;
        };
        let below = rest.strip_prefix(&link).unwrap_or(Path::new(""));
        let next = link.parent().unwrap_or(Path::new("/")).join(target);
        rest = match below.as_os_str().is_empty() {
            true => next,
            false => next.join(below),
        };
        found.push(link);
    }
    found
}

/// Gives the private home directory the agent's own settings, unless it has some already.
pub(super) fn copy_settings(from: &Path, to: &Path, names: &[String]) -> io::Result<()> {
    for name in names {
        let (source, target) = (from.join(name), to.join(name));
        let Ok(found) = fs::symlink_metadata(&source) else {
            continue;
        };
        if !found.is_file() || found.len() > CONFIG_BYTES_MAX || target.exists() {
            continue;
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(&source, &target)?;
    }
    Ok(())
}

/// Returns the ports that the runner serves in the agent's network.
pub(super) fn network(model: Option<&ModelRoute>) -> PrivateNetwork {
    let ports = [TOOLS_PORT, PROXY_PORT].into_iter();
    PrivateNetwork {
        ports: ports.chain(model.map(|model| model.port)).collect(),
    }
}

/// Points the agent at the proxy and at its model, and takes the model's key out of its environment.
pub(super) fn add_environment(
    model: Option<&ModelRoute>,
    environment: &mut BTreeMap<String, String>,
) {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] {
        environment.insert(name.to_owned(), proxy.clone());
    }
    for name in ["NO_PROXY", "no_proxy"] {
        environment.insert(name.to_owned(), "127.0.0.1,localhost,::1".to_owned());
    }
    environment.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
    let Some(model) = model else { return };
    if let Some(name) = &model.key_variable {
        environment.insert(name.clone(), KEY_PLACEHOLDER.to_owned());
    }
    if let Some(name) = &model.url_variable {
        let url = format!("http://127.0.0.1:{}", model.port);
        environment.insert(name.clone(), url);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use wh_domain::SecretText;

    use super::*;

    #[test]
    fn programs_behind_symlinks_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let (bin, tool) = (dir.path().join("bin"), dir.path().join("tools/node"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(tool.parent().unwrap()).unwrap();
        fs::write(&tool, "").unwrap();
        fs::write(bin.join("own"), "").unwrap();
        symlink(&tool, bin.join("node")).unwrap();
        symlink("own", bin.join("alias")).unwrap();
        symlink("/nonexistent", bin.join("broken")).unwrap();
        let found = linked_programs(&[bin.canonicalize().unwrap()]);
        assert_eq!(found, BTreeSet::from([tool.canonicalize().unwrap()]));
    }

    #[test]
    fn every_symlink_of_a_path_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/tools/bin")).unwrap();
        symlink(root.join("real"), root.join("first")).unwrap();
        symlink("tools", root.join("real/second")).unwrap();
        let links = links_of(&root.join("first/second/bin"));
        assert_eq!(links, [root.join("first"), root.join("real/second")]);
        assert_eq!(
            links_of(&root.join("real/tools/bin")),
            Vec::<PathBuf>::new()
        );
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(links_of(&root.join("loop")).len(), PATH_LINKS_MAX);
    }

    #[test]
    fn settings_are_copied_once_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (home, own) = (dir.path().join("home"), dir.path().join("own"));
        fs::create_dir_all(home.join(".agent")).unwrap();
        fs::write(home.join(".agent/settings"), "theirs").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        symlink(dir.path().join("secret"), home.join(".agent/link")).unwrap();
        let names = [".agent/settings", ".agent/link", ".agent/none"].map(str::to_owned);
        copy_settings(&home, &own, &names).unwrap();
        assert!(!own.join(".agent/link").exists());
        fs::write(own.join(".agent/settings"), "own").unwrap();
        copy_settings(&home, &own, &names).unwrap();
        assert_eq!(
            fs::read_to_string(own.join(".agent/settings")).unwrap(),
            "own"
        );
    }

    #[test]
    fn the_key_stays_out_of_the_environment() {
        let model = ModelRoute {
            url: "https://model.example".to_owned(),
            port: 3130,
            key_variable: Some("KEY".to_owned()),
            url_variable: Some("URL".to_owned()),
            key: SecretText::new("sk-secret".to_owned()),
            header: "authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
        };
        let mut environment = BTreeMap::from([("KEY".to_owned(), "sk-secret".to_owned())]);
        add_environment(Some(&model), &mut environment);
        assert!(
            !environment
                .values()
                .any(|value| value.contains("sk-secret"))
        );
        assert_eq!(environment["URL"], "http://127.0.0.1:3130");
        assert_eq!(environment["HTTPS_PROXY"], "http://127.0.0.1:3128");
    }
}
