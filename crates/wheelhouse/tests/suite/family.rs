//! Sessions that come of sessions.

use wh_testkit::server::TestServer;

use crate::harness::{run, run_json};
use crate::run::begin;

#[test]
fn children_and_forks_are_begun_followed_and_shown() {
    let server = TestServer::start();
    let parent = begin(&server, "say above");
    assert_eq!(run(&server, &["wait", &parent]).code, 0);
    let child = [
        "spawn",
        &parent,
        "say below",
        "--title",
        "the child",
        "--wait",
    ];
    let child = run(&server, &child);
    assert_eq!((child.code, child.stdout.trim()), (0, "below"), "{child:?}");
    let fork = run(
        &server,
        &["fork", &parent, "--turn", "1", "say beside", "--wait"],
    );
    assert!(fork.code == 0 && fork.stdout.contains("beside"), "{fork:?}");
    let tree = run(&server, &["tree", &parent]);
    assert!(tree.stdout.contains("  the child"), "{tree:?}");
    let nodes = run_json(&server, &["tree", &parent]);
    assert_eq!(nodes["tree"].as_array().unwrap().len(), 2, "{nodes}");
    let told = run_json(&server, &["spawn", &parent, "say again", "--callback"]);
    assert_eq!(told["parent_id"], nodes["session"]);
    let missing = run(&server, &["fork", &parent, "--turn", "7"]);
    assert!(
        missing.code != 0 && missing.stderr.contains("turn"),
        "{missing:?}"
    );
    let where_to = run(&server, &["spawn", &parent, "say x", "--workspace", "moon"]);
    assert!(
        where_to.stderr.contains("own, shared, none"),
        "{where_to:?}"
    );
}
