//! Getting commits from elsewhere.
//!
//! The transfer runs in a view: neither `url.*.insteadOf`, `http.proxy`, `core.sshCommand` nor a credential helper of the
//! repository is read, so a credential goes to the address that was asked for and nowhere else.

use std::{
    ffi::OsString,
    fmt, fs, io,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::io::AsyncReadExt;
use wh_domain::{BranchName, HostLogin, RemoteEndpoint, RepoSource, TransferLimits};

use crate::{
    CommitId, GitError, RepoHandle, child::Group, command::Git, erase::erase, view::View,
    walk::blocking,
};

/// How often the bytes that were received are counted.
const COUNT_EVERY: Duration = Duration::from_millis(250);

/// Settings for every transfer: what is received stays in one pack, where it is counted, and a connection on which
/// nothing comes is given up.
const SETTINGS: &[&str] = &[
    "fetch.unpackLimit=1",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=60",
];

/// What the name of a mirror that is not whole begins with.
const PARTIAL: &str = ".partial-";

/// Is told git's lines of progress while a transfer goes on.
pub type Progress<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A header that proves who is asking; given to one process and one host.
#[derive(Clone)]
pub struct HttpHeader {
    line: String,
    /// What must not be shown, should the host send it back: the value of the header, and what it is made of.
    hidden: Vec<String>,
}

impl HttpHeader {
    /// Takes a whole header line, such as `Authorization: Bearer …`.
    pub fn new(line: String) -> Result<Self, NotAHeader> {
        let (_, value) = line.split_once(": ").ok_or(NotAHeader)?;
        if line.chars().any(char::is_control) {
            return Err(NotAHeader);
        }
        let word = value.rsplit(' ').next().unwrap_or(value).to_owned();
        let hidden = vec![word];
        Ok(Self { line, hidden })
    }

    /// Returns the header of HTTP's basic authentication.
    pub fn basic(login: &HostLogin) -> Result<Self, NotAHeader> {
        use base64::prelude::{BASE64_STANDARD, Engine};
        let token = login.token().expose();
        let pair = BASE64_STANDARD.encode(format!("{}:{token}", login.username()));
        let mut header = Self::new(format!("Authorization: Basic {pair}"))?;
        header.hidden.push(token.to_owned());
        Ok(header)
    }

    /// Replaces the secret wherever a text holds it.
    fn masked(&self, text: &str) -> String {
        let hide = |text: String, word: &String| text.replace(word, "[secret]");
        let words = self.hidden.iter().filter(|word| !word.is_empty());
        words.fold(text.to_owned(), hide)
    }
}

impl fmt::Debug for HttpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpHeader(…)")
    }
}

/// The text is not one header line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a header is one line, a name and a value")]
pub struct NotAHeader;

/// The addresses that a host name stands for. Git connects to these and does not resolve the name again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedHost {
    pub endpoint: RemoteEndpoint,
    /// At least one.
    pub addresses: Vec<IpAddr>,
}

/// Where to transfer from, and how.
#[derive(Clone, Debug)]
pub struct Transfer<'a> {
    pub source: &'a RepoSource,
    pub header: Option<&'a HttpHeader>,
    /// Restricts the transfer to these addresses; nothing is redirected elsewhere then.
    pub pin: Option<&'a PinnedHost>,
    /// Certificates that the host's own is checked against, in place of the system's.
    pub ca_file: Option<&'a Path>,
    pub limits: TransferLimits,
}

impl<'a> Transfer<'a> {
    /// Returns a transfer from anywhere, with no credential.
    pub fn of(source: &'a RepoSource) -> Self {
        Self {
            source,
            header: None,
            pin: None,
            ca_file: None,
            limits: TransferLimits::default(),
        }
    }

    /// Removes the secret from what git printed: a host may send back what it was sent.
    fn masked(&self, text: &str) -> String {
        match self.header {
            Some(header) => header.masked(text),
            None => text.to_owned(),
        }
    }

    pub(crate) fn masked_error(&self, error: GitError) -> GitError {
        match error {
            GitError::Failed { message } => GitError::failed(self.masked(&message)),
            other => other,
        }
    }
}

