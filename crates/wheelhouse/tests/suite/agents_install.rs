//! `agents install`: what is asked, what is refused, and that the server finds what was installed.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use wh_testkit::server::{TestServer, binary};

use crate::harness::{Home, run, run_json, said};
use crate::terminal::Terminal;

/// Puts a program where the commands of a home directory find it first.
fn program(home: &Path, name: &str, script: &str) {
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = bin.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Puts an `npm` there that installs an opencode which is the built-in agent.
fn npm(home: &Path) {
    // The agent lies among its packages: of everything else in a temporary directory its sandbox shows nothing.
    let script = format!(
        "mkdir -p node_modules/.bin node_modules/opencode-ai && cd node_modules/opencode-ai || exit\n\
         ln -f {0} agent 2> /dev/null || cp {0} agent\n\
         cat > opencode <<'END'\n\
         #!/bin/sh\n\
         if [ \"$1\" = --version ]; then echo 7.7.7; exit; fi\n\
         exec \"$(dirname \"$0\")/agent\" agent echo\n\
         END\n\
         chmod +x opencode\n\
         ln -sf ../opencode-ai/opencode ../.bin/opencode",
        binary().display()
    );
    program(home, "npm", &script);
    program(home, "node", "echo v22.0.0");
}

#[test]
fn an_installed_agent_is_found_and_run_without_a_restart() {
    let server = TestServer::start();
    npm(server.home());
    let before = run_json(&server, &["agents", "show", "opencode"]);
    if before["ready"] == false {
        assert_eq!(before["install"][0], "wheelhouse agents install opencode");
    }
    let installed = run(&server, &["agents", "install", "opencode", "--yes"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    assert!(installed.stderr.contains("opencode-ai 1."), "{installed:?}");
    assert!(
        installed.stderr.contains("the server found it"),
        "{installed:?}"
    );
    let after = run_json(&server, &["agents", "show", "opencode"]);
    assert_eq!(after["ready"], true, "{after}");
    assert_eq!(after["version"], "7.7.7", "{after}");
    // It runs in its sandbox, which hides the rest of the data directory.
    let ran = run(&server, &["run", "--agent", "opencode", "say hello"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "hello\n"), "{ran:?}");

    // A second time there is nothing to do, so npm is not run and nothing is asked.
    program(server.home(), "npm", "exit 9");
    let again = run_json(&server, &["agents", "install", "opencode"]);
    assert_eq!(again["ready"], true, "{again}");
    let packages = again["packages"].as_array().unwrap();
    assert_eq!(packages.len(), 1, "{again}");
}

#[test]
fn a_person_is_asked_first() {
    let home = Home::new();
    npm(home.path());
    let install = |answer: &str| {
        let mut command = wh_testkit::server::command(home.path());
        command.args(["--data-dir", "d", "agents", "install", "opencode"]);
        let mut terminal = Terminal::start(&mut command);
        terminal.until("opencode-ai 1.");
        terminal.until("[y/N]");
        terminal.line(answer);
        terminal.wait()
    };
    let (code, shown) = install("n");
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("nothing was installed"), "{shown}");
    assert!(!home.path().join("d/agents").exists());
    let (code, shown) = install("y");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("no server is running"), "{shown}");
    assert!(home.path().join("d/agents/opencode/current").exists());
}

#[test]
fn what_cannot_be_installed_is_refused_with_what_to_do() {
    let home = Home::new();
    npm(home.path());
    let unattended = home.run(&["agents", "install", "opencode"]);
    assert_eq!(unattended.code, 2, "{unattended:?}");
    assert!(unattended.stderr.contains("--yes"), "{unattended:?}");
    let unknown = home.run(&["agents", "install", "nobody", "--yes"]);
    assert_eq!(unknown.code, 3, "{unknown:?}");
    assert!(unknown.stderr.contains("claude-code, codex"), "{unknown:?}");
    let elsewhere = ["agents", "install", "codex", "--url", "http://127.0.0.1:1"];
    let elsewhere = home.run(&elsewhere);
    assert_eq!(elsewhere.code, 2, "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("without --url"), "{elsewhere:?}");
    program(home.path(), "npm", "exit 3");
    let broken = home.run(&["--data-dir", "d", "agents", "install", "gemini", "--yes"]);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.stderr.contains("was not changed"), "{broken:?}");
    let without = home.run_with(&["agents", "install", "codex", "--yes"], |command| {
        command.env("PATH", "/nonexistent");
    });
    assert_eq!(without.code, 1, "{without:?}");
    assert!(without.stderr.contains("https://nodejs.org"), "{without:?}");
}

/// Answers npm with a package of the right name and version and other contents.
fn registry() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let own = url.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &own);
        }
    });
    url
}

