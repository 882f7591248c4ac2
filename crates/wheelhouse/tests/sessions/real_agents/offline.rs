//! A network that ends at loopback, so that "nothing leaves the machine" is enforced and not hoped for.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};

/// Puts this thread, and every process and thread it starts from now on, into a network namespace with nothing but loopback. Returns
/// what came of it: without the right to do so, or without `ip`, the network stays as it is.
pub(super) fn enter() -> &'static str {
    if !run(&["ip", "-V"]) {
        return "as it is, because there is no `ip`";
    }
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        return "as it is, because only root may take it away";
    }
    assert!(run(&["ip", "link", "set", "lo", "up"]));
    "loopback only"
}

#[expect(clippy::disallowed_methods, reason = "sets up the test's own network")]
fn run(words: &[&str]) -> bool {
    let output = Command::new(words[0]).args(&words[1..]).output();
    output.is_ok_and(|output| output.status.success())
}
