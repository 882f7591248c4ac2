//! What a session's state means for the person who looks: the columns of the status view.

use crate::{SessionStateName, WorktreeChanges};

/// Where a session's work is, derived from facts. Nobody puts it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Waits for an answer, failed, was interrupted, or has used up its budget.
    NeedsYou,
    Working,
    InReview,
    /// At rest, with commits that are not merged and nothing that is not committed.
    ReadyToMerge,
    /// Waits for the next prompt.
    Ready,
    /// Is over, or all that it did is merged.
    Done,
}

/// How many sessions have the same facts that decide their stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionTally {
    pub state: SessionStateName,
    /// Whether part of the budget is used up.
    pub is_spent: bool,
    /// Whether there are commits and uncommitted changes; the numbers are 1 for any greater one.
    pub changes: Option<WorktreeChanges>,
    pub count: u64,
}

/// How many sessions there are in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts([u64; Stage::ALL.len()]);

impl SessionCounts {
    /// Sums groups by stage.
    pub fn of(tallies: &[SessionTally]) -> Self {
        let mut counts = Self::default();
        for tally in tallies {
            let stage = Stage::of(tally.state, tally.is_spent, tally.changes.as_ref());
            counts.0[stage as usize] += tally.count;
        }
        counts
    }

    /// Returns how many sessions are in a stage.
    pub fn in_stage(&self, stage: Stage) -> u64 {
        self.0[stage as usize]
    }

    /// Returns how many sessions there are.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 6] = [
        Self::NeedsYou,
        Self::Working,
        Self::InReview,
        Self::ReadyToMerge,
        Self::Ready,
        Self::Done,
    ];

    /// Returns the stage as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs_you",
            Self::Working => "working",
            Self::InReview => "in_review",
            Self::ReadyToMerge => "ready_to_merge",
            Self::Ready => "ready",
            Self::Done => "done",
        }
    }

    /// Derives the stage of a session from its state, whether its budget is used up, and what its worktree has to show.
    pub fn of(state: SessionStateName, is_spent: bool, changes: Option<&WorktreeChanges>) -> Self {
        use SessionStateName as State;
        match state {
            State::Waiting | State::Failed | State::Interrupted => Self::NeedsYou,
            State::Creating | State::Running | State::Stopping => Self::Working,
            State::Reviewing => Self::InReview,
            State::Terminated | State::Abandoned => Self::Done,
            State::Idle if is_spent => Self::NeedsYou,
            State::Idle | State::Stopped | State::Completed => match changes {
                Some(changes) if changes.can_merge() => Self::ReadyToMerge,
                Some(changes) if changes.is_merged() => Self::Done,
                _ if state == State::Idle => Self::Ready,
                _ => Self::Done,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(ahead: u64, unmerged: u64, is_clean: bool) -> WorktreeChanges {
        WorktreeChanges {
            added: 1,
            deleted: 0,
            ahead,
            unmerged,
            is_clean,
        }
    }

    #[test]
    fn work_at_rest_is_merged_ready_to_be_or_neither() {
        use SessionStateName::{Completed, Idle, Stopped};
        let table = [
            (None, Stage::Ready, Stage::Done),
            (Some(changes(0, 0, true)), Stage::Ready, Stage::Done),
            (Some(changes(0, 0, false)), Stage::Ready, Stage::Done),
            (Some(changes(2, 2, false)), Stage::Ready, Stage::Done),
            (
                Some(changes(2, 1, true)),
                Stage::ReadyToMerge,
                Stage::ReadyToMerge,
            ),
            (Some(changes(2, 0, true)), Stage::Done, Stage::Done),
        ];
        for (changes, idle, over) in table {
            assert_eq!(Stage::of(Idle, false, changes.as_ref()), idle);
            assert_eq!(Stage::of(Stopped, false, changes.as_ref()), over);
            assert_eq!(Stage::of(Completed, true, changes.as_ref()), over);
        }
    }

    #[test]
    fn counts_add_up_by_stage() {
        let tally = |state, is_spent, changes, count| SessionTally {
            state,
            is_spent,
            changes,
            count,
        };
        let counts = SessionCounts::of(&[
            tally(SessionStateName::Waiting, false, None, 3),
            tally(SessionStateName::Idle, true, Some(changes(0, 0, true)), 2),
            tally(SessionStateName::Idle, false, None, 200),
            tally(SessionStateName::Idle, false, Some(changes(1, 1, true)), 4),
            tally(SessionStateName::Terminated, false, None, 50),
        ]);
        let by_stage = Stage::ALL.map(|stage| counts.in_stage(stage));
        assert_eq!(by_stage, [5, 0, 0, 4, 200, 50]);
        assert_eq!(counts.total(), 259);
    }

    #[test]
    fn who_works_or_needs_somebody_is_never_ready() {
        let ready = changes(1, 1, true);
        for state in SessionStateName::ALL {
            let stage = Stage::of(state, true, Some(&ready));
            let at_rest = ["stopped", "completed"].contains(&state.as_str());
            assert_eq!(stage == Stage::ReadyToMerge, at_rest, "{state:?}");
        }
        let spent = Stage::of(SessionStateName::Idle, true, Some(&ready));
        assert_eq!(spent, Stage::NeedsYou);
    }
}
