//! What is refused, in one line, and left as it is byte for byte.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use wh_store::conformance::fixture;
use wh_store_sqlite::{OpenError, OpenOptions, SqliteStore};

use crate::support::{self, Mount, Place, meddle};

/// Makes a database with something in it.
async fn filled(place: &Place) {
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    for _ in 0..50 {
        support::board(&store, user).await.unwrap();
    }
    store.close().await;
}

/// Expects opening to be refused, with one clear line, and the file to stay as it is.
async fn refused(path: &Path) -> OpenError {
    let before = fs::read(path).unwrap();
    let error = SqliteStore::open(OpenOptions::new(path)).await.unwrap_err();
    assert_eq!(fs::read(path).unwrap(), before, "the file was changed");
    let line = error.to_string();
    assert!(!line.contains('\n') && line.len() > 20, "{line:?}");
    let copies = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let names = fs::read_dir(path.parent().unwrap()).unwrap();
    for name in names.map(|entry| copies(entry.unwrap())) {
        let known = ["", ".lock", "-wal", "-shm"];
        let known = known.map(|end| format!("wheelhouse.db{end}"));
        assert!(known.contains(&name), "{name} was left behind");
    }
    error
}

#[tokio::test]
async fn a_database_in_use_names_who_uses_it() {
    let place = Place::new();
    let store = place.open().await;
    let error = refused(&place.path()).await;
    let pid = std::process::id().to_string();
    assert!(
        matches!(&error, OpenError::Locked { pid: p, .. } if *p == pid),
        "{error}"
    );
    assert!(error.to_string().contains(&pid));
    store.health().await.unwrap();
    store.close().await;
    place.open().await.close().await;
}

#[tokio::test]
async fn what_is_not_ours_is_refused() {
    let place = Place::new();
    fs::write(place.path(), "not a database\n".repeat(100)).unwrap();
    assert!(matches!(
        refused(&place.path()).await,
        OpenError::Foreign { .. }
    ));
    fs::remove_file(place.path()).unwrap();
    fs::write(place.path(), "").unwrap();
    meddle(
        &place.path(),
        "PRAGMA journal_mode = wal; CREATE TABLE users (id INTEGER)",
    )
    .await;
    assert!(matches!(
        refused(&place.path()).await,
        OpenError::Foreign { .. }
    ));
}

#[tokio::test]
async fn a_newer_or_changed_schema_is_refused() {
    for (sql, newer) in [
        ("PRAGMA user_version = 9000", true),
        (
            "INSERT INTO migrations SELECT max(number) + 1, 'next', x'00' FROM migrations",
            true,
        ),
        ("UPDATE migrations SET checksum = x'00'", false),
        ("UPDATE migrations SET number = number + 1000", false),
    ] {
        let place = Place::new();
        filled(&place).await;
        meddle(&place.path(), sql).await;
        let error = refused(&place.path()).await;
        assert_eq!(
            matches!(error, OpenError::Newer { .. }),
            newer,
            "{sql}: {error}"
        );
        assert_eq!(
            matches!(error, OpenError::ChangedMigration { .. }),
            !newer,
            "{sql}: {error}"
        );
    }
}

#[tokio::test]
async fn a_file_that_was_cut_short_is_refused() {
    let place = Place::new();
    filled(&place).await;
    let whole = fs::read(place.path()).unwrap();
    for bytes in [0, 50, 100, 4_095, 4_096, whole.len() / 2, whole.len() - 1] {
        fs::write(place.path(), &whole[..bytes]).unwrap();
        let error = refused(&place.path()).await;
        assert!(
            matches!(error, OpenError::Damaged { .. }),
            "{bytes} bytes: {error}"
        );
    }
    fs::write(place.path(), &whole).unwrap();
    place.open().await.close().await;
}

