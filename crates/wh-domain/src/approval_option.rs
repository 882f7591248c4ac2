//! The options that an agent offers with a request for permission, and which decisions they express.

/// What choosing an option means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
}

impl OptionKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::AllowOnce,
        Self::AllowAlways,
        Self::RejectOnce,
        Self::RejectAlways,
    ];

    /// Returns the kind that a decision asks for.
    pub fn of(allow: bool, always: bool) -> Self {
        match (allow, always) {
            (true, true) => Self::AllowAlways,
            (true, false) => Self::AllowOnce,
            (false, true) => Self::RejectAlways,
            (false, false) => Self::RejectOnce,
        }
    }

    /// Returns the kind as agents send it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowAlways => "allow_always",
            Self::RejectOnce => "reject_once",
            Self::RejectAlways => "reject_always",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns whether the option allows what is asked.
    pub fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }

    /// Returns the kinds of option that express this decision, the best match first.
    ///
    /// A permission is never widened: only an option to allow once expresses "allow once".
    pub fn expressed_by(self) -> &'static [Self] {
        match self {
            Self::AllowOnce => &[Self::AllowOnce],
            Self::AllowAlways => &[Self::AllowAlways, Self::AllowOnce],
            Self::RejectOnce => &[Self::RejectOnce, Self::RejectAlways],
            Self::RejectAlways => &[Self::RejectAlways, Self::RejectOnce],
        }
    }

    /// Returns whether an agent that offers these options can be sent this decision.
    ///
    /// A denial can always be sent: without a matching option the request is cancelled.
    pub fn can_be_sent(self, offered: &[Self]) -> bool {
        let is_offered = |kind: &Self| offered.contains(kind);
        !self.allows() || self.expressed_by().iter().any(is_offered)
    }
}

#[cfg(test)]
mod tests {
    use super::OptionKind::{self, AllowAlways, AllowOnce, RejectAlways, RejectOnce};

    #[test]
    fn a_permission_is_never_widened() {
        assert!(!AllowOnce.can_be_sent(&[AllowAlways, RejectOnce]));
        assert!(!AllowOnce.can_be_sent(&[]));
        assert!(AllowOnce.can_be_sent(&[AllowAlways, AllowOnce]));
        assert!(AllowAlways.can_be_sent(&[AllowOnce]), "less is allowed");
        assert!(!AllowAlways.can_be_sent(&[RejectOnce, RejectAlways]));
    }

    #[test]
    fn a_denial_needs_no_option() {
        for offered in [&[][..], &[AllowOnce, AllowAlways], &[RejectOnce]] {
            assert!(RejectOnce.can_be_sent(offered));
            assert!(RejectAlways.can_be_sent(offered));
        }
    }

    #[test]
    fn no_decision_is_expressed_by_its_opposite() {
        for kind in OptionKind::ALL {
            let expressed = kind.expressed_by().iter();
            assert!(expressed.copied().all(|it| it.allows() == kind.allows()));
            assert_eq!(OptionKind::parse(kind.as_str()), Some(kind));
        }
    }
}
