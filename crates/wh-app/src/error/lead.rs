//! Refusals about sessions with the role lead.

use wh_domain::{Advice, ErrorCode, LeadRefusal, Operation};

use super::Explain;

impl Explain for LeadRefusal {
    fn code(&self) -> ErrorCode {
        match self {
            Self::RoleChange => ErrorCode::Conflict,
            Self::NotAPerson
            | Self::Child
            | Self::AnotherLead
            | Self::LessContained { .. }
            | Self::MoreHosts
            | Self::SharedBoard
            | Self::NotBelow
            | Self::DeniedToItself => ErrorCode::Forbidden,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::NotAPerson => vec![
                Advice::omit("role", "create a session that does not lead"),
                Advice::note("or ask the session's owner"),
            ],
            Self::Child => vec![
                Advice::note("choose another role"),
                Advice::call(
                    Operation::SessionCreate,
                    "have a person create a session that leads",
                ),
            ],
            Self::RoleChange => note("create another session with the role that is needed"),
            Self::AnotherLead => note("ask that session's owner"),
            Self::LessContained { .. } | Self::MoreHosts => {
                note("create a session of your own for this, or ask that session's owner")
            }
            Self::SharedBoard => note("use a board that is not shared, or ask the board's owner"),
            Self::NotBelow => vec![
                Advice::omit("parent", "create a child of your own"),
                Advice::call(Operation::SessionTree, "find one of your descendants"),
            ],
            Self::DeniedToItself => note("deny it, or leave the answer to a person"),
        }
    }
}
