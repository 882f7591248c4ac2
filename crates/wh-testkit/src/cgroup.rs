//! A cgroup of a test's own, where the machine lets the test create one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::XattrFlags;

/// How long killed processes may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(10);

/// A cgroup below the root of the hierarchy. Dropping it kills what is in it and removes it.
#[derive(Debug)]
pub struct TestCgroup {
    dir: PathBuf,
    /// The root of the hierarchy.
    root: PathBuf,
}

impl TestCgroup {
    /// Creates a cgroup, or says why this test cannot.
    pub fn create() -> Result<Self, String> {
        let root = root().ok_or("no cgroup v2 hierarchy is mounted")?;
        let name = format!("wh-test-{}", uuid::Uuid::now_v7().simple());
        let dir = root.join(name);
        let created = fs::create_dir(&dir);
        created.map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
        Ok(Self { dir, root })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns the controllers that a server can enable in it.
    pub fn controllers(&self) -> String {
        let list = fs::read_to_string(self.dir.join("cgroup.controllers"));
        list.unwrap_or_default().trim().to_owned()
    }

    /// Marks it as systemd does with `Delegate=`, for this user.
    pub fn delegate(&self, user: u32) -> io::Result<()> {
        let flags = XattrFlags::empty();
        rustix::fs::setxattr(&self.dir, "user.delegate", b"1", flags)?;
        give(&self.dir, user)
    }

    /// Creates a cgroup in it for this user, moves the calling process there, and returns it. What is started from then on begins
    /// there.
    pub fn enter(&self, name: &str, user: u32) -> io::Result<PathBuf> {
        let leaf = self.dir.join(name);
        fs::create_dir(&leaf)?;
        give(&leaf, user)?;
        fs::write(leaf.join("cgroup.procs"), "0")?;
        Ok(leaf)
    }

    /// Moves the calling process back to the root of the hierarchy.
    pub fn leave(&self) {
        fs::write(self.root.join("cgroup.procs"), "0").ok();
    }

    /// Returns the cgroups of runs.
    pub fn runs(&self) -> Vec<PathBuf> {
        let below = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let below = below.map(|entry| entry.path());
        below.filter(|path| is_run(path)).collect()
    }
}

impl Drop for TestCgroup {
    fn drop(&mut self) {
        // The test itself must not be killed.
        self.leave();
        fs::write(self.dir.join("cgroup.kill"), "1").ok();
        let deadline = Instant::now() + GONE_WITHIN;
        while self.dir.exists() && Instant::now() < deadline {
            for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
                // Files of the kernel stay until their directory goes.
                fs::remove_dir(entry.path()).ok();
            }
            fs::remove_dir(&self.dir).ok();
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns the place of a process in the hierarchy, such as `/server`.
pub fn cgroup_of(pid: u32) -> String {
    let table = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let place = table.lines().find_map(|line| line.strip_prefix("0::"));
    place.unwrap_or_default().to_owned()
}

fn is_run(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("run-"))
}

/// Gives a cgroup to a user as systemd does: the directory, and the files by which processes and controllers are managed.
fn give(dir: &Path, user: u32) -> io::Result<()> {
    let files = ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"];
    let paths = files.map(|name| dir.join(name));
    for path in [dir.to_owned()].iter().chain(&paths) {
        std::os::unix::fs::chown(path, Some(user), Some(user))?;
    }
    Ok(())
}

/// Returns where the hierarchy is mounted.
fn root() -> Option<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mut mounts = table.lines().filter(|line| line.contains(" - cgroup2 "));
    mounts.next()?.split(' ').nth(4).map(PathBuf::from)
}
