//! Samples of the reasons about sessions and starting them.

use std::io;

use wh_domain::{AgentName, ImageRef, ModelName, Tier};
use wh_git::{ConfigError, WorktreeError};

use super::{
    super::{RunReason, SessionReason, SettingsReason},
    Samples,
};

fn agent() -> AgentName {
    AgentName::parse("codex").expect("a valid agent name")
}

fn text(text: &str) -> String {
    text.to_owned()
}

impl Samples for SessionReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Archived,
            Some(Self::Archived) => Self::Failed {
                reason: text("it crashed"),
            },
            Some(Self::Failed { .. }) => Self::BudgetSpent { by_agent: true },
            Some(Self::BudgetSpent { by_agent: true }) => Self::BudgetSpent { by_agent: false },
            Some(Self::BudgetSpent { by_agent: false }) => Self::LeadBudgetSpent { part: "turns" },
            Some(Self::LeadBudgetSpent { .. }) => Self::ParentBudgetSpent,
            Some(Self::ParentBudgetSpent) => Self::DayBudgetSpent { part: "turns" },
            Some(Self::DayBudgetSpent { .. }) => Self::FilesWithoutPrompt,
            Some(Self::FilesWithoutPrompt) => Self::SteeredByGuest,
            Some(Self::SteeredByGuest) => Self::Itself { leads: true },
            Some(Self::Itself { leads: true }) => Self::Itself { leads: false },
            Some(Self::Itself { leads: false }) => Self::Unnamed,
            Some(Self::Unnamed) => Self::ParentUnnamed,
            Some(Self::ParentUnnamed) => Self::ParentEnded,
            Some(Self::ParentEnded) => Self::ParentWithoutWorktree,
            Some(Self::ParentWithoutWorktree) => Self::HasChildren,
            Some(Self::HasChildren) => Self::Stopping,
            Some(Self::Stopping) => Self::ForkTurnRunning,
            Some(Self::ForkTurnRunning) => Self::WaitCount { max: 20 },
            Some(Self::WaitCount { .. }) => Self::NothingShared,
            Some(Self::NothingShared) => Self::NotShareable,
            Some(Self::NotShareable) => Self::MessageId,
            Some(Self::MessageId) => Self::AfterPosition,
            Some(Self::AfterPosition) => Self::OptionNotOffered {
                wanted: "allow_once",
                offered: text("none"),
                can_allow_always: true,
            },
            Some(Self::OptionNotOffered {
                can_allow_always: true,
                ..
            }) => Self::OptionNotOffered {
                wanted: "allow_always",
                offered: text("none"),
                can_allow_always: false,
            },
            Some(Self::OptionNotOffered {
                can_allow_always: false,
                ..
            }) => Self::AnswerTooLong { bytes_max: 100 },
            Some(Self::AnswerTooLong { .. }) => Self::AnswerWithoutText,
            Some(Self::AnswerWithoutText) => Self::ModelNotOffered {
                agent: agent(),
                model: ModelName::parse("large").expect("a valid model name"),
                offered: vec![text("small")],
            },
            Some(Self::ModelNotOffered { .. }) => Self::ModelsUnknown,
            Some(Self::ModelsUnknown) => return None,
        })
    }
}

impl Samples for SettingsReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NothingToChange,
            Some(Self::NothingToChange) => Self::TitleOnly,
            Some(Self::TitleOnly) => Self::ModelByAgent,
            Some(Self::ModelByAgent) => Self::BudgetByAgent,
            Some(Self::BudgetByAgent) => Self::BudgetAboveLimits,
            Some(Self::BudgetAboveLimits) => Self::RoleByAgent,
            Some(Self::RoleByAgent) => return None,
        })
    }
}

impl Samples for RunReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let tier = Tier::Strict;
        let error = || io::Error::other("permission denied");
        let path = "/tmp/x";
        Some(match last {
            None => Self::SharesCheckout { tier },
            Some(Self::SharesCheckout { .. }) => Self::TierUnavailable {
                tier,
                reason: text("there are no namespaces"),
                remedy: text("allow them"),
            },
            Some(Self::TierUnavailable { .. }) => Self::HomeUnprotected { tier },
            Some(Self::HomeUnprotected { .. }) => Self::NoImage { agent: agent() },
            Some(Self::NoImage { .. }) => Self::ImageLacks {
                image: ImageRef::parse("localhost/dev:1").expect("a valid image"),
                programs: vec![text("node"), text("git")],
            },
            Some(Self::ImageLacks { .. }) => Self::Directory {
                path: path.into(),
                error: error(),
            },
            Some(Self::Directory { .. }) => Self::SessionDirectories { error: error() },
            Some(Self::SessionDirectories { .. }) => Self::GitAccess { error: error() },
            Some(Self::GitAccess { .. }) => Self::ProjectConfig { error: error() },
            Some(Self::ProjectConfig { .. }) => Self::ProjectConfigUnreadable {
                agent: agent(),
                error: ConfigError::Link { path: path.into() },
            },
            Some(Self::ProjectConfigUnreadable { .. }) => Self::PrivateClone {
                error: WorktreeError::Taken { path: path.into() },
            },
            Some(Self::PrivateClone { .. }) => Self::Runner {
                reason: text("permission denied"),
            },
            Some(Self::Runner { .. }) => return None,
        })
    }
}
