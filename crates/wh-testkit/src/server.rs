//! The real binary's server on a temporary data directory, for tests through real surfaces.
//!
//! A test may panic at any time; whatever it started ends with it. Processes are ended by their id, never by name.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use wh_api::{KeyCreatedView, ServerFile};
use wh_client::Client;
use wh_runner::link::RunState;

/// Names a containment tier that every session of a test server gets, to run any test in it.
const TIER_VARIABLE: &str = "WHEELHOUSE_TEST_TIER";

/// Names a `wheelhouse` to test instead of the one beside the running test.
const BINARY_VARIABLE: &str = "WHEELHOUSE_BINARY";
const READY_WITHIN: Duration = Duration::from_secs(30);
const END_WITHIN: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// A server that answers. Dropping it ends the process and removes its data.
#[derive(Debug)]
pub struct TestServer {
    home: TempDir,
    child: Option<Child>,
    about: ServerFile,
    arguments: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
    /// Who the server's commands run as, when not as the test itself.
    user: Option<u32>,
}

impl TestServer {
    /// Starts a server and returns once it answers.
    ///
    /// # Panics
    ///
    /// Panics with what the server said when it does not get ready.
    pub fn start() -> Self {
        Self::start_with(&["--listen", "127.0.0.1:0"])
    }

    /// Starts a server with these arguments of `serve`.
    pub fn start_with(arguments: &[&str]) -> Self {
        let mut server = Self::stopped_with(arguments);
        server.spawn();
        server
    }

    /// Makes a server that does not run yet, so that its data can be laid out first; [`Self::restart`] starts it.
    pub fn stopped() -> Self {
        Self::stopped_with(&["--listen", "127.0.0.1:0"])
    }

    fn stopped_with(arguments: &[&str]) -> Self {
        let home = tempfile::Builder::new()
            .prefix("wh-")
            .tempdir()
            .expect("a temporary directory can be made");
        Self {
            home,
            child: None,
            about: ServerFile {
                url: String::new(),
                mcp_url: String::new(),
                pid: 0,
                version: String::new(),
            },
            arguments: arguments.iter().map(|&a| a.to_owned()).collect(),
            environment: Vec::new(),
            user: None,
        }
    }

    /// Has every command of this server run as an ordinary user. Only for a test that runs as root, on a server that has not
    /// started yet; the programs named are put where that user can run them.
    pub fn run_as(&mut self, user: u32, programs: &[&str]) {
        let bin = self.home().join("bin");
        fs::create_dir_all(&bin).expect("the folder can be made");
        for name in programs.iter().chain(&["wheelhouse"]) {
            fs::copy(built(name), bin.join(name)).expect("a program can be copied");
        }
        self.user = Some(user);
        self.give_home();
    }

    /// Gives everything in the home directory to the user that the commands run as.
    pub fn give_home(&self) {
        if let Some(user) = self.user {
            give(self.home(), user);
        }
    }

    /// Sets a variable for every command of this server from now on.
    pub fn set_env(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.environment.push((name, value.into()));
    }

    /// Writes the configuration file; a server that runs already does not read it again.
    pub fn configure(&self, text: &str) {
        let folder = self.home().join(".config/wheelhouse");
        fs::create_dir_all(&folder).expect("the folder can be made");
        fs::write(folder.join("wheelhouse.toml"), text).expect("the file can be written");
    }

