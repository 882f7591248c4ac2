//! Prompts: ready-made ways to ask for something Wheelhouse is good at.
//!
//! A prompt is a row: what it takes and what its reader must be allowed to do. Its text is made in [`text`], with what the server
//! knows as data in it. Who could not follow a prompt is not shown it.

mod text;

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use wh_app::{App, OpContext};
use wh_domain::{Operation, Principal};

use crate::{complete::Completes, error::Refused};

/// The most bytes of an argument.
const ARGUMENT_BYTES_MAX: usize = 20_000;

/// The prompts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CreateBoard,
    Delegate,
    PlanLoop,
    ReviewBranch,
    SummarizeSession,
}

/// What is said about a prompt.
struct Row {
    name: &'static str,
    description: &'static str,
    /// What its reader must be allowed to do.
    needs: &'static [Operation],
    arguments: &'static [Argument],
}

struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
    completes: Option<Completes>,
}

const fn required(name: &'static str, description: &'static str) -> Argument {
    Argument {
        name,
        description,
        required: true,
        completes: None,
    }
}

const fn optional(name: &'static str, description: &'static str) -> Argument {
    Argument {
        required: false,
        ..required(name, description)
    }
}

impl Argument {
    const fn naming(self, completes: Completes) -> Self {
        Self {
            completes: Some(completes),
            ..self
        }
    }
}

const AGENT: Argument =
    optional("agent", "Which agent is to do it; a name of agent_list").naming(Completes::Agent);

impl Kind {
    const ALL: [Self; 5] = [
        Self::CreateBoard,
        Self::Delegate,
        Self::PlanLoop,
        Self::ReviewBranch,
        Self::SummarizeSession,
    ];

    fn row(self) -> Row {
        match self {
            Self::CreateBoard => Row {
                name: "create-board",
                description: "Lay out a board with zones for a piece of work",
                needs: &[Operation::BoardCreate],
                arguments: const { &[required("goal", "What the work is about")] },
            },
            Self::Delegate => Row {
                name: "delegate",
                description: "Hand a piece of work to another agent and be told when it is done",
                needs: &[Operation::SessionSpawn],
                arguments: const {
                    &[
                        required("task", "What is to be done"),
                        AGENT,
                        optional("session", "Begin it under this session")
                            .naming(Completes::Session),
                    ]
                },
            },
            Self::PlanLoop => Row {
                name: "plan-loop",
                description: "Plan work that fresh agents do step by step until it is done",
                needs: &[Operation::SessionSpawn],
                arguments: const {
                    &[
                        required("goal", "What is to be true in the end"),
                        AGENT,
                        optional("session", "Begin the steps under this session")
                            .naming(Completes::Session),
                    ]
                },
            },
            Self::ReviewBranch => Row {
                name: "review-branch",
                description: "Review what a worktree's branch changes",
                needs: &[Operation::WorktreeDiff, Operation::WorktreeGet],
                arguments: const {
                    &[
                        required("worktree", "Its id, or that of a session in it")
                            .naming(Completes::Worktree),
                        optional("focus", "What to look at above all"),
                    ]
                },
            },
            Self::SummarizeSession => Row {
                name: "summarize-session",
                description: "Sum up a session and its family from what the server knows",
                needs: &[Operation::SessionTree, Operation::MessageList],
                arguments: const {
                    &[
                        required("session", "The session's id, or its last 8 digits")
                            .naming(Completes::Session),
                    ]
                },
            },
        }
    }

    /// Finds a prompt that `principal` could follow.
    fn find(principal: &Principal, name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|kind| kind.row().name == name && kind.is_for(principal))
    }

    fn is_for(self, principal: &Principal) -> bool {
        let mut needs = self.row().needs.iter();
        needs.all(|operation| principal.authorize(*operation).is_ok())
    }
}

/// Returns the prompts that `principal` could follow.
pub(crate) fn list(principal: &Principal) -> Vec<Prompt> {
    let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_for(principal));
    let shown = |kind: Kind| {
        let row = kind.row();
        let argument = |it: &Argument| {
            PromptArgument::new(it.name)
                .with_description(it.description)
                .with_required(it.required)
        };
        let arguments = row.arguments.iter().map(argument).collect();
        Prompt::new(row.name, Some(row.description), Some(arguments))
    };
    kinds.map(shown).collect()
}

/// Tells what an argument of a prompt names.
pub(crate) fn completes(principal: &Principal, name: &str, argument: &str) -> Option<Completes> {
    let row = Kind::find(principal, name)?.row();
    let found = row.arguments.iter().find(|it| it.name == argument);
    found?.completes
}

/// Returns one prompt, filled in.
pub(crate) async fn get(
    app: &App,
    cx: &OpContext,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, Refused> {
    let kind = Kind::find(&cx.principal, name)
        .ok_or_else(|| invalid("no prompt of that name; prompts/list shows them"))?;
    let row = kind.row();
    check(&row, arguments)?;
    let given = |name: &str| arguments.get(name).and_then(|value| value.as_str());
    let needed = |name: &str| given(name).unwrap_or_default();
    let text = match kind {
        Kind::CreateBoard => text::create_board(needed("goal")),
        Kind::Delegate => {
            let (agent, session) = (given("agent"), given("session"));
            text::delegate(app, cx, needed("task"), agent, session).await?
        }
        Kind::PlanLoop => {
            let (agent, session) = (given("agent"), given("session"));
            text::plan_loop(app, cx, needed("goal"), agent, session).await?
        }
        Kind::ReviewBranch => {
            text::review_branch(app, cx, needed("worktree"), given("focus")).await?
        }
        Kind::SummarizeSession => text::summarize(app, cx, needed("session")).await?,
    };
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(row.description))
}

/// Refuses arguments that are missing, too long, or none of this prompt's.
fn check(row: &Row, arguments: &JsonObject) -> Result<(), ErrorData> {
    for argument in row.arguments {
        let value = arguments.get(argument.name).map(|value| value.as_str());
        let problem = match value {
            None if argument.required => "is missing",
            None => continue,
            Some(None) => "must be a text",
            Some(Some(text)) if text.len() > ARGUMENT_BYTES_MAX => "is too long",
            Some(Some(text)) if text.trim().is_empty() => "is empty",
            Some(Some(_)) => continue,
        };
        let name = argument.name;
        return Err(invalid(&format!("the argument {name:?} {problem}")));
    }
    let known = |name: &&String| row.arguments.iter().any(|it| it.name == name.as_str());
    if arguments.keys().any(|name| !known(&name)) {
        let names: Vec<_> = row.arguments.iter().map(|it| it.name).collect();
        let message = format!("this prompt takes {}, and no more", names.join(", "));
        return Err(invalid(&message));
    }
    Ok(())
}

fn invalid(message: &str) -> ErrorData {
    ErrorData::invalid_params(message.to_owned(), None)
}