fn answer(mut stream: TcpStream, own: &str) {
    let mut request = [0; 4096];
    let read = stream.read(&mut request).unwrap_or(0);
    let text = String::from_utf8_lossy(&request[..read]).into_owned();
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = if path.ends_with(".tgz") {
        b"not what was pinned".to_vec()
    } else {
        let name = path.trim_start_matches('/').replace("%2f", "/");
        let tarball = format!("{own}/package.tgz");
        let version = |version: &str| json!({ "name": name, "version": version, "dist": { "tarball": tarball } });
        let versions = json!({ "1.18.33": version("1.18.33"), "24.21.0": version("24.21.0") });
        let about =
            json!({ "name": name, "versions": versions, "dist-tags": { "latest": "1.18.33" } });
        about.to_string().into_bytes()
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(&body).ok();
}

#[test]
fn a_registry_that_serves_something_else_installs_nothing() {
    let home = Home::new();
    if !has_npm() {
        println!("skipped: npm is not installed");
        return;
    }
    let registry = registry();
    let install = ["--data-dir", "d", "agents", "install", "opencode", "--yes"];
    let refused = home.run_with(&install, |command| {
        command.env("npm_config_registry", &registry);
        command.env("npm_config_fetch_retries", "0");
    });
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("EINTEGRITY"), "{refused:?}");
    assert!(!home.path().join("d/agents/opencode/current").exists());
}

/// Returns whether the machine has npm.
fn has_npm() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join("npm").is_file())
}

/// Runs where the real agents are installed already, which takes a network.
#[test]
fn a_real_agent_is_installed_from_npm() {
    let test = std::env::current_exe().unwrap();
    let mut beside = test
        .ancestors()
        .map(|it| it.join("tools/agents/bin/claude"));
    if !beside.any(|it| it.exists()) && std::env::var_os("WHEELHOUSE_AGENTS").is_none() {
        println!("skipped: the agents are not installed; `cargo xtask agents` does that");
        return;
    }
    let server = TestServer::start();
    let mut command = server.command();
    command.args(["agents", "install", "opencode", "--yes"]);
    for name in [
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "npm_config_registry",
    ] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let installed = said(&mut command);
    assert_eq!(installed.code, 0, "{installed:?}");
    let found = run_json(&server, &["agents", "show", "opencode"]);
    assert_eq!(
        (&found["ready"], &found["version"]),
        (&true.into(), &"1.18.33".into())
    );
}

#[test]
fn a_server_that_starts_lists_the_agents_it_found() {
    let server = TestServer::start();
    let log = server.home().join("server.log");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let shown = loop {
        let shown = fs::read_to_string(&log).unwrap();
        if shown.contains("Agents:") && shown.ends_with('\n') {
            break shown;
        }
        assert!(std::time::Instant::now() < deadline, "{shown}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    let listed = run_json(&server, &["agents"]);
    for agent in listed["agents"].as_array().unwrap() {
        let name = agent["name"].as_str().unwrap();
        assert!(shown.contains(name), "{name}: {shown}");
        if agent["ready"] == false {
            let command = format!("wheelhouse agents install {name}");
            assert!(shown.contains(&command), "{command}: {shown}");
        }
    }
    assert!(shown.contains("echo ("), "{shown}");
}
