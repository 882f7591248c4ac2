//! Refusals about changes of a session's title, model, budget and role, and about the server's settings.

use wh_domain::{Advice, ErrorCode, Operation, SettingRefusal};

use super::Explain;

/// Why the change of a session was refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsReason {
    #[error("nothing to change")]
    NothingToChange,
    #[error("this key may only change the session's title")]
    TitleOnly,
    #[error("agents cannot change models")]
    ModelByAgent,
    #[error("agents cannot change budgets")]
    BudgetByAgent,
    #[error("the budget exceeds the server's limits for a session")]
    BudgetAboveLimits,
    #[error("only a person can change the role of a session")]
    RoleByAgent,
}

impl Explain for SettingsReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NothingToChange => ErrorCode::InvalidInput,
            Self::TitleOnly
            | Self::ModelByAgent
            | Self::BudgetByAgent
            | Self::BudgetAboveLimits
            | Self::RoleByAgent => ErrorCode::Forbidden,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::NothingToChange => {
                note("give a title, a description, a budget, a model or a role")
            }
            Self::TitleOnly => note("give a title only"),
            Self::ModelByAgent => note("ask the session's owner to change it"),
            Self::BudgetByAgent => note("ask the session's owner to raise it"),
            Self::BudgetAboveLimits => vec![
                Advice::call(Operation::ConfigGet, "see the limits"),
                Advice::setting("budget.session.*", "raise the limits"),
                Advice::note("an administrator can also raise this budget"),
            ],
            Self::RoleByAgent => note("ask the session's owner"),
        }
    }
}

impl Explain for SettingRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }

    fn advice(&self) -> Vec<Advice> {
        vec![Advice::call(
            Operation::ConfigGet,
            "list the settings and their allowed values",
        )]
    }
}
