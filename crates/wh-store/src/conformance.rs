//! Checks that every backend must pass, written against the trait alone.
//!
//! Each check is an async function over a store. It makes its own users and ids, so it does not mind what is in the
//! database already; it needs the store for itself only where its name says so. A backend runs each as a test of its
//! own with [`crate::conformance_checks!`], or all of them with [`all`].

pub mod approval;
pub mod audit;
pub mod audit_filter;
pub mod board;
pub mod commit;
pub mod event;
pub mod fixture;
pub mod host_credential;
pub mod key;
pub mod loops;
pub mod message;
pub mod reach;
pub mod repo;
pub mod retention;
pub mod run;
pub mod search;
pub mod session;
pub mod setting;
pub mod share;
pub mod store;
pub mod task;
pub mod turn;
pub mod usage;
pub mod user;
pub mod wait;
pub mod webhook;
pub mod worktree;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::Store;

/// What a check returns; it panics where an expectation does not hold.
pub type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A check.
pub type Check = fn(Arc<dyn Store>) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Gives the list of checks to a macro of the caller: `module { check, … } …`, below `wh_store::conformance`.
#[macro_export]
macro_rules! conformance_checks {
    ($with:ident) => {
        $with! {
            user {
                is_found_by_id_name_and_list,
                names_are_unique,
                lists_page_to_the_end,
                changes_are_kept_and_in_a_store_of_its_own_one_administrator_stays,
                what_disabled_users_run_is_found,
                one_who_is_deleted_leaves_everything_to_the_heir,
            }
            key {
                is_found_by_hash_and_id,
                prefixes_are_unique,
                lists_hide_automatic_ones_and_page_to_the_end,
                revoking_twice_keeps_the_first_time,
                last_use_never_goes_back,
            }
            repo {
                approvals_are_kept_by_name_and_content,
                is_found_as_it_was_inserted,
                names_are_unique_per_owner,
                settles_once,
                lists_page_to_the_end,
                a_deleted_one_is_neither_listed_nor_counted,
            }
            board {
                is_found_as_it_was_inserted,
                is_saved_with_everything_on_it,
                one_of_many_saves_of_a_revision_wins,
                a_save_is_seen_by_every_later_read,
                lists_page_to_the_end,
                of_an_unknown_owner_is_refused,
            }
            session {
                is_found_as_it_was_inserted_in_every_state,
                patches_change_only_what_they_name,
                lists_filter_and_page_to_the_end,
                lists_filter_by_the_latest_turn,
                lists_filter_by_the_state_as_shown,
                totals_follow_every_change,
                lists_hold_what_needs_somebody,
                lists_filter_by_title,
                trees_list_parents_first,
                descent_is_known,
                begins_with_its_first_prompt_while_there_is_room,
                moves_only_where_it_may,
                is_stopped_and_archived_at_once,
                is_deleted_only_when_nothing_hangs_on_it,
            }
            run {
                begins_once_and_fences_the_one_before,
                steps_are_stored_once,
                a_turn_goes_from_the_queue_to_its_end,
                turns_share_what_a_session_has_cost,
                a_message_with_a_known_reference_is_replaced,
                a_process_that_is_gone_takes_its_turn_with_it,
                work_is_listed_until_it_is_done,
                are_listed_latest_first_with_their_stderr,
                keep_models_and_commands,
                a_log_is_told_while_it_lives_and_when_it_changes,
            }
            turn {
                files_stay_with_their_prompt,
                queues_hold_their_order_and_their_limit,
                an_interrupt_ends_one_turn,
                prompts_between_two_sessions_are_limited,
                a_prompt_resumes_what_was_stopped_and_no_end,
                are_found_within_reach_and_page_to_the_end,
            }
            approval {
                makes_its_session_wait_until_it_is_settled,
                is_sent_until_the_runner_has_it,
                reasons_become_a_turn,
                reasons_wait_for_the_next_turn,
                reasons_outlive_their_turn,
                is_settled_once,
                an_answer_says_who_gave_it,
                is_found_within_reach,
            }
            worktree {
                is_found_as_it_was_inserted,
                moves_only_from_the_state_it_was_seen_in,
                branches_are_taken_until_it_is_removed,
                lists_filter_and_page_to_the_end,
                reach_is_exact,
                is_counted_when_something_happened,
                lies_on_a_board_with_its_sessions,
            }
            message {
                are_numbered_without_gaps,
                of_an_older_run_are_refused,
                are_read_from_anywhere,
                are_found_by_id_and_kind_within_reach,
                of_concurrent_writers_are_all_there,
            }
            host_credential {
                is_found_by_its_user_alone,
                is_replaced_by_the_next,
            }
            search {
                finds_messages_by_all_their_words,
                takes_hostile_text,
            }
            event {
                are_in_order_and_without_gaps_under_64_writers,
                are_seen_by_those_who_reach_their_subject,
                are_paged_to_the_end,
                wake_the_watch_when_they_can_be_read,
                can_be_announced_alone,
            }
            audit_filter {
                filters_hold_together_in_a_store_of_its_own,
                what_is_rare_is_found_page_by_page,
            }
            audit {
                of_changes_is_there_at_once,
                of_reads_is_there_soon,
                of_many_reads_is_complete_and_in_order,
                is_filtered_and_paged_to_the_end,
                is_seen_by_those_it_is_about,
            }
            retention {
                old_events_and_reads_are_forgotten_and_changes_are_not,
            }
            setting {
                are_set_and_unset,
            }
            task {
                are_numbered_and_listed_by_urgency,
                change_only_where_they_are_told_to,
                never_wait_for_themselves,
                are_handed_to_one_of_many,
                of_a_session_are_given_back_when_its_process_is_gone,
                lists_are_done_when_nothing_is_open,
                notes_and_iterations_are_kept,
            }
            loops {
                are_found_as_they_were_started,
                take_each_step_once,
                begin_an_iteration_and_its_session_together,
                marks_of_lists_tell_what_has_changed,
            }
            commit {
                a_failing_change_leaves_no_trace,
                repeats_change_nothing,
                parallel_repeats_have_one_effect,
                marks_are_not_reused_for_other_requests,
                marks_of_other_credentials_never_meet,
                marks_are_forgotten_after_a_day,
                a_refused_change_does_not_use_its_mark_up,
                a_failing_change_does_not_spoil_its_neighbours,
            }
            reach {
                of_boards_repos_and_sessions_is_exact,
                of_users_and_keys_is_exact,
                abbreviated_ids_find_what_they_may_mean,
                abbreviated_ids_stay_within_reach,
                at_most_ten_candidates_are_returned,
            }
            share {
                reaches_whom_it_is_shared_with,
                gives_no_repositories_worktrees_users_or_keys,
            }
            usage {
                is_summed_by_day_agent_and_tree,
                is_counted_for_each_users_day,
                of_many_trees_is_summed_beyond_the_dearest,
                of_a_fork_is_its_own,
            }
            wait {
                is_kept_as_it_ended,
                of_one_user_are_only_so_many,
            }
            webhook {
                is_found_by_its_user_alone,
                plans_each_event_once,
                attempts_end_in_delivery_or_in_a_dead_letter,
                of_a_disabled_user_are_not_due,
            }
            store {
                is_healthy,
                backs_up_into_a_new_file_only,
                refuses_everything_once_closed_needs_its_own,
            }
        }
    };
}

macro_rules! list {
    ($($module:ident { $($check:ident),+ $(,)? })+) => {
        /// Returns every check with its name.
        pub fn all() -> Vec<(&'static str, Check)> {
            vec![$($((
                concat!(stringify!($module), "::", stringify!($check)),
                (|store| Box::pin($module::$check(store))) as Check,
            ),)+)+]
        }
    };
}

conformance_checks!(list);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let names: HashSet<_> = super::all().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), super::all().len());
        assert!(names.contains("board::is_found_as_it_was_inserted"));
    }
}
