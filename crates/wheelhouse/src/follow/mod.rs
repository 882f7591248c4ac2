//! Following a session in a terminal or a pipe: what it says, does and asks, as it happens.
//!
//! The change feed says that something changed; [`Following::next`] reads what, and tells it. When the server goes away it
//! waits and goes on where it was, so that a restart costs a follower nothing but time.

mod feed;
mod stage;
mod teller;

use wh_api::{
    ApprovalListRequest, ApprovalView, MessageListRequest, MessageListView, MessageView,
    TurnDetailView,
};
use wh_client::{Client, ClientError};

use self::feed::{Change, Changes};
pub(crate) use self::stage::{Stage, find_repo};
pub(crate) use self::teller::{AnswerBy, Detail, Teller};
use crate::exit::CliResult;
use crate::ui::Ui;

/// How much of a transcript is read at a time.
const PAGE_MESSAGES: u32 = 200;
const PAGE_BYTES: u32 = 1_000_000;

/// Which part of a session is followed.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The session's whole id.
    pub(crate) session: String,
    /// Only this turn, by the last 8 digits of its id.
    pub(crate) only: Option<String>,
    /// Messages after this one.
    pub(crate) after: u64,
    /// The repository whose clone it may wait for.
    pub(crate) repo: Option<String>,
}

/// Where a session stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) state: String,
    /// The turn that is followed.
    pub(crate) turn: Option<TurnDetailView>,
    /// What the agent waits for.
    pub(crate) approvals: Vec<ApprovalView>,
}

impl Standing {
    fn waits_for(&self, approval: &str) -> bool {
        self.approvals.iter().any(|it| it.id == approval)
    }
}

/// A session that is followed.
pub(crate) struct Following {
    client: Client,
    ui: Ui,
    scope: Scope,
    /// The turn whose end matters.
    turn: Option<String>,
    changes: Changes,
    teller: Teller,
    standing: Standing,
    /// What was heard and not looked at yet.
    unseen: Option<Change>,
}

impl Following {
    /// Begins to follow.
    pub(crate) async fn begin(
        client: Client,
        ui: Ui,
        scope: Scope,
        detail: Detail,
    ) -> CliResult<Self> {
        // The feed is opened first: what happens while the rest is read is heard.
        let changes = Changes::open(client.clone(), &scope).await?;
        Ok(Self {
            client,
            ui,
            teller: Teller::new(ui, detail, scope.after),
            changes,
            turn: scope.only.clone(),
            scope,
            standing: Standing::default(),
            unseen: Some(Change::EVERYTHING),
        })
    }

    /// Waits for news, tells them, and returns where the session stands. The first call tells what there is.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was heard and not told is told by the next call.
    pub(crate) async fn next(&mut self) -> CliResult<&Standing> {
        loop {
            let change = match self.unseen {
                Some(change) => change,
                None => {
                    let heard = self.changes.next().await?;
                    *self.unseen.insert(heard)
                }
            };
            match self.look(change).await {
                Ok(told) => {
                    self.unseen = None;
                    told?;
                    return Ok(&self.standing);
                }
                Err(error) if error.is_temporary() => {
                    self.changes.lose();
                    let heard = self.changes.next().await?;
                    self.unseen = Some(change.and(heard));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Tells about another turn from now on, and where it stands at once.
    pub(crate) fn watch(&mut self, turn: String) {
        self.turn = Some(turn);
        let state = Change {
            from: None,
            state: true,
        };
        self.unseen = Some(self.unseen.map_or(state, |unseen| unseen.and(state)));
    }

    /// Returns why the turn that is followed has not begun, if somebody at a terminal can see it.
    pub(crate) async fn stage(&self) -> Option<Stage> {
        match self.ui.shows_progress() {
            true => Stage::of(&self.client, &self.scope, &self.standing, &self.changes).await,
            false => None,
        }
    }

    /// Returns the approval of a question that was shown and is open, as far as is known.
    pub(crate) fn question(&self) -> Option<&str> {
        self.teller.question()
    }

    /// Ends a line that words have left open.
    pub(crate) fn end_line(&mut self) -> CliResult {
        self.teller.end_line()
    }

    /// Reads what changed and tells it, a page at a time; an error is the server's, a told one the terminal's.
    async fn look(&mut self, change: Change) -> Result<CliResult, ClientError> {
        let from = change.from.map_or(u64::MAX, |from| from.saturating_sub(1));
        // The state is read first: the last words of a turn are there when its end is.
        let mut standing = match change.state {
            true => Some(self.read_standing().await?),
            false => None,
        };
        loop {
            if let Some(standing) = &standing {
                self.teller.keep_question(&standing.approvals);
            }
            if let Err(error) = self.read_messages(from).await? {
                return Ok(Err(error));
            }
            let known = standing.as_ref().unwrap_or(&self.standing);
            match self.teller.question() {
                // It was asked after the state was read.
                Some(question) if !known.waits_for(question) => {
                    standing = Some(self.read_standing().await?);
                }
                _ => break,
            }
        }
        if let Some(standing) = standing {
            self.standing = standing;
            for approval in &self.standing.approvals {
                if let Err(error) = self.teller.approval(approval) {
                    return Ok(Err(error));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Reads the messages that are new or may have changed, and those after `from`, and tells them.
    async fn read_messages(&mut self, from: u64) -> Result<CliResult, ClientError> {
        let mut after = Some(self.teller.after().min(from));
        while let Some(from) = after {
            let page = read_page(&self.client, &self.scope.session, from).await?;
            let messages = page.messages.iter();
            for message in messages.filter(|message| self.scope.holds(message)) {
                if let Err(error) = self.teller.message(message) {
                    return Ok(Err(error));
                }
            }
            after = page.next_after;
        }
        Ok(Ok(()))
    }

    async fn read_standing(&self) -> Result<Standing, ClientError> {
        let session = &self.scope.session;
        let turn = match &self.turn {
            Some(turn) => Some(self.client.turn_get(turn).await?),
            None => None,
        };
        let state = self.client.session_get(session).await?.state;
        let approvals = match state.as_str() {
            "waiting" => pending(&self.client, session).await?,
            _ => Vec::new(),
        };
        Ok(Standing {
            state,
            turn,
            approvals,
        })
    }
}

impl Scope {
    fn holds(&self, message: &MessageView) -> bool {
        match (&self.only, &message.turn_id) {
            (Some(turn), Some(of)) => of.ends_with(turn.as_str()),
            _ => true,
        }
    }
}

/// Reads a stretch of a transcript after a message.
pub(crate) async fn read_page(
    client: &Client,
    session: &str,
    after: u64,
) -> Result<MessageListView, ClientError> {
    let request = MessageListRequest {
        session: session.to_owned(),
        after: Some(after.into()),
        view: Some("full".to_owned()),
        include_system: Some(true),
        limit: Some(PAGE_MESSAGES),
        max_bytes: Some(PAGE_BYTES),
        summarize: None,
    };
    client.message_list(&request).await
}

/// Returns what a session waits for, oldest first.
pub(crate) async fn pending(
    client: &Client,
    session: &str,
) -> Result<Vec<ApprovalView>, ClientError> {
    let request = ApprovalListRequest {
        session: Some(session.to_owned()),
        ..ApprovalListRequest::default()
    };
    let mut approvals = client.approval_list(&request).await?.approvals;
    approvals.reverse();
    Ok(approvals)
}
