//! Approvals: what only a person or a parent may settle.

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalKind {
    Permission,
    Question,
    Plan,
}

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    Pending,
    Allowed,
    Denied,
    /// Nobody answered in time, which denies.
    TimedOut,
    /// The turn that asked is gone.
    Withdrawn,
}
