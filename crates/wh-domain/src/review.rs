//! The states of a review and the one function that moves between them.

use crate::SessionId;

/// How far one round of review has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Asked for; the reviewer is not at work yet.
    Requested,
    /// A review session judges the branch.
    UnderWay { reviewer: SessionId },
    /// An end: the work may be merged.
    Approved,
    /// An end: the coder has something to do.
    ChangesRequested,
    /// An end: nobody spoke in time.
    TimedOut,
    /// An end: the reviewer could not do it.
    Failed,
    /// An end: the work under review was given up.
    Abandoned,
}

/// Something that happened to a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewEvent {
    ReviewerStarted { reviewer: SessionId },
    WorkApproved,
    FeedbackGiven,
    TimeRanOut,
    ReviewerFailed,
    WorkAbandoned,
}

impl ReviewState {
    /// Returns the state's name as stored and shown.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::UnderWay { .. } => "under_way",
            Self::Approved => "approved",
            Self::ChangesRequested => "changes_requested",
            Self::TimedOut => "timed_out",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Tells whether nothing can follow.
    pub fn is_end(&self) -> bool {
        !matches!(self, Self::Requested | Self::UnderWay { .. })
    }

    /// The only way a review changes state; returns nothing when the event does not fit.
    #[must_use]
    pub fn next(&self, event: ReviewEvent) -> Option<Self> {
        use ReviewEvent as E;
        match (self, event) {
            (Self::Requested, E::ReviewerStarted { reviewer }) => Some(Self::UnderWay { reviewer }),
            (Self::UnderWay { .. }, E::WorkApproved) => Some(Self::Approved),
            (Self::UnderWay { .. }, E::FeedbackGiven) => Some(Self::ChangesRequested),
            (Self::Requested | Self::UnderWay { .. }, E::TimeRanOut) => Some(Self::TimedOut),
            (Self::Requested | Self::UnderWay { .. }, E::ReviewerFailed) => Some(Self::Failed),
            (Self::Requested | Self::UnderWay { .. }, E::WorkAbandoned) => Some(Self::Abandoned),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn event() -> impl Strategy<Value = ReviewEvent> {
        prop_oneof![
            any::<u128>().prop_map(|id| ReviewEvent::ReviewerStarted {
                reviewer: SessionId::from_untyped_uuid(Uuid::from_u128(id)),
            }),
            Just(ReviewEvent::WorkApproved),
            Just(ReviewEvent::FeedbackGiven),
            Just(ReviewEvent::TimeRanOut),
            Just(ReviewEvent::ReviewerFailed),
            Just(ReviewEvent::WorkAbandoned),
        ]
    }

    proptest! {
        #[test]
        fn an_end_is_final_and_a_verdict_needs_a_reviewer(events in prop::collection::vec(event(), 0..20)) {
            let mut state = ReviewState::Requested;
            for event in events {
                let before = state.clone();
                if let Some(next) = state.next(event) {
                    prop_assert!(!before.is_end());
                    if matches!(next, ReviewState::Approved | ReviewState::ChangesRequested) {
                        let under_way = matches!(before, ReviewState::UnderWay { .. });
                        prop_assert!(under_way, "{before:?} -> {next:?}");
                    }
                    state = next;
                }
            }
        }
    }
}
