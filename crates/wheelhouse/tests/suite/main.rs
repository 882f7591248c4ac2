//! The command line through the real binary: what people and scripts see.
#![expect(
    clippy::unwrap_used,
    reason = "a test's helper fails by panicking, like the test itself"
)]

mod agents;
mod agents_install;
mod attach;
mod attach_editor;
mod bad_input;
mod board;
mod bridge;
mod config;
mod connections;
mod credential;
mod deletions;
mod demo;
mod doctor;
mod family;
mod follow;
mod harness;
mod help;
mod install;
mod key;
mod kill_all;
mod life;
mod local_socket;
mod loops;
mod nouns;
mod run;
mod run_answers;
mod run_workspace;
mod serve;
mod start;
mod terminal;
mod times;
mod tool;
mod turn;
mod worktree;

/// Every file of this folder is part of the suite; a forgotten `mod` line would be tests that never run.
#[test]
fn no_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let here = include_str!("main.rs");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        if is_rust && name != "main" {
            assert!(here.contains(&format!("\nmod {name};\n")), "{name}.rs");
        }
    }
}
