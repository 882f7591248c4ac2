//! Files that come with prompts.

use std::time::Duration;

use wh_api::{PromptFileInput, SessionCreateRequest, SessionPromptRequest, SessionSpawnRequest};

use crate::harness::{World, prompt_of};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

fn with(session: &str, prompt: &str, files: &[(&str, &[u8])]) -> SessionPromptRequest {
    let file = |(name, data): &(&str, &[u8])| PromptFileInput::new(name, data);
    SessionPromptRequest {
        files: files.iter().map(file).collect(),
        wait: Some(30),
        ..prompt_of(session, prompt)
    }
}

#[tokio::test]
async fn the_agent_gets_each_file_in_the_best_way_and_the_transcript_names_it() {
    let world = World::new();
    let session = world.session().await;
    let files: [(&str, &[u8]); 3] = [
        ("a shot.png", PNG),
        ("notes.txt", b"buy milk"),
        ("core", b"\x7fELF\0\0"),
    ];
    let request = with(&session, "files", &files);
    let prompted = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(prompted.turn.state, "completed");
    let said = world.said(&session).await;
    for line in [
        format!("image a%20shot.png image/png {} bytes", PNG.len()),
        "resource notes.txt text/plain 8 bytes".to_owned(),
        "path core (application/octet-stream) 6 bytes".to_owned(),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }

    let transcript = world.transcript(&session).await;
    let prompt = transcript.iter().find(|it| it.kind == "prompt").unwrap();
    let named = &prompt.detail.as_ref().unwrap()["files"];
    assert_eq!(named[1]["name"], "notes.txt");
    assert_eq!(named[0]["media_type"], "image/png");
    let turn = prompt.turn_id.as_ref().unwrap();
    let back = world.client.turn_file(turn, 1).await.unwrap();
    assert_eq!(back.data, PromptFileInput::new("", PNG).data);
    assert_eq!(back.media_type, "image/png");
    let none = world.client.turn_file(turn, 4).await.unwrap_err();
    assert!(none.to_string().contains("file"), "{none}");
}

#[tokio::test]
async fn a_file_that_waits_outlives_the_server() {
    let mut world = World::new();
    let session = world.session().await;
    world.send(&session, "sleep 2").await;
    let mut waiting = with(&session, "files", &[("notes.txt", b"buy milk")]);
    waiting.wait = None;
    world.client.session_prompt(&waiting).await.unwrap();
    world.crash(Duration::ZERO).await;
    world.rest(&session).await;
    let said = world.said(&session).await;
    assert!(
        said.contains("resource notes.txt text/plain 8 bytes"),
        "{said}"
    );
}

#[tokio::test]
async fn what_a_prompt_cannot_carry_is_refused_by_name() {
    let world = World::new();
    let session = world.session().await;
    let refused = async |request: SessionPromptRequest| {
        let answer = world.client.session_prompt(&request).await;
        answer.unwrap_err().to_string()
    };
    let path = refused(with(&session, "files", &[("../../etc/passwd", b"x")])).await;
    assert!(
        path.contains("files[0]") && path.contains("slash"),
        "{path}"
    );
    let many = [("a", b"x".as_slice()); 9];
    let many = refused(with(&session, "files", &many)).await;
    assert!(many.contains("more than 8; send the rest"), "{many}");
    let big = vec![0; (8 << 20) + 1];
    let big = refused(with(&session, "files", &[("big", &big)])).await;
    assert!(
        big.contains("8 MiB; put large files into the worktree"),
        "{big}"
    );
    let mut garbage = with(&session, "files", &[("a", b"x")]);
    garbage.files[0].data = "<not base64>".to_owned();
    let garbage = refused(garbage).await;
    assert!(
        garbage.contains("files[0]: is not base64; send"),
        "{garbage}"
    );
    let hidden = refused(with(&session, "files", &[("a\u{e0041}.txt", b"x")])).await;
    assert!(hidden.contains("rename it"), "{hidden}");
    assert!(world.turns(&session).await.is_empty());
}

#[tokio::test]
async fn a_session_begins_with_files_under_the_same_limits() {
    let world = World::new();
    let begin = |prompt: Option<&str>, count: usize| SessionCreateRequest {
        agent: "echo".to_owned(),
        prompt: prompt.map(str::to_owned),
        files: vec![PromptFileInput::new("notes.txt", b"buy milk"); count],
        ..SessionCreateRequest::default()
    };
    let large = vec![0; 6 << 20];
    let mut request = begin(Some("files"), 1);
    request
        .files
        .push(PromptFileInput::new("large.bin", &large));
    let session = world.client.session_create(&request).await.unwrap().id;
    world.rest(&session).await;
    let said = world.said(&session).await;
    for line in [
        "resource notes.txt text/plain 8 bytes".to_owned(),
        format!(
            "path large.bin (application/octet-stream) {} bytes",
            large.len()
        ),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
    let refused = async |request| {
        let answer = world.client.session_create(&request).await;
        answer.unwrap_err().to_string()
    };
    let many = refused(begin(Some("files"), 9)).await;
    assert!(many.contains("files: are more than 8"), "{many}");
    let alone = refused(begin(None, 1)).await;
    assert!(alone.contains("files require a prompt"), "{alone}");
    let child = SessionSpawnRequest {
        parent: Some(session.clone()),
        prompt: "files".to_owned(),
        files: vec![PromptFileInput::new("shot.png", PNG)],
        wait: Some(30),
        ..SessionSpawnRequest::default()
    };
    let child = world.client.session_spawn(&child).await.unwrap();
    let words = child.words.unwrap_or_default();
    assert!(words.contains("image shot.png image/png"), "{words}");
}

#[tokio::test]
async fn a_prompt_does_not_run_without_its_file() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say ready").await;
    let runs = world.server.data_dir().join("runs");
    let run = runs.read_dir().unwrap().next().unwrap().unwrap().path();
    // Something is in the way of the directory that holds the files. The directory itself is mounted in the agent's sandbox.
    std::fs::rename(run.join("files"), run.join("aside")).unwrap();
    std::fs::write(run.join("files"), "").unwrap();
    let request = with(&session, "say what is in it", &[("notes.txt", b"buy milk")]);
    let prompted = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(prompted.turn.state, "failed", "{prompted:?}");
    let reason = prompted.turn.reason.unwrap();
    assert!(
        reason.contains("the file notes.txt cannot be laid out"),
        "{reason}"
    );
    let notes = world.notes(&session).await;
    let told = "the prompt was not run: the file notes.txt";
    assert!(notes.contains(told), "{notes}");
    assert!(!world.said(&session).await.contains("what is in it"));
    std::fs::remove_file(run.join("files")).unwrap();
    std::fs::rename(run.join("aside"), run.join("files")).unwrap();
    let again = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(again.turn.state, "completed", "{again:?}");
}

/// What an agent can put in place of a run's files, a link among others, must not lead the server elsewhere.
#[tokio::test]
async fn a_file_is_not_laid_out_through_a_link() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say ready").await;
    let elsewhere = world.server.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let run = world.server.data_dir().join("runs");
    let run = std::fs::read_dir(run).unwrap().next().unwrap().unwrap();
    let files = run.path().join("files");
    std::fs::remove_dir_all(&files).ok();
    std::os::unix::fs::symlink(&elsewhere, &files).unwrap();
    let request = with(&session, "files", &[("notes.txt", b"buy milk")]);
    let prompted = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(prompted.turn.state, "failed", "{prompted:?}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}
