//! C1: keys.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use wh_api::{KeyListRequest, KeyView};

use super::{ADDRESSES, Abode, create_key, data, key_command};
use crate::harness::Mcp;

async fn listed(abode: &Abode) -> Vec<KeyView> {
    let all = KeyListRequest::default();
    abode.admin.key_list(&all).await.unwrap().keys
}

#[tokio::test]
async fn c1_1_a_full_key_controls_everything_and_a_session_key_only_renames() {
    let abode = Abode::new().await;
    let session = abode.session("before").await;
    assert!(abode.key.starts_with("ca_full_") && abode.key.len() == "ca_full_".len() + 32);
    let internal = abode.internal_key(&session).key.unwrap();
    assert!(internal.starts_with("ca_sess_") && internal.len() == "ca_sess_".len() + 32);
    for address in ADDRESSES {
        let client = abode.client(address, &internal);
        let renamed = client
            .call("set_session_name", json!({ "name": address }))
            .await;
        assert_eq!(data(&renamed)["name"], address);
        for (tool, arguments) in [
            ("list_sessions", json!({})),
            ("get_session", json!({ "sessionId": session })),
            ("get_messages", json!({ "sessionId": session })),
            ("get_message", json!({ "messageId": session })),
            (
                "create_session",
                json!({ "name": "x", "repoFullName": "team/app", "branch": "main" }),
            ),
            (
                "send_prompt",
                json!({ "sessionId": session, "prompt": "say x" }),
            ),
            (
                "manage_session",
                json!({ "sessionId": session, "action": "stop" }),
            ),
            ("interrupt_session", json!({ "sessionId": session })),
        ] {
            let refused = client.call(tool, arguments).await;
            assert_eq!(Mcp::code(&refused), "FORBIDDEN", "{tool}");
        }
    }
    // And it opens nothing else: not our own tools, not REST.
    let ours = Mcp::new(&abode.server.about().mcp_url, &internal);
    assert_eq!(ours.send("tools/list", json!({})).await.status(), 403);
    let rest = abode
        .server
        .client_with(&internal)
        .session_get(&session)
        .await;
    assert!(rest.unwrap_err().to_string().contains("clawed-abode"));
}

#[tokio::test]
async fn c1_1_a_read_key_looks_and_changes_nothing_until_it_expires() {
    let abode = Abode::new().await;
    let session = abode.session("watched").await;
    let made = create_key(&abode.server, &["--scope", "read", "--expires", "1h"]);
    let secret = made.key.unwrap();
    assert!(secret.starts_with("ca_read_") && secret.len() == "ca_read_".len() + 32);
    assert_eq!(made.about.scope, "read");
    assert!(made.about.expires_at.is_some());
    for address in ADDRESSES {
        let client = abode.client(address, &secret);
        let seen = client.call("get_session", json!({ "sessionId": session }));
        assert_eq!(data(&seen.await)["name"], "watched");
        data(&client.call("list_sessions", json!({})).await);
        for (tool, arguments) in [
            (
                "create_session",
                json!({ "name": "x", "repoFullName": "team/app", "branch": "main" }),
            ),
            (
                "send_prompt",
                json!({ "sessionId": session, "prompt": "say x" }),
            ),
            (
                "manage_session",
                json!({ "sessionId": session, "action": "stop" }),
            ),
            ("interrupt_session", json!({ "sessionId": session })),
            ("set_session_name", json!({ "name": "x" })),
        ] {
            let refused = client.call(tool, arguments).await;
            assert_eq!(Mcp::code(&refused), "FORBIDDEN", "{tool}");
        }
    }
    let ours = Mcp::new(&abode.server.about().mcp_url, &secret);
    assert_eq!(ours.send("tools/list", json!({})).await.status(), 403);
}

#[tokio::test]
async fn c1_2_a_key_is_kept_as_its_sha256_and_shown_once() {
    let mut abode = Abode::new().await;
    let made = create_key(&abode.server, &["--scope", "full"]);
    let secret = made.key.unwrap();
    let shown = serde_json::to_string(&listed(&abode).await).unwrap();
    assert!(!shown.contains(&secret) && shown.contains(&made.about.prefix));
    abode.server.stop();
    let mut kept = Vec::new();
    for file in std::fs::read_dir(abode.server.data_dir()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            kept.extend(std::fs::read(path).unwrap());
        }
    }
    let holds = |needle: &[u8]| kept.windows(needle.len()).any(|window| window == needle);
    assert!(!holds(secret.as_bytes()));
    assert!(holds(&Sha256::digest(secret.as_bytes())));
}

#[tokio::test]
async fn c1_3_prefixes_tell_keys_apart_and_a_bound_key_goes_with_its_session() {
    let abode = Abode::new().await;
    let session = abode.session("short-lived").await;
    let mut prefixes: Vec<String> = Vec::new();
    for _ in 0..3 {
        prefixes.push(create_key(&abode.server, &["--scope", "full"]).about.prefix);
        prefixes.push(abode.internal_key(&session).about.prefix);
    }
    prefixes.sort();
    prefixes.dedup();
    assert_eq!(prefixes.len(), 6);
    let bound = abode.internal_key(&session);
    let about = bound.about;
    assert_eq!(about.scope, "session_internal");
    assert_eq!(about.dialect.as_deref(), Some("clawed-abode"));
    assert_eq!(about.session_id.as_deref(), Some(session.as_str()));
    abode
        .call(
            "manage_session",
            json!({ "sessionId": session, "action": "stop" }),
        )
        .await;
    abode.until(&session, |it| it["status"] == "stopped").await;
    let delete = wh_api::SessionManageRequest {
        session: session.clone(),
        action: "delete".to_owned(),
        ..Default::default()
    };
    abode.admin.session_manage(&delete).await.unwrap();
    assert!(listed(&abode).await.iter().all(|key| key.id != about.id));
    let client = abode.client(ADDRESSES[0], &bound.key.unwrap());
    let refused = client.send("tools/list", json!({})).await;
    assert_eq!(refused.status(), 401);
}

#[tokio::test]
async fn c1_4_keys_are_listed_revoked_and_their_last_use_is_kept() {
    let abode = Abode::new().await;
    let made = create_key(&abode.server, &["--scope", "full"]);
    assert_eq!(made.about.last_used_at, None);
    let client = abode.client(ADDRESSES[0], &made.key.unwrap());
    data(&client.call("list_sessions", json!({})).await);
    let find = async || {
        let keys = listed(&abode).await;
        keys.into_iter()
            .find(|key| key.id == made.about.id)
            .unwrap()
    };
    let mut used = find().await;
    for _ in 0..100 {
        if used.last_used_at.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        used = find().await;
    }
    assert!(used.last_used_at.is_some());
    let revoked = key_command(&abode.server, &["revoke", &made.about.id], &[]);
    let revoked: Value = serde_json::from_slice(&revoked.stdout).unwrap();
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(client.send("tools/list", json!({})).await.status(), 401);
}
