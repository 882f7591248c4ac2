//! The closed list of reasons a call can fail for.

/// What kind of failure a caller is told of, the same on every surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// Absent, or somebody else's: the answer is the same.
    NotFound,
    /// The input cannot be used as it is.
    InvalidInput,
    /// An abbreviated id that means several things.
    AmbiguousId,
    /// No credential, or one that is not valid.
    Unauthenticated,
    /// A valid credential that may not do this.
    Forbidden,
    /// The state of things does not allow it now.
    Conflict,
    /// A limit or budget is reached.
    LimitExceeded,
    /// The review rounds of a session are used up.
    ReviewLimitExceeded,
    /// Something it needs is not there right now; trying again may help.
    Unavailable,
    /// A defect of ours.
    Internal,
}

impl ErrorCode {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::NotFound,
        Self::InvalidInput,
        Self::AmbiguousId,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Conflict,
        Self::LimitExceeded,
        Self::ReviewLimitExceeded,
        Self::Unavailable,
        Self::Internal,
    ];

    /// Returns the code as callers see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "NOT_FOUND",
            Self::InvalidInput => "INVALID_INPUT",
            Self::AmbiguousId => "AMBIGUOUS_ID",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::Conflict => "CONFLICT",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::ReviewLimitExceeded => "REVIEW_LIMIT_EXCEEDED",
            Self::Unavailable => "UNAVAILABLE",
            Self::Internal => "INTERNAL",
        }
    }

    /// Tells whether the fault is ours: defects and outages, not callers' mistakes.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Internal | Self::Unavailable)
    }

    /// Reads a code back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}
