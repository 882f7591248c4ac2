//! Refusals about sessions, their prompts, transcripts and approvals.

use wh_domain::{Advice, AgentName, ArgumentValue, ErrorCode, ModelName, Operation, SessionAction};

use super::Explain;

/// Why something about a session was refused.
#[derive(Debug, thiserror::Error)]
pub enum SessionReason {
    #[error("the session is archived")]
    Archived,
    #[error("the session failed and takes no more prompts: {reason}")]
    Failed { reason: String },
    #[error("the session's budget is used up")]
    BudgetSpent {
        /// Whether the caller is an agent, which cannot raise it.
        by_agent: bool,
    },
    #[error("the session's budget of {part} is used up")]
    LeadBudgetSpent { part: &'static str },
    #[error("the parent's budget is used up")]
    ParentBudgetSpent,
    #[error("the owner's budget of {part} for today is used up; it resets at 00:00 UTC")]
    DayBudgetSpent { part: &'static str },
    #[error("files require a prompt")]
    FilesWithoutPrompt,
    #[error("only the owner of a session can interrupt its turn with a prompt")]
    SteeredByGuest,
    #[error("a session cannot do this to itself")]
    Itself {
        /// Whether the calling session leads.
        leads: bool,
    },
    #[error("session is required")]
    Unnamed,
    #[error("parent is required")]
    ParentUnnamed,
    #[error("the parent is archived or has ended")]
    ParentEnded,
    #[error("the parent does not work in a worktree, so its child cannot have one")]
    ParentWithoutWorktree,
    #[error("the session has children")]
    HasChildren,
    #[error("the session is stopping, and its processes have not ended yet")]
    Stopping,
    #[error("a session can only be forked at a turn that has finished")]
    ForkTurnRunning,
    #[error("sessions must name 1 to {max} sessions")]
    WaitCount { max: usize },
    #[error("nothing is shared with a client key or an agent")]
    NothingShared,
    #[error("these cannot be shared")]
    NotShareable,
    #[error("a message must be named by its full id")]
    MessageId,
    #[error("after must be a message's number or its full id")]
    AfterPosition,
    #[error("the agent offers no option that means {wanted}; it offers {offered}")]
    OptionNotOffered {
        wanted: &'static str,
        offered: String,
        /// Whether the answer can be given for all such requests.
        can_allow_always: bool,
    },
    #[error("an answer has at most {bytes_max} bytes")]
    AnswerTooLong { bytes_max: usize },
    #[error("the answer to a question requires text")]
    AnswerWithoutText,
    #[error("the agent {agent} does not offer the model {model}")]
    ModelNotOffered {
        agent: AgentName,
        model: ModelName,
        offered: Vec<String>,
    },
    #[error("the agent has not announced its models")]
    ModelsUnknown,
}

impl Explain for SessionReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Archived
            | Self::Failed { .. }
            | Self::ParentEnded
            | Self::HasChildren
            | Self::Stopping
            | Self::ForkTurnRunning
            | Self::OptionNotOffered { .. }
            | Self::ModelsUnknown => ErrorCode::Conflict,
            Self::BudgetSpent { .. }
            | Self::LeadBudgetSpent { .. }
            | Self::ParentBudgetSpent
            | Self::DayBudgetSpent { .. } => ErrorCode::LimitExceeded,
            Self::FilesWithoutPrompt
            | Self::Unnamed
            | Self::ParentUnnamed
            | Self::ParentWithoutWorktree
            | Self::WaitCount { .. }
            | Self::NothingShared
            | Self::NotShareable
            | Self::MessageId
            | Self::AfterPosition
            | Self::AnswerTooLong { .. }
            | Self::AnswerWithoutText
            | Self::ModelNotOffered { .. } => ErrorCode::InvalidInput,
            Self::SteeredByGuest | Self::Itself { .. } => ErrorCode::Forbidden,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        let session = ("session", ArgumentValue::ID);
        match self {
            Self::Archived | Self::ParentEnded => {
                let restore = SessionAction::Restore.as_str();
                vec![Advice::call_with(
                    Operation::SessionManage,
                    [session, ("action", ArgumentValue::Text(restore))],
                    "restore an archived session",
                )]
            }
            Self::Failed { .. } => vec![
                Advice::call_with(
                    Operation::SessionFork,
                    [session],
                    "continue from its last turn in a new session",
                ),
                Advice::call_with(Operation::MessageList, [session], "read its transcript"),
            ],
            Self::BudgetSpent { by_agent: false } => vec![
                Advice::call_with(
                    Operation::SessionUpdate,
                    [session, ("budget", ArgumentValue::Placeholder("BUDGET"))],
                    "raise the budget",
                ),
                Advice::note("or create another session"),
            ],
            Self::BudgetSpent { by_agent: true } | Self::LeadBudgetSpent { .. } => {
                note("ask the session's owner to raise the budget")
            }
            Self::DayBudgetSpent { .. } => {
                vec![Advice::setting("budget.user_day.*", "raise the limit")]
            }
            Self::FilesWithoutPrompt => vec![Advice::set(
                "prompt",
                ArgumentValue::Placeholder("TEXT"),
                "say what to do with the files",
            )],
            Self::SteeredByGuest => vec![Advice::omit("when_busy", "queue the prompt")],
            Self::Itself { leads: true } => {
                vec![Advice::call(Operation::SessionList, "find another session")]
            }
            Self::Itself { leads: false } => vec![Advice::call_with(
                Operation::SessionTree,
                [session],
                "find one of your descendants",
            )],
            Self::ParentUnnamed => vec![Advice::call(
                Operation::SessionCreate,
                "start a session without a parent",
            )],
            Self::ParentWithoutWorktree => vec![
                Advice::set(
                    "workspace",
                    ArgumentValue::Text("shared"),
                    "work where the parent works",
                ),
                Advice::set(
                    "workspace",
                    ArgumentValue::Text("none"),
                    "work in an empty directory",
                ),
            ],
            Self::HasChildren => note("delete its children first"),
            Self::Stopping => note("delete it again in a moment"),
            Self::ForkTurnRunning => note("wait until it has finished, or name an earlier turn"),
            Self::NothingShared => vec![
                Advice::omit("shared", "list your own"),
                Advice::note("or use a key of a user"),
            ],
            Self::OptionNotOffered {
                can_allow_always, ..
            } => match can_allow_always {
                true => vec![
                    Advice::set(
                        "always",
                        ArgumentValue::Flag(true),
                        "allow this and later requests of the kind",
                    ),
                    Advice::note("or deny it"),
                ],
                false => note("deny it"),
            },
            Self::AnswerWithoutText => vec![
                Advice::set(
                    "text",
                    ArgumentValue::Placeholder("TEXT"),
                    "answer the question",
                ),
                Advice::note("or deny it to decline"),
            ],
            Self::ModelNotOffered { offered, .. } => {
                vec![Advice::note(format!("it offers {}", offered.join(", ")))]
            }
            Self::ModelsUnknown => {
                note("start a session of this agent first; some agents offer no models")
            }
            Self::ParentBudgetSpent
            | Self::Unnamed
            | Self::WaitCount { .. }
            | Self::NotShareable
            | Self::MessageId
            | Self::AfterPosition
            | Self::AnswerTooLong { .. } => Vec::new(),
        }
    }
}
