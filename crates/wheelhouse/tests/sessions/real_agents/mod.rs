//! The real coding agents as whole sessions of a real server, with a scripted model and nothing beyond the machine's loopback.
//!
//! `cargo xtask agents` installs them; without them each test says so in a line and is done. What differs between agents is in
//! [`table`], what they must all do is in [`story`] and [`memory`].

mod dialects;
mod family;
mod files;
mod hostile;
mod loops;
mod memory;
mod offline;
mod place;
mod story;
mod table;

use std::{future::Future, path::Path};

use place::Place;

/// Runs a story about an agent, unless the programs are not installed.
fn tell<F: Future<Output = ()>>(agent: &'static table::Real, story: fn(Place) -> F) {
    with_programs(async |programs| story(Place::prepare(agent, programs).await).await);
}

/// Runs a story about an agent in the tier `strict`.
fn tell_strictly<F: Future<Output = ()>>(agent: &'static table::Real, story: fn(Place) -> F) {
    with_programs(async |programs| story(Place::prepare_strict(agent, programs).await).await);
}

/// Runs a story with the programs, unless they are not installed.
fn with_programs(story: impl AsyncFnOnce(&Path)) {
    let Some(programs) = place::programs() else {
        println!("skipped: the agents are not installed; `cargo xtask agents` does that");
        return;
    };
    println!("network: {}", offline::enter());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(story(&programs));
}

macro_rules! stories {
    ($($module:ident: $agent:ident;)*) => {$(
        mod $module {
            use super::{files, memory, story, table, tell, tell_strictly};

            #[test]
            fn edits_a_file_once_it_may() {
                tell(&table::$agent, story::edits_a_file_once_it_may);
            }

            #[test]
            fn does_not_run_what_is_denied() {
                tell(&table::$agent, story::does_not_run_what_is_denied);
            }

            #[test]
            fn calls_our_tools_with_its_own_token() {
                tell(&table::$agent, story::calls_our_tools_with_its_own_token);
            }

            #[test]
            fn gives_its_model_the_files_of_a_prompt() {
                tell(&table::$agent, files::reach_the_model);
            }

            #[test]
            fn is_stopped_by_a_budget_in_money() {
                tell(&table::$agent, story::is_stopped_by_a_budget_in_money);
            }

            #[test]
            fn is_cancelled_in_the_middle_of_a_turn() {
                tell(&table::$agent, story::is_cancelled_in_the_middle_of_a_turn);
            }

            #[test]
            fn leaves_no_command_behind_when_cancelled() {
                tell(&table::$agent, story::leaves_no_command_behind_when_cancelled);
            }

            #[test]
            fn does_not_notice_that_the_server_is_killed() {
                tell(&table::$agent, story::does_not_notice_that_the_server_is_killed);
            }

            #[test]
            fn remembers_after_it_was_killed() {
                tell(&table::$agent, memory::after_the_agent_was_killed);
            }

            #[test]
            fn edits_a_file_in_strict_once_it_may() {
                tell_strictly(&table::$agent, story::edits_a_file_once_it_may);
            }

            #[test]
            fn commits_in_strict_without_the_key() {
                tell_strictly(&table::$agent, story::commits_without_the_key);
            }

            #[test]
            fn calls_our_tools_in_strict() {
                tell_strictly(&table::$agent, story::calls_our_tools_with_its_own_token);
            }

            #[test]
            fn remembers_in_strict_after_it_was_killed() {
                tell_strictly(&table::$agent, memory::after_the_agent_was_killed);
            }

            #[test]
            fn remembers_after_its_runner_was_killed() {
                tell(&table::$agent, memory::after_the_runner_was_killed);
            }
        }
    )*};
}

#[test]
fn e2_e4_claude_code_does_not_load_hostile_configuration() {
    with_programs(async |programs| hostile::is_not_loaded(&table::CLAUDE_CODE, programs).await);
}

#[test]
fn e2_e4_codex_does_not_load_hostile_configuration() {
    with_programs(async |programs| hostile::is_not_loaded(&table::CODEX, programs).await);
}

#[test]
fn e2_e4_gemini_does_not_load_hostile_configuration() {
    with_programs(async |programs| hostile::is_not_loaded(&table::GEMINI, programs).await);
}

#[test]
fn e2_e4_opencode_does_not_load_hostile_configuration() {
    with_programs(async |programs| {
        hostile::is_not_loaded(&table::OPENCODE_WITH_PLUGINS, programs).await;
    });
}

#[test]
fn claude_code_asks_in_words_and_is_answered() {
    tell(&table::CLAUDE_CODE, story::asks_in_words_and_is_answered);
}

#[test]
fn claude_code_calls_the_tools_of_agor() {
    with_programs(async |programs| dialects::claude_code_calls_agor(programs).await);
}

#[test]
fn gemini_uses_the_model_that_was_asked_for() {
    with_programs(async |programs| dialects::gemini_uses_its_model(programs).await);
}

#[test]
fn opencode_ends_a_loop_by_session_complete() {
    with_programs(async |programs| {
        dialects::opencode_ends_a_loop_by_session_complete(programs).await;
    });
}

#[test]
fn claude_code_is_told_what_its_child_codex_did() {
    with_programs(async |programs| family::is_told_what_its_child_did(programs).await);
}

#[test]
fn claude_code_is_told_once_though_the_server_is_killed_before() {
    with_programs(async |programs| {
        family::is_told_once_though_the_server_is_killed(programs).await;
    });
}

#[test]
fn claude_code_works_through_a_list_in_a_loop() {
    with_programs(async |programs| {
        loops::works_through_a_list(&table::CLAUDE_CODE, programs).await;
    });
}

#[test]
fn opencode_works_through_a_list_in_a_loop() {
    with_programs(async |programs| loops::works_through_a_list(&table::OPENCODE, programs).await);
}

stories! {
    claude_code: CLAUDE_CODE;
    codex: CODEX;
    gemini: GEMINI;
    opencode: OPENCODE;
}