impl RepoHandle {
    /// Fetches all branches of the source into `refs/remotes/<remote>/…` and returns the names that moved.
    ///
    /// Local branches are left alone, and branches that vanished at the source are kept.
    pub async fn fetch(
        &self,
        transfer: &Transfer<'_>,
        remote: &BranchName,
        progress: Progress<'_>,
    ) -> Result<Vec<String>, GitError> {
        let source = transfer.source;
        let known = self.refs_under(&["refs/"]).await?;
        let view = View::of(self)?.with_refs(&known)?;
        let git = prepared(view.git(), transfer)
            .args(["fetch", "--progress", "--no-tags", "--no-write-fetch-head"])
            .args(["--no-auto-maintenance", "--no-recurse-submodules", "--"])
            .arg(source.as_text())
            .arg(format!("+refs/heads/*:refs/remotes/{}/*", remote.as_str()));
        let tell = |line: &str| progress(&transfer.masked(line));
        let run = self.run_within(git, transfer.limits, &tell).await;
        run.map_err(|error| transfer.masked_error(error))?;
        let prefix = format!("refs/remotes/{}/", remote.as_str());
        let said = view
            .git()
            .args(["for-each-ref", "--format=%(objectname) %(refname)", "--"])
            .arg(&prefix)
            .text()
            .await?;
        let mut moved = Vec::new();
        for (id, name) in said.lines().filter_map(|line| line.split_once(' ')) {
            let new = CommitId::said(id)?;
            let old = known.iter().find(|(known, _)| known == name);
            let old = old.map(|(_, id)| id);
            if old != Some(&new) {
                self.ref_set(name, &new, old).await?;
                moved.push(name.to_owned());
            }
        }
        Ok(moved)
    }

    /// Makes a bare repository at `dir` that mirrors the source; it appears there only when it is whole.
    ///
    /// The source's default branch becomes a local branch and `HEAD`.
    pub async fn mirror(
        dir: &Path,
        transfer: &Transfer<'_>,
        progress: Progress<'_>,
    ) -> Result<Self, GitError> {
        let parent = dir.parent().ok_or_else(|| not_usable(dir))?;
        fs::create_dir_all(parent).map_err(GitError::Start)?;
        if fs::symlink_metadata(dir).is_ok() {
            return Err(GitError::failed(format!("{} exists", dir.display())));
        }
        let made = tempfile::Builder::new().prefix(PARTIAL).tempdir_in(parent);
        let made = made.map_err(GitError::Start)?;
        let at = made.path().join("repo.git");
        Git::new()
            .args(["init", "-q", "--bare", "--template=", "-b", "main", "--"])
            .arg(&at)
            .text()
            .await?;
        let repo = Self::find(&at)?;
        let origin = BranchName::parse("origin").map_err(|_| not_usable(dir))?;
        repo.fetch(transfer, &origin, progress).await?;
        repo.follow_default(transfer).await?;
        rename_new(&at, dir).map_err(GitError::Start)?;
        Self::find(dir)
    }