    /// Returns the directory that is HOME to everything this server's commands do.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.home().join("data")
    }

    /// Returns what `server.json` says.
    pub fn about(&self) -> &ServerFile {
        &self.about
    }

    /// Returns the address, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> &str {
        &self.about.url
    }

    /// Returns a client on the local socket: the administrator.
    pub fn client(&self) -> Client {
        Client::local(&self.data_dir()).expect("a client can be made")
    }

    /// Returns a client over TCP with a key.
    pub fn client_with(&self, key: &str) -> Client {
        Client::remote(self.url(), Some(key)).expect("a client can be made")
    }

    /// Makes a key of the administrator: `full`, `read` or `client`.
    pub fn key(&self, scope: &str) -> String {
        let output = self
            .command()
            .args([
                "key", "create", "--scope", scope, "--name", "test", "--json",
            ])
            .output()
            .expect("the binary can be run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let created: KeyCreatedView = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("no key was made: {error}: {said}"));
        created.key.expect("a new key is shown")
    }

    /// Returns a command of the binary for this server's data directory, in an environment that holds nothing else.
    pub fn command(&self) -> Command {
        let mut command = match self.user {
            Some(_) => self.program(&self.home().join("bin/wheelhouse")),
            None => self.program(&binary()),
        };
        command.arg("--data-dir").arg(self.data_dir());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns a command of another program, run by the same user in the same environment.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = command_of(self.home(), program);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// Ends the server at once, as a power failure would.
    pub fn kill9(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("our own process can be killed");
            child.wait().expect("our own process can be waited for");
        }
    }

    /// Asks the server to stop and waits until it has.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let asked = pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let deadline = Instant::now() + END_WITHIN;
        while asked && Instant::now() < deadline {
            if matches!(child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(POLL);
        }
        child.kill().ok();
        child.wait().ok();
    }

    /// Starts the server again on the same data, stopping it first if it still runs. Its port may be another one.
    pub fn restart(&mut self) {
        self.stop();
        self.spawn();
    }

    /// Has every session run in the tier that [`TIER_VARIABLE`] names.
    fn raise_tier(&self) {
        let Ok(tier) = std::env::var(TIER_VARIABLE) else {
            return;
        };
        let mut command = self.command();
        let output = command.args(["config", "set", "containment.minimum", &tier]);
        let output = output.output().expect("the binary can be run");
        assert!(output.status.success(), "{output:?}");
    }

    fn spawn(&mut self) {
        let log = self.home().join("server.log");
        let output = fs::File::create(&log).expect("the log can be made");
        let child = self
            .command()
            .arg("serve")
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file can be shared"))
            .stderr(output)
            .spawn()
            .expect("the binary can be started");
        let pid = child.id();
        self.child = Some(child);
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            // A killed server leaves its file; only one of this process counts.
            if let Some(about) = self.server_file().filter(|about| about.pid == pid) {
                self.about = about;
                return self.raise_tier();
            }
            let ended = self
                .child
                .as_mut()
                .and_then(|c| c.try_wait().ok().flatten());
            if ended.is_some() || Instant::now() > deadline {
                let said = fs::read_to_string(&log).unwrap_or_default();
                panic!("the server did not get ready ({ended:?}):\n{said}");
            }
            thread::sleep(POLL);
        }
    }

    fn server_file(&self) -> Option<ServerFile> {
        let text = fs::read_to_string(self.data_dir().join("server.json")).ok()?;
        serde_json::from_str(&text).ok()
    }
}

impl TestServer {
    /// Returns the runs of this server, and whether their runners live.
    pub fn runs(&self) -> Vec<RunState> {
        wh_runner::link::list_runs(&self.data_dir().join("runs")).unwrap_or_default()
    }
}

impl Drop for TestServer {
    /// Stops the server and, other than a server that is stopped, ends its agents too.
    fn drop(&mut self) {
        self.stop();
        for runner in runners_in(&self.data_dir().join("runs")) {
            runner.kill();
        }
    }
}

/// Returns the runners of run directories below `runs`. They are found by their command line: one that has just started has not recorded itself
/// yet.
fn runners_in(runs: &Path) -> Vec<wh_runner::process::ProcessMark> {
    let runs = runs.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0)
                .any(|argument| argument.starts_with(runs))
        })
        .filter_map(wh_runner::process::ProcessMark::of)
        .collect()
}

/// Returns a command of the binary in an environment that holds a home directory and a path, and nothing else.
///
/// Programs that a test puts into `bin` of the home directory are found first.
pub fn command(home: &Path) -> Command {
    command_of(home, &binary())
}

fn give(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).expect("root can give files away");
    if path.is_dir() && !path.is_symlink() {
        let entries = fs::read_dir(path).expect("our own directory");
        entries
            .flatten()
            .for_each(|entry| give(&entry.path(), user));
    }
}

#[expect(clippy::disallowed_methods, reason = "this runs the binary under test")]
fn command_of(home: &Path, program: &Path) -> Command {
    let mut path = home.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .current_dir(home)
        .stdin(Stdio::null());
    command
}

/// Returns the binary under test: it lies two folders above the running test, where cargo puts both.
pub fn binary() -> PathBuf {
    if let Some(named) = std::env::var_os(BINARY_VARIABLE) {
        return named.into();
    }
    built("wheelhouse")
}

/// Returns a program of this workspace that was built with the running test.
pub fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the running test has a path");
    let folders = test.ancestors().skip(1);
    let found = folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} was not built: run `cargo build --workspace`"))
}
