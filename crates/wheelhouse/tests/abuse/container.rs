//! The tier `container`: what an agent in an image sees and does, and who chooses the image.

use wh_api::{
    KeyCreateRequest, MessageListRequest, RepoAddRequest, SessionCreateRequest, SessionWaitRequest,
    UserCreateRequest, WorktreeDiffRequest,
};
use wh_testkit::git::git;

use crate::harness::{Setting, World};

#[tokio::test]
async fn an_agent_in_an_image_works_on_its_branch_and_sees_no_file_of_the_machine() {
    let world = World::new(Setting::CONTAINER).await;
    let printed = world
        .shell("cat /etc/image; echo $OF_IMAGE $PATH; cat ~/diary.txt /etc/os-release /etc/hostname 2>&1 | grep -c such; ls /usr/bin | wc -l; id -un")
        .await;
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[0], "this is the image", "{printed}");
    assert_eq!(lines[1], "yes /opt/agent:/usr/bin:/bin", "{printed}");
    assert_eq!(lines[2], "3", "{printed}");
    assert!(lines[3].parse::<u32>().unwrap() < 30, "{printed}");
    // Nothing of the image can be changed, and a home directory and /tmp are there.
    let printed = world
        .shell("touch /etc/image /usr/bin/new 2>&1 | grep -c Read-only; touch ~/own /tmp/own && echo written")
        .await;
    assert_eq!(
        printed.lines().collect::<Vec<_>>(),
        ["2", "written"],
        "{printed}"
    );
    let printed = world
        .shell("echo two > a.txt; git commit -qam 'from the image' && git log --format=%an:%s -1")
        .await;
    assert_eq!(printed.trim(), "Ada:from the image");
    let session = world.client.session_get(&world.session).await.unwrap();
    assert_eq!(
        session.effective_tier.as_deref(),
        Some("container/namespaces")
    );
    let request = WorktreeDiffRequest {
        worktree: session.worktree_id.clone().unwrap(),
        ..WorktreeDiffRequest::default()
    };
    let diff = world.client.worktree_diff(&request).await.unwrap();
    assert_eq!((diff.files.len(), diff.added), (1, 1), "{diff:?}");
    let worktree = world
        .client
        .worktree_get(&session.worktree_id.unwrap())
        .await
        .unwrap();
    let subject = git(&world.repo, &["log", "-1", "--format=%s", &worktree.branch]);
    assert_eq!(subject.trim(), "from the image");
    let notes = notes(&world).await;
    assert!(
        notes
            .iter()
            .any(|it| it.starts_with("Running in image localhost/wheelhouse-test:")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn a_session_in_an_image_survives_a_restart_of_the_server() {
    let mut world = World::new(Setting::CONTAINER).await;
    assert_eq!(
        world
            .shell("echo before > state; cat /etc/image")
            .await
            .trim(),
        "this is the image"
    );
    world.server.kill9();
    world.server.restart();
    world.client = world.server.client_with(&world.server.key("full"));
    assert_eq!(world.shell("cat state").await.trim(), "before");
}

#[tokio::test]
async fn the_built_in_agent_runs_in_an_image() {
    let world = World::new(Setting::CONTAINER).await;
    let request = SessionCreateRequest {
        agent: "echo".to_owned(),
        repo: Some("project".to_owned()),
        prompt: Some("write hello.txt from echo\ncommit say hello".to_owned()),
        tier: Some("container".to_owned()),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap();
    let request = SessionWaitRequest {
        sessions: vec![session.id.clone()],
        timeout: Some(60),
        ..SessionWaitRequest::default()
    };
    world.client.session_wait(&request).await.unwrap();
    let done = world.client.session_get(&session.id).await.unwrap();
    assert_eq!((done.state.as_str(), done.failure), ("idle", None));
    let worktree = world
        .client
        .worktree_get(&session.worktree_id.unwrap())
        .await
        .unwrap();
    let shown = git(
        &world.repo,
        &["show", &format!("{}:hello.txt", worktree.branch)],
    );
    assert_eq!(shown.trim(), "from echo");
}

#[tokio::test]
async fn an_image_that_is_not_there_is_refused_with_the_command_that_gets_it() {
    let world = World::new(Setting::GUARDED).await;
    let create = |repo: &str| SessionCreateRequest {
        agent: "scripted".to_owned(),
        repo: Some(repo.to_owned()),
        tier: Some("container".to_owned()),
        ..SessionCreateRequest::default()
    };
    let refused = world
        .client
        .session_create(&create("project"))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("requires an image"), "{refused}");
    let source = world.repo.display().to_string();
    let request = RepoAddRequest {
        source,
        name: Some("imaged".to_owned()),
        image: Some("localhost/wheelhouse-absent:1".to_owned()),
        ..RepoAddRequest::default()
    };
    let repo = world.client.repo_add(&request).await.unwrap();
    assert_eq!(repo.image.as_deref(), Some("localhost/wheelhouse-absent:1"));
    let refused = world
        .client
        .session_create(&create("imaged"))
        .await
        .unwrap_err();
    let text = format!("{refused:?}");
    assert!(
        text.contains("podman has no image localhost/wheelhouse-absent:1"),
        "{text}"
    );
    assert!(
        text.contains("podman pull localhost/wheelhouse-absent:1"),
        "{text}"
    );
    let hostile = RepoAddRequest {
        image: Some("--privileged".to_owned()),
        name: Some("hostile".to_owned()),
        ..request
    };
    let refused = world
        .client
        .repo_add(&hostile)
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("image"), "{refused}");
}

#[tokio::test]
async fn only_administrators_choose_images() {
    let world = World::new(Setting::GUARDED).await;
    let request = UserCreateRequest {
        name: "mia".to_owned(),
        role: None,
        email: None,
        avatar_url: None,
        idempotency_key: None,
    };
    world.client.user_create(&request).await.unwrap();
    let request = KeyCreateRequest {
        name: "hers".to_owned(),
        scope: "full".to_owned(),
        user: Some("mia".to_owned()),
        expires_at: None,
        dialect: None,
        session: None,
        idempotency_key: None,
    };
    let key = world
        .client
        .key_create(&request)
        .await
        .unwrap()
        .key
        .unwrap();
    let member = world.server.client_with(&key);
    let administrators_client = world.server.client_with(&world.server.key("client"));
    for client in [member, administrators_client] {
        let request = RepoAddRequest {
            source: "https://example.org/x/y".to_owned(),
            image: Some("localhost/dev:1".to_owned()),
            ..RepoAddRequest::default()
        };
        let refused = client.repo_add(&request).await.unwrap_err().to_string();
        assert!(
            refused.contains("only administrators can choose"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn d4_a_session_connects_to_no_host_that_it_was_not_given() {
    let world = World::new(Setting::STRICT).await;
    let create = |hosts: &[&str], tier: &str| SessionCreateRequest {
        agent: "scripted".to_owned(),
        tier: Some(tier.to_owned()),
        hosts: Some(hosts.iter().map(|it| (*it).to_owned()).collect()),
        ..SessionCreateRequest::default()
    };
    for (hosts, tier, why) in [
        (
            &["evil.example"][..],
            "strict",
            "evil.example is not among the hosts",
        ),
        (&["*.example"], "strict", "hosts"),
        (&["allowed.example"], "guarded", "strict and container only"),
    ] {
        let refused = world
            .client
            .session_create(&create(hosts, tier))
            .await
            .unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let session = world
        .client
        .session_create(&create(&["other.example"], "strict"))
        .await
        .unwrap();
    assert_eq!(session.hosts, Some(vec!["other.example".to_owned()]));
    // The proxy answers 403 to what is not allowed, and something else to what does not resolve.
    let ask = |host: &str| {
        format!(
            "bash -c \"exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host}:443 HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n' >&3; head -n 1 <&3\""
        )
    };
    let own = World {
        session: session.id,
        ..world
    };
    let denied = own.shell(&ask("allowed.example")).await;
    assert!(denied.contains("403"), "{denied}");
    let allowed = own.shell(&ask("other.example")).await;
    assert!(
        !allowed.contains("403") && allowed.contains("HTTP/1.1"),
        "{allowed}"
    );
}

async fn notes(world: &World) -> Vec<String> {
    let request = MessageListRequest {
        session: world.session.clone(),
        after: Some("0".into()),
        include_system: Some(true),
        ..MessageListRequest::default()
    };
    let list = world.client.message_list(&request).await.unwrap();
    list.messages
        .into_iter()
        .map(|message| message.text)
        .collect()
}