    /// Deletes what mirrors that were interrupted have left in `parent`. Only while no mirror is being made there.
    pub fn mirrors_tidy(parent: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        for entry in entries {
            let entry = entry?;
            let partial = entry.file_name().to_string_lossy().starts_with(PARTIAL);
            if partial && entry.file_type()?.is_dir() {
                erase(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Lets `HEAD` name the source's default branch, and makes that branch.
    async fn follow_default(&self, transfer: &Transfer<'_>) -> Result<(), GitError> {
        let view = View::of(self)?;
        let git = prepared(view.git(), transfer);
        let git = git.args(["ls-remote", "--symref", "--"]);
        let git = git.arg(transfer.source.as_text()).arg("HEAD");
        let said = git.text().await;
        let said = said.map_err(|error| transfer.masked_error(error))?;
        let Some(name) = default_branch(&said) else {
            return Ok(());
        };
        let remote = format!("refs/remotes/origin/{}", name.as_str());
        let Some(tip) = self.resolve_in(self.common_dir(), &remote).await? else {
            return Ok(());
        };
        let local = format!("refs/heads/{}", name.as_str());
        self.ref_set(&local, &tip, None).await?;
        let git = self
            .refs_git()
            .args(["symbolic-ref", "HEAD", local.as_str()]);
        git.text().await.map(drop)
    }
}

fn not_usable(dir: &Path) -> GitError {
    GitError::failed(format!("{} cannot hold a repository", dir.display()))
}

/// Reads the branch that `HEAD` names from what `ls-remote --symref` printed.
pub(crate) fn default_branch(printed: &str) -> Option<BranchName> {
    printed.lines().find_map(|line| {
        let (name, _) = line.strip_prefix("ref: refs/heads/")?.split_once('\t')?;
        BranchName::parse(name).ok()
    })
}

/// Renames without replacing anything that appeared meanwhile.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }
    #[cfg(not(target_os = "linux"))]
    fs::rename(from, to)
}

/// Gives a command what it needs for its source and no more.
pub(crate) fn prepared(git: Git, transfer: &Transfer<'_>) -> Git {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    let git = git.timeout(transfer.limits.time).args(settings);
    let url = match transfer.source {
        // A directory of this machine, recorded by us; git's own program reads it, nothing runs there.
        RepoSource::Local { .. } => {
            return git
                .args(["-c", "protocol.file.allow=always"])
                .env("GIT_ALLOW_PROTOCOL", "file");
        }
        RepoSource::Remote { url } => url,
    };
    let git = git.env("GIT_SSH_COMMAND", ssh_command(transfer.pin));
    let git = match std::env::var_os("SSH_AUTH_SOCK") {
        Some(socket) if url.starts_with("ssh://") => git.env("SSH_AUTH_SOCK", socket),
        _ => git,
    };
    let git = match transfer.pin {
        // Another host would be resolved by git, and not checked.
        Some(pin) => git
            .args(["-c", "http.followRedirects=false"])
            .args(["-c", &resolve_setting(pin)]),
        None => git,
    };
    let Some(host) = host_part(url) else {
        return git;
    };
    let git = match transfer.ca_file {
        Some(file) => {
            let mut setting = OsString::from(format!("http.{host}/.sslCAInfo="));
            setting.push(file);
            git.arg("-c").arg(setting)
        }
        None => git,
    };
    match transfer.header {
        // In the environment and not among the arguments, which everybody on the machine can read.
        Some(header) => git
            .args(["-c", "http.followRedirects=false"])
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", format!("http.{host}/.extraHeader"))
            .env("GIT_CONFIG_VALUE_0", &header.line),
        None => git,
    }
}

/// Returns the setting that has git's HTTP library connect to the pinned addresses.
fn resolve_setting(pin: &PinnedHost) -> String {
    let RemoteEndpoint { host, port } = &pin.endpoint;
    let written = |address: &IpAddr| match address {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    let addresses: Vec<_> = pin.addresses.iter().map(written).collect();
    format!("http.curloptResolve={host}:{port}:{}", addresses.join(","))
}

/// Returns the ssh command. With a pinned host it connects there, and to no proxy, and knows the host by its name.
fn ssh_command(pin: Option<&PinnedHost>) -> String {
    let usual = "ssh -o BatchMode=yes -o ConnectTimeout=30";
    let Some(pin) = pin else {
        return usual.to_owned();
    };
    // Both are plain: an address was parsed, and a name that is not plain was refused.
    let (host, address) = (&pin.endpoint.host, pin.addresses.first());
    let address = address.map(ToString::to_string).unwrap_or_default();
    format!(
        "{usual} -o HostName={address} -o HostKeyAlias={host} -o CheckHostIP=no -o ProxyCommand=none -o ProxyJump=none -o ControlPath=none"
    )
}

/// Returns `https://host[:port]` of an address; only there a header may go.
fn host_part(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some(&url[.."https://".len() + end])
}

impl RepoHandle {
    /// Runs a transfer within its limits and passes its progress on, line by line. What runs when a limit is reached is
    /// ended.
    async fn run_within(
        &self,
        git: Git,
        limits: TransferLimits,
        progress: Progress<'_>,
    ) -> Result<(), GitError> {
        let packs = self.common_dir().join("objects/pack");
        let before = bytes_in(packs.clone()).await;
        let limit = limits.bytes_max;
        let too_large = async || {
            let now = bytes_in(packs.clone()).await;
            now.saturating_sub(before) > limit
        };
        let watch = async {
            loop {
                tokio::time::sleep(COUNT_EVERY).await;
                if too_large().await {
                    return;
                }
            }
        };
        let run = tokio::time::timeout(limits.time, run_whenever(git, progress));
        tokio::select! {
            done = run => done.map_err(|_| GitError::TimedOut { limit: limits.time })??,
            () = watch => return Err(GitError::TooLarge { limit }),
        }
        match too_large().await {
            true => Err(GitError::TooLarge { limit }),
            false => Ok(()),
        }
    }
}

/// Adds up the files in a directory.
async fn bytes_in(dir: PathBuf) -> u64 {
    let sum = blocking(move || {
        let sizes = fs::read_dir(dir)?.map(|entry| Ok(entry?.metadata()?.len()));
        // A file may go while it is looked at.
        Ok(sizes.filter_map(|size: io::Result<u64>| size.ok()).sum())
    });
    sum.await.unwrap_or(0)
}

async fn run_whenever(git: Git, progress: Progress<'_>) -> Result<(), GitError> {
    let mut command = git.into_command();
    let mut child = command
        .stdout(std::process::Stdio::null())
        .spawn()
        .map_err(GitError::Start)?;
    let group = Group::of(&child);
    let (mut line, mut last) = (Vec::new(), String::new());
    if let Some(mut stderr) = child.stderr.take() {
        let mut chunk = [0; 4096];
        while let Ok(n @ 1..) = stderr.read(&mut chunk).await {
            for byte in &chunk[..n] {
                if !matches!(byte, b'\r' | b'\n') {
                    // A line without end is cut.
                    if line.len() < 500 {
                        line.push(*byte);
                    }
                } else if !line.is_empty() {
                    last = String::from_utf8_lossy(&line).into_owned();
                    progress(&last);
                    line.clear();
                }
            }
        }
    }
    let status = child.wait().await.map_err(GitError::Start)?;
    group.done();
    if status.success() {
        Ok(())
    } else {
        Err(GitError::failed(last))
    }
}
