//! The addresses of one subscription, and what is news about each.
//!
//! Boards and sessions are told of by the change feed. Nobody tells of what lies in a worktree or which agents there are, and not always
//! that something of others is not shared any more: those are looked at, by the reading that the caller has, when something happened
//! there and now and then, and are news when they read differently.

use std::{collections::HashMap, time::Duration};

use rmcp::model::ReadResourceResult;
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use wh_app::{App, OpContext};
use wh_domain::{Event, EventKind, Reference, SessionId, Subject, SubjectKind, WorktreeId};

use crate::{address::Address, resources};

/// How often something is looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked at although nothing happened: people change files too.
const LOOK_ANYHOW_EVERY: Duration = Duration::from_secs(10);
/// Addresses of one subscription that are looked at; more are told by the feed alone.
const LOOKED_MAX: usize = 32;
/// Sessions whose worktree is remembered; when there are more, all are looked up again.
const SESSIONS_MAX: usize = 1_024;

/// Whose changes are news about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concern {
    Board(Subject),
    /// A session, and what belongs to it.
    Session(SessionId),
    /// What a session says.
    Messages(SessionId),
    /// What lies in a worktree.
    Worktree(WorktreeId),
    Agents,
}

/// An address somebody watches.
struct Entry {
    uri: String,
    concern: Concern,
    look: Option<Look>,
}

/// How something read when it was last looked at.
struct Look {
    digest: [u8; 32],
    at: Instant,
    /// Whether something happened since.
    stale: bool,
}

/// The addresses of one subscription.
#[derive(Default)]
pub(crate) struct Watched {
    entries: Vec<Entry>,
    worktrees: HashMap<SessionId, Option<WorktreeId>>,
}

impl Watched {
    /// Adds an address; tells whether the caller may see it.
    pub(crate) async fn add(&mut self, app: &App, cx: &OpContext, uri: &str) -> bool {
        let Some(address) = Address::parse(uri) else {
            return false;
        };
        let Some((concern, is_own)) = concern(app, cx, &address).await else {
            return false;
        };
        let is_looked_at = !is_own || matches!(concern, Concern::Worktree(_) | Concern::Agents);
        let looked_at = self.entries.iter().filter(|entry| entry.look.is_some());
        let look = match is_looked_at && looked_at.count() < LOOKED_MAX {
            true => Some(Look {
                digest: digest(app, cx, uri).await,
                at: Instant::now(),
                stale: false,
            }),
            false => None,
        };
        self.entries.push(Entry {
            uri: uri.to_owned(),
            concern,
            look,
        });
        true
    }

    /// Returns the addresses that events are news about, each once, and remembers what to look at.
    pub(crate) async fn concerned<'e>(
        &mut self,
        app: &App,
        cx: &OpContext,
        events: impl Iterator<Item = &'e Event>,
    ) -> Vec<String> {
        let mut news = vec![false; self.entries.len()];
        for event in events {
            let worktree = self.worktree_of(app, cx, event).await;
            for (entry, is_news) in self.entries.iter_mut().zip(&mut news) {
                *is_news |= entry.concern.is_told_by(event);
                if let (Some(look), Concern::Worktree(at)) = (&mut entry.look, entry.concern) {
                    look.stale |= worktree == Some(at);
                }
            }
        }
        let told = self
            .entries
            .iter()
            .zip(news)
            .filter(|(_, is_news)| *is_news);
        told.map(|(entry, _)| entry.uri.clone()).collect()
    }

    /// Returns the addresses of what is looked at.
    pub(crate) fn looked_at(&self) -> impl Iterator<Item = &str> {
        let looked_at = self.entries.iter().filter(|entry| entry.look.is_some());
        looked_at.map(|entry| entry.uri.as_str())
    }

    /// Looks at what is due, and returns the addresses of what reads differently.
    pub(crate) async fn looked(&mut self, app: &App, cx: &OpContext) -> Vec<String> {
        let mut news = Vec::new();
        for entry in &mut self.entries {
            let Some(look) = entry.look.as_mut().filter(|look| look.is_due()) else {
                continue;
            };
            let now = app.context(cx.principal.clone(), cx.surface);
            let digest = digest(app, &now, &entry.uri).await;
            if digest != look.digest {
                news.push(entry.uri.clone());
            }
            *look = Look {
                digest,
                at: Instant::now(),
                stale: false,
            };
        }
        news
    }

    /// Returns the worktree in which an event happened, if that matters to anybody here.
    async fn worktree_of(
        &mut self,
        app: &App,
        cx: &OpContext,
        event: &Event,
    ) -> Option<WorktreeId> {
        if !self.entries.iter().any(|entry| entry.look.is_some()) {
            return None;
        }
        let session = event.body.session?;
        let moves = event.body.subject.kind == SubjectKind::Session
            && matches!(event.body.kind, EventKind::Created | EventKind::Updated);
        if moves || self.worktrees.len() >= SESSIONS_MAX {
            self.worktrees.clear();
        }
        if let Some(known) = self.worktrees.get(&session) {
            return *known;
        }
        let found = app.session_get(cx, &Reference::from(session)).await;
        let worktree = found.ok().and_then(|found| found.session.worktree);
        self.worktrees.insert(session, worktree);
        worktree
    }
}

