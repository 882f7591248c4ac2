//! F4, F5: hostile archives in place of a container image. A script stands in for Podman, whose own archives are well-formed.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use wh_api::{SessionCreateRequest, SessionWaitRequest};
use wh_testkit::{git::repository, server::TestServer};

/// Writes the archives into the directory that it is given, each with a name of its own.
const ARCHIVES: &str = r#"
import io, os, sys, tarfile
out, outside = sys.argv[1:]
FILE, LINK, SYMLINK, FIFO = tarfile.REGTYPE, tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE
def write(name, *entries):
    with tarfile.open(os.path.join(out, name), "w", format=tarfile.GNU_FORMAT) as archive:
        for path, kind, link in entries:
            info = tarfile.TarInfo(path)
            info.type, info.linkname = kind, link
            info.size = 1 if kind == FILE else 0
            archive.addfile(info, io.BytesIO(b"x"))
write("parent-directory", ("a/../../evil", FILE, ""))
write("absolute-symlink", ("out", SYMLINK, outside), ("out/evil", FILE, ""))
write("relative-symlink", ("up", SYMLINK, ".."), ("up/evil", FILE, ""))
write("hard-link", ("evil", LINK, "/etc/passwd"))
write("hard-link-through-symlink", ("out", SYMLINK, "/etc"), ("evil", LINK, "out/passwd"))
write("truncated", ("a", FILE, ""))
os.truncate(os.path.join(out, "truncated"), 600)
large = tarfile.TarInfo("large")
large.size = 70 << 30
open(os.path.join(out, "large"), "wb").write(large.tobuf(tarfile.GNU_FORMAT))
pipe = tarfile.TarInfo("pipe")
pipe.type = FIFO
open(os.path.join(out, "many"), "wb").write(pipe.tobuf(tarfile.GNU_FORMAT))
"#;

/// Each archive and what the refusal says. `many` is repeated more often than an image may have entries.
const CASES: &[(&str, &str)] = &[
    ("parent-directory", "leads outside of the image"),
    ("absolute-symlink", "out/evil"),
    ("relative-symlink", "up/evil"),
    ("hard-link", "evil"),
    ("hard-link-through-symlink", "evil"),
    ("truncated", "unpacked"),
    ("large", "GiB"),
    ("many", "files"),
];

/// Answers the server's questions, and exports the archive that `export` names.
const PODMAN: &str = r#"#!/bin/sh
case "$1 $2" in
"version "*) echo 5.4.2 ;;
"image inspect") printf '[{"Id":"%s","Config":{"Env":["PATH=/bin"]}}]' "$(sha256sum HOME/export | cut -c1-64)" ;;
"images "*) echo found ;;
"export "*)
  name=$(cat HOME/export)
  case "$name" in
  many) exec python3 -c 'import sys; b = open(sys.argv[1], "rb").read() * 1000; [sys.stdout.buffer.write(b) for _ in range(2001)]' HOME/archives/many ;;
  *) exec cat "HOME/archives/$name" ;;
  esac ;;
esac
"#;

#[tokio::test]
async fn f4_f5_hostile_images_are_refused_and_leave_nothing() {
    let mut server = TestServer::stopped();
    let home = server.home().to_owned();
    let (archives, outside) = (home.join("archives"), home.join("outside"));
    for dir in [&archives, &outside, &home.join("bin")] {
        fs::create_dir_all(dir).unwrap();
    }
    let script = home.join("archives.py");
    fs::write(&script, ARCHIVES).unwrap();
    write_program(
        &home.join("bin/archives"),
        &format!("#!/bin/sh\nexec python3 {} \"$@\"\n", script.display()),
    );
    let made = server
        .program(&home.join("bin/archives"))
        .args([&archives, &outside])
        .status();
    assert!(made.unwrap().success());
    let podman = PODMAN.replace("HOME", &home.display().to_string());
    write_program(&home.join("bin/podman"), &podman);
    server.configure("[containment]\nengine = \"podman\"\nimage = \"localhost/hostile:1\"\n");
    let repo = repository(&home.join("project"));
    server.restart();
    let client = server.client_with(&server.key("full"));
    let request = wh_api::RepoAddRequest {
        source: repo.display().to_string(),
        ..Default::default()
    };
    let repo = client.repo_add(&request).await.unwrap().id;
    for (name, words) in CASES {
        fs::write(home.join("export"), name).unwrap();
        let request = SessionCreateRequest {
            agent: "echo".to_owned(),
            repo: Some(repo.clone()),
            tier: Some("container".to_owned()),
            prompt: Some("say hello".to_owned()),
            ..SessionCreateRequest::default()
        };
        let session = client.session_create(&request).await.unwrap().id;
        let wait = SessionWaitRequest {
            sessions: vec![session.clone()],
            timeout: Some(120),
            ..SessionWaitRequest::default()
        };
        client.session_wait(&wait).await.unwrap();
        let ended = client.session_get(&session).await.unwrap();
        assert_eq!(ended.state, "failed", "{name}: {ended:?}");
        let failure = ended.failure.unwrap_or_default();
        assert!(failure.contains(words), "{name}: {failure}");
        println!("f4, f5: {name}: {failure}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{name}");
        assert_eq!(unpacked(&server.data_dir()), Vec::<String>::new(), "{name}");
    }
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the entries of the image directory and every file named `evil` below the data directory.
fn unpacked(data: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![data.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, is_dir) = (entry.path(), entry.file_type().is_ok_and(|it| it.is_dir()));
            if dir.ends_with("images") || entry.file_name() == "evil" {
                found.push(path.display().to_string());
            }
            if is_dir {
                open.push(path);
            }
        }
    }
    found
}
