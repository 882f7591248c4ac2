//! Refusals about boards, zones, and resources that others depend on.

use serde_json::Value;
use wh_domain::{
    Advice, ArgumentValue, BoardRefusal, Dependents, ErrorCode, Operation, list_dependents,
};

use super::{Details, Explain, Resource};
use crate::template::TemplateRefusal;

/// What a template is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateOf {
    Loop,
    Zone,
}

impl TemplateOf {
    fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop's template",
            Self::Zone => "zone's prompt template",
        }
    }
}

/// Why something about a board, a template or a deletion was refused.
#[derive(Debug, thiserror::Error)]
pub enum BoardReason {
    #[error("zone requires a board")]
    ZoneWithoutBoard,
    #[error("the {}: {refusal}", .of.as_str())]
    Template {
        of: TemplateOf,
        refusal: TemplateRefusal,
    },
    /// Others depend on what was to be deleted: a board, a repository or a user.
    #[error("the {resource} is in use by {}", list_dependents(.dependents))]
    InUse {
        resource: Resource,
        dependents: Vec<Dependents>,
    },
}

impl Explain for BoardReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ZoneWithoutBoard | Self::Template { .. } => ErrorCode::InvalidInput,
            Self::InUse { .. } => ErrorCode::Conflict,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::ZoneWithoutBoard => vec![
                Advice::omit("zone", "start it without a zone"),
                Advice::set("board", ArgumentValue::ID, "start it on a board"),
            ],
            Self::Template { of, .. } => vec![Advice::note(match of {
                TemplateOf::Loop => "docs/loops.md shows what a template can hold",
                TemplateOf::Zone => "docs/zones.md shows what a template can hold",
            })],
            Self::InUse { .. } => vec![
                Advice::note("remove these first"),
                Advice::set(
                    "force",
                    ArgumentValue::Flag(true),
                    "delete it anyway and list what was removed with it",
                ),
            ],
        }
    }

    fn details(&self) -> Details {
        let Self::InUse { dependents, .. } = self else {
            return Details::new();
        };
        let facts = dependents.iter().flat_map(|it| {
            let kind = it.kind.as_str();
            [
                (kind.to_owned(), Value::from(it.first.clone())),
                (format!("{kind}_count"), it.count.into()),
            ]
        });
        facts.collect()
    }
}

impl Explain for BoardRefusal {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Full { .. } => ErrorCode::LimitExceeded,
            Self::ZoneNameTaken { .. } => ErrorCode::Conflict,
            Self::Color { .. }
            | Self::NoZone { .. }
            | Self::ZoneWithoutName
            | Self::OutOfBounds => ErrorCode::InvalidInput,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        vec![Advice::call_with(
            Operation::BoardGet,
            [("board", ArgumentValue::ID)],
            "see the board's zones and placements",
        )]
    }
}