impl Look {
    fn is_due(&self) -> bool {
        let age = self.at.elapsed();
        age >= LOOK_ANYHOW_EVERY || (self.stale && age >= LOOK_EVERY)
    }
}

impl Concern {
    /// Tells whether an event by itself is news.
    fn is_told_by(self, event: &Event) -> bool {
        let body = &event.body;
        match self {
            Self::Board(board) => body.subject == board,
            // What its program wrote to stderr is not shown there.
            Self::Session(session) => {
                let is_its = body.session == Some(session) || body.subject == session.into();
                is_its && body.kind != EventKind::LogChanged
            }
            Self::Messages(session) => {
                body.kind == EventKind::MessageAdded && body.subject == session.into()
            }
            Self::Worktree(worktree) => body.subject == worktree.into(),
            Self::Agents => false,
        }
    }
}

/// Returns whose changes concern an address, if the caller may see it, and whether it is the caller's own.
async fn concern(app: &App, cx: &OpContext, address: &Address) -> Option<(Concern, bool)> {
    let session = async |id| {
        app.session_get(cx, id)
            .await
            .ok()
            .map(|found| found.session)
    };
    let (concern, owner) = match address {
        Address::Board(id) => {
            let board = app.board_get(cx, id).await.ok()?;
            (Concern::Board(board.id.into()), board.owner)
        }
        Address::Session(id) => {
            let session = session(id).await?;
            (Concern::Session(session.id), session.owner)
        }
        Address::SessionMessages(id) => {
            let session = session(id).await?;
            (Concern::Messages(session.id), session.owner)
        }
        Address::SessionDiff(id) => {
            let id = Reference::from(session(id).await?.worktree?);
            let worktree = app.worktree_get(cx, &id).await.ok()?.worktree;
            (Concern::Worktree(worktree.id), worktree.owner)
        }
        Address::Worktree(id) | Address::WorktreeFile { worktree: id, .. } => {
            let worktree = app.worktree_get(cx, id).await.ok()?.worktree;
            (Concern::Worktree(worktree.id), worktree.owner)
        }
        Address::Agents => {
            app.agent_list(cx).await.ok()?;
            return Some((Concern::Agents, true));
        }
    };
    Some((concern, owner.user == cx.principal.user))
}

/// Tells apart how a resource reads; what cannot be read is alike.
async fn digest(app: &App, cx: &OpContext, uri: &str) -> [u8; 32] {
    let read = resources::read(app, cx, uri).await;
    let text = |read: ReadResourceResult| serde_json::to_vec(&read.contents).unwrap_or_default();
    Sha256::digest(read.map(text).unwrap_or_default()).into()
}