#[tokio::test]
async fn a_damaged_file_is_refused() {
    let place = Place::new();
    filled(&place).await;
    let whole = fs::read(place.path()).unwrap();
    for (from, to) in [(0, 100), (0, 4_096), (100, 4_096), (4_096, whole.len())] {
        for byte in [0, 0xa5] {
            let mut bytes = whole.clone();
            bytes[from..to].fill(byte);
            fs::write(place.path(), &bytes).unwrap();
            let error = refused(&place.path()).await;
            let foreign = matches!(error, OpenError::Foreign { .. }) && (from, byte) == (0, 0xa5);
            assert!(
                foreign || matches!(error, OpenError::Damaged { .. }),
                "{from}..{to} = {byte}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn a_log_without_its_database_is_refused() {
    let place = Place::new();
    let wal = place.directory().join("wheelhouse.db-wal");
    fs::write(&wal, [7; 5_000]).unwrap();
    let error = SqliteStore::open(OpenOptions::new(place.path()))
        .await
        .unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert_eq!(fs::read(&wal).unwrap(), [7; 5_000]);
    assert!(!place.path().exists());
}

#[tokio::test]
async fn a_write_protected_file_is_refused() {
    let place = Place::new();
    filled(&place).await;
    fs::set_permissions(place.path(), Permissions::from_mode(0o400)).unwrap();
    assert!(matches!(
        refused(&place.path()).await,
        OpenError::ReadOnly { .. }
    ));
}

#[tokio::test]
async fn a_read_only_directory_is_refused() {
    let place = Place::new();
    let Some(mount) = Mount::new(place.directory(), "size=8m") else {
        eprintln!("SKIPPED: mounting a file system is not allowed here");
        return;
    };
    filled(&place).await;
    mount.remount("ro");
    let error = refused(&place.path()).await;
    assert!(matches!(error, OpenError::ReadOnly { .. }), "{error}");
    mount.remount("rw");
    place.open().await.close().await;
}

#[tokio::test]
async fn no_directory_no_database() {
    let place = Place::new();
    let path = place.directory().join("not/there.db");
    let error = SqliteStore::open(OpenOptions::new(path)).await.unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
}

#[tokio::test]
async fn a_start_that_was_interrupted_does_not_matter() {
    let place = Place::new();
    fs::write(place.directory().join("wheelhouse.db.init"), "half a dat").unwrap();
    fs::write(place.directory().join("wheelhouse.db.init-journal"), "x").unwrap();
    filled(&place).await;
    let names = fs::read_dir(place.directory()).unwrap();
    let mut names: Vec<_> = names
        .map(|n| n.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["wheelhouse.db", "wheelhouse.db.lock"],
        "nothing is left behind"
    );
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let place = Place::new();
    filled(&place).await;
    fs::set_permissions(place.path(), Permissions::from_mode(0o644)).unwrap();
    let store = place.open().await;
    fixture::user(&store).await.unwrap();
    for end in ["", "-wal", "-shm", ".lock"] {
        let path = place.directory().join(format!("wheelhouse.db{end}"));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{end}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_database_is_set_up_as_promised() {
    let place = Place::new();
    filled(&place).await;
    let mut conn = support::raw(&place.path()).await;
    let text = async |sql: &'static str, conn: &mut sqlx::SqliteConnection| {
        sqlx::query_scalar::<_, String>(sql)
            .fetch_one(conn)
            .await
            .unwrap()
    };
    assert_eq!(text("PRAGMA journal_mode", &mut conn).await, "wal");
    assert_eq!(text("PRAGMA integrity_check", &mut conn).await, "ok");
    let id: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut conn)
        .await
        .unwrap();
    assert_eq!(id, 0x5768_6c73);
}

#[tokio::test]
async fn opening_is_fast_with_100_000_events() {
    let place = Place::new();
    filled(&place).await;
    meddle(
        &place.path(),
        "INSERT INTO events (at, kind, subject_kind, subject_id, owner_user_id, facts)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
         SELECT i, 'updated', 'board', randomblob(16), randomblob(16), '{\"name\":\"x\"}' FROM n",
    )
    .await;
    let began = Instant::now();
    let store = place.open().await;
    let took = began.elapsed();
    println!("opened a database with 100 000 events in {took:?}");
    assert!(took.as_millis() < 100, "{took:?}");
    assert_eq!(*store.event_watch().borrow(), 100_050);
    store.close().await;
}
