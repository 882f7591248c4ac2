//! A small container image, made of programs of this machine.

#![expect(
    clippy::disallowed_methods,
    reason = "tests call the real programs, as a user would"
)]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::server::TestServer;

/// What an agent needs for its work, beside itself.
const PROGRAMS: &[&str] = &[
    "bash", "cat", "env", "git", "grep", "head", "id", "ls", "mkdir", "touch", "wc",
];

/// The name of every image that is made here; the tag tells what is in it.
const NAME: &str = "localhost/wheelhouse-test";

/// Where the image has the programs that are given to [`import`].
pub const BIN: &str = "/opt/agent";

/// Makes the image known to Podman, for the user that `server` runs as, and returns its reference. It holds a shell, git and `programs`, with the libraries that they
/// need, and a file `/etc/image` that no machine has.
pub fn import(server: &TestServer, programs: &[PathBuf]) -> String {
    let podman = |arguments: &[&str]| run(server.program(Path::new("podman")).args(arguments));
    let image = format!("{NAME}:{}", tag(programs));
    if podman(&["image", "exists", &image]).is_ok() {
        return image;
    }
    let dir = tempfile::tempdir().expect("a directory");
    fill(dir.path(), programs);
    // The server's user reads it from there.
    let archive = server.home().join("image.tar");
    let mut tar = Command::new("tar");
    run(tar
        .arg("-C")
        .arg(dir.path())
        .arg("-cf")
        .arg(&archive)
        .arg("."))
    .expect("tar works");
    let changes = [
        "--change",
        "ENV PATH=/opt/agent:/usr/bin:/bin",
        "--change",
        "ENV OF_IMAGE=yes",
    ];
    let path = archive.display().to_string();
    let arguments = [&["import", "--quiet"][..], &changes, &[&path, &image]].concat();
    podman(&arguments).expect("podman imports an image");
    fs::remove_file(archive).expect("the archive is ours");
    remove_older(&image, podman);
    image
}

/// Removes images of earlier builds.
fn remove_older(image: &str, podman: impl Fn(&[&str]) -> Result<String, String>) {
    let listed =
        podman(&["images", "--format", "{{.Repository}}:{{.Tag}}", NAME]).unwrap_or_default();
    for older in listed.lines().filter(|line| *line != image) {
        // One that is in use stays until the next time.
        podman(&["rmi", older]).ok();
    }
}

/// Tells images of different programs apart.
fn tag(programs: &[PathBuf]) -> String {
    let mut tag = String::from("v2");
    for program in programs {
        let found = fs::metadata(program).expect("the program was built");
        tag.push_str(&format!("-{:x}-{:x}", found.mtime(), found.size()));
    }
    tag
}

fn fill(root: &Path, programs: &[PathBuf]) {
    let copy = |from: &Path, to: &Path| {
        let to = root.join(to.strip_prefix("/").unwrap_or(to));
        fs::create_dir_all(to.parent().expect("a directory")).expect("it can be made");
        fs::copy(from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    };
    let mut files = Vec::new();
    for name in PROGRAMS {
        files.push((
            Path::new("/usr/bin").join(name),
            Path::new("/usr/bin").join(name),
        ));
    }
    for program in programs {
        let name = program.file_name().expect("a file");
        files.push((program.clone(), Path::new(BIN).join(name)));
    }
    // The built-in agent is this program, which sandboxes show at its own path.
    let server = crate::server::binary();
    let all = files.iter().map(|(from, _)| from).chain([&server]);
    let libraries: BTreeSet<_> = all.flat_map(|program| libraries(program)).collect();
    for (from, to) in &files {
        copy(from, to);
    }
    for library in libraries {
        copy(&library, &library);
    }
    fs::create_dir_all(root.join("etc")).expect("it can be made");
    fs::write(root.join("etc/image"), "this is the image\n").expect("it can be written");
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")
        .expect("it can be written");
    symlink("usr/bin", root.join("bin")).expect("it can be linked");
    symlink("bash", root.join("usr/bin/sh")).expect("it can be linked");
}

/// Returns the libraries of a program as `ldd` lists them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = run(Command::new("ldd").arg(program)).unwrap_or_default();
    let paths = listed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    paths.map(PathBuf::from).collect()
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
