//! A10, A11: keys are neither guessed nor read a second time.

use std::{collections::HashSet, fs, path::Path};

use reqwest::Method;
use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::wire::rest;

/// Characters of a key that lists show: the tag and eight digits.
const SHOWN: usize = 16;

async fn who(server: &TestServer, key: &str) -> u16 {
    let answer = rest(server, key, Method::GET, "/api/v1/whoami", None).await;
    answer.status().as_u16()
}

async fn create(server: &TestServer, admin: &str, name: &str) -> Value {
    let body = json!({ "name": name, "scope": "read" });
    let made = rest(server, admin, Method::POST, "/api/v1/keys", Some(&body)).await;
    assert_eq!(made.status(), 201);
    made.json().await.unwrap()
}

#[tokio::test]
async fn a10_keys_are_random_and_guessing_is_slowed_down() {
    let server = TestServer::start();
    let admin = server.key("full");
    let mut secrets = HashSet::new();
    let mut positions = vec![HashSet::new(); 32];
    for number in 0..40 {
        let made = create(&server, &admin, &format!("key {number}")).await;
        let key = made["key"].as_str().unwrap().to_owned();
        let digits = key.strip_prefix("wh_read_").unwrap();
        assert_eq!(digits.len(), 32, "128 random bits");
        for (at, digit) in digits.chars().enumerate() {
            positions[at].insert(digit);
        }
        secrets.insert(key);
    }
    assert_eq!(secrets.len(), 40);
    // A counter or a time would leave digits that are always the same.
    let fixed = positions.iter().filter(|it| it.len() < 8).count();
    assert_eq!(fixed, 0, "{positions:?}");

    let key = secrets.iter().next().unwrap().clone();
    assert_eq!(who(&server, &key).await, 200);
    let flipped = if key.ends_with('0') { "1" } else { "0" };
    let almost = [
        format!("{}{flipped}", &key[..key.len() - 1]),
        key[..SHOWN].to_owned(),
        key[..key.len() - 1].to_owned(),
        format!("{key}0"),
        key.to_uppercase(),
        key.replace("wh_read_", "wh_full_"),
        key.replace("wh_read_", "wh_sess_"),
        key.trim_start_matches("wh_read_").to_owned(),
        "%".to_owned(),
        "wh_read_%".to_owned(),
    ];
    for wrong in &almost {
        assert_eq!(who(&server, wrong).await, 401, "{wrong}");
    }
    // Guessing on is answered with a wait, and a valid key from the same address still works.
    let mut slowed = 0;
    for number in 0..100_u128 {
        let status = who(&server, &format!("wh_read_{number:032x}")).await;
        assert!([401, 429].contains(&status), "{status}");
        slowed += usize::from(status == 429);
        if number % 10 == 0 {
            assert_eq!(who(&server, &key).await, 200);
        }
    }
    assert!(slowed >= 40, "{slowed}");
    println!(
        "a10: 40 keys, {} near misses refused, {slowed} of 100 guesses slowed down",
        almost.len()
    );
}

/// Tells whether a file or anything below a directory contains the text.
fn contains(path: &Path, text: &str) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| contains(&entry.path(), text)),
        Err(_) => {
            let bytes = fs::read(path).unwrap_or_default();
            bytes.windows(text.len()).any(|it| it == text.as_bytes())
        }
    }
}

#[tokio::test]
async fn a11_a_key_is_shown_once_and_never_again() {
    let server = TestServer::start();
    let admin = server.key("full");
    let body = json!({ "name": "once", "scope": "full", "idempotency_key": "again" });
    let post = async || {
        let answer = rest(&server, &admin, Method::POST, "/api/v1/keys", Some(&body)).await;
        answer.json::<Value>().await.unwrap()
    };
    let made = post().await;
    let (key, id) = (made["key"].as_str().unwrap(), made["id"].as_str().unwrap());
    assert_eq!(who(&server, key).await, 200);
    let secret = &key[SHOWN..];
    let repeated = post().await;
    assert_eq!(repeated["id"], made["id"]);
    assert!(!repeated.to_string().contains(secret), "{repeated}");

    // Everything that can be read, a refusal that names the key, and the key in places where it does not belong.
    let mut read = 0;
    for path in [
        "/api/v1/keys".to_owned(),
        "/api/v1/audit?limit=200".to_owned(),
        "/api/v1/events".to_owned(),
        "/api/v1/users".to_owned(),
        "/api/v1/config".to_owned(),
        "/api/v1/whoami".to_owned(),
        "/metrics".to_owned(),
        format!("/api/v1/keys/{key}"),
        format!("/api/v1/sessions/{key}"),
        format!("/api/v1/sessions?cursor={key}"),
        format!("/{key}"),
    ] {
        let answer = rest(&server, key, Method::GET, &path, None).await;
        let text = answer.text().await.unwrap();
        assert!(!text.contains(secret), "{path}: {text}");
        read += 1;
    }
    let revoked = rest(
        &server,
        &admin,
        Method::DELETE,
        &format!("/api/v1/keys/{id}"),
        None,
    )
    .await;
    assert_eq!(revoked.status(), 200);
    assert!(!revoked.text().await.unwrap().contains(secret));
    assert_eq!(who(&server, key).await, 401);

    let backup = server.home().join("backup.db");
    let saved = server
        .command()
        .arg("backup")
        .arg(&backup)
        .output()
        .unwrap();
    assert!(saved.status.success(), "{saved:?}");
    assert!(contains(&backup, "once"), "the backup has the row");
    assert!(!contains(server.home(), secret), "the key is in a file");
    // The search finds what there is to find.
    assert!(contains(server.home(), &key[..SHOWN]));
    println!("a11: {read} answers, the log, the database and a backup without the key");
}
