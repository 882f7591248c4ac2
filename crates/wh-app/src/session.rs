//! Sessions, as far as they can be looked at and named. Running them is the next step.

mod outline;
mod update;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    AgentCommand, Facts, IdRef, OfferedModel, Operation, Page, PageRequest, Reach, Reference,
    Session, SessionBrief, SessionCounts, SessionFilter, SessionId, SessionOutline, SessionQuery,
    ShareLevel, ToolsLink,
};

use crate::{
    App, AppError, OpContext, Resource, Result,
    context::facts,
    lookup::{id_of, only_one},
};

/// The most sessions a tree is shown with.
const TREE_MAX: u32 = 500;

/// A session and what is known of its process.
#[derive(Clone, Debug)]
pub struct SessionDetail {
    pub session: Session,
    /// Whether the agent has reached our tools; nothing while there is no process.
    pub tools: Option<ToolsLink>,
    /// How much of it is given to the caller, if it is somebody else's.
    pub shared: Option<ShareLevel>,
    /// The models that its agent offers.
    pub models: Vec<OfferedModel>,
    /// The commands that its agent announced in the latest run.
    pub commands: Vec<AgentCommand>,
}

/// A session and its family.
#[derive(Clone, Debug)]
pub struct SessionRelatives {
    pub session: SessionId,
    /// Every session of the tree that the caller may see, parents before children.
    pub tree: Vec<Session>,
    /// For agents: the sessions around their own that they may not open.
    pub others: Vec<SessionOutline>,
    /// Number of sessions on the calling agent's board; set only if `others` lists fewer.
    pub board_total: Option<u64>,
}

impl App {
    /// Lists sessions.
    pub async fn session_list(
        &self,
        cx: &OpContext,
        query: SessionQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Session, Uuid>> {
        let operation = Operation::SessionList;
        self.read(cx, operation, Facts::new(), async {
            let (reach, filter) = self.session_scope(cx, query).await?;
            let found = self.store.session_list(reach, &filter, page).await?;
            self.counted(reach, &filter, page, found).await
        })
        .await
    }

    /// Lists sessions as [`Self::session_list`] does, with the properties that lists show.
    pub async fn session_brief_list(
        &self,
        cx: &OpContext,
        query: SessionQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionBrief, Uuid>> {
        let operation = Operation::SessionList;
        self.read(cx, operation, Facts::new(), async {
            let (reach, filter) = self.session_scope(cx, query).await?;
            let found = self.store.session_brief_list(reach, &filter, page).await?;
            self.counted(reach, &filter, page, found).await
        })
        .await
    }

    /// Counts the caller's sessions by stage, without archived ones.
    pub async fn session_counts(&self, cx: &OpContext) -> Result<SessionCounts> {
        let operation = Operation::SessionList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?.own();
            let filter = SessionFilter::default();
            let tallies = self.store.session_tally(reach, &filter).await?;
            Ok(SessionCounts::of(&tallies))
        })
        .await
    }

    /// Adds the total to a page that was asked for with it.
    async fn counted<T>(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
        found: Page<T, Uuid>,
    ) -> Result<Page<T, Uuid>> {
        let is_whole = page.after.is_none() && page.skip == 0 && found.next.is_none();
        let total = match is_whole {
            true => Some(found.items.len() as u64),
            false if page.is_counted => Some(self.store.session_count(reach, filter).await?),
            false => None,
        };
        Ok(Page { total, ..found })
    }

    /// Returns whose sessions a list holds, and which of them.
    async fn session_scope(
        &self,
        cx: &OpContext,
        query: SessionQuery,
    ) -> Result<(Reach, SessionFilter)> {
        let operation = Operation::SessionList;
        let reach = Self::list_reach(cx, operation, query.shared)?;
        let filter = self.session_filter(cx.authorize(operation)?, query).await?;
        Ok((reach, filter))
    }

    async fn session_filter(&self, reach: Reach, query: SessionQuery) -> Result<SessionFilter> {
        let mut filter = SessionFilter {
            states: query.states,
            spawned: query.spawned,
            needs_you: query.needs_you,
            title: query.title,
            archived: query.archived,
            ..SessionFilter::default()
        };
        if let Some(board) = &query.board {
            filter.board = Some(self.board_lookup(reach, board).await?.id);
        }
        if let Some(worktree) = &query.worktree {
            filter.worktree = Some(self.worktree_lookup(reach, worktree).await?.id);
        }
        if let Some(parent) = &query.parent {
            filter.parent = Some(self.session_lookup(reach, parent).await?.id);
        }
        Ok(filter)
    }

    /// Returns a session and whether its agent has reached our tools.
    pub async fn session_get(&self, cx: &OpContext, session: &Reference) -> Result<SessionDetail> {
        let operation = Operation::SessionGet;
        self.read(
            cx,
            operation,
            facts([("session", session.as_str())]),
            async {
                let reach = cx.authorize(operation)?;
                let session = self.session_lookup(reach, session).await?;
                let run = self.store.run_get(session.id, session.epoch).await?;
                let live = run.filter(|run| run.ended_at.is_none());
                let tools = live.map(|run| run.tools);
                let shared = self.shared_level(reach, &session).await?;
                Ok(SessionDetail {
                    models: self.store.agent_models(&session.agent).await?,
                    commands: self.store.run_commands(session.id, session.epoch).await?,
                    session,
                    tools,
                    shared,
                })
            },
        )
        .await
    }

    /// Returns how much of a session within reach is given to the caller, if it is somebody else's.
    async fn shared_level(&self, reach: Reach, session: &Session) -> Result<Option<ShareLevel>> {
        let Reach::UserAndGuest { user, .. } = reach else {
            return Ok(None);
        };
        if session.owner.user == user {
            return Ok(None);
        }
        let level = ShareLevel::Prompt;
        let prompted = Reach::Guest { user, level };
        let id = IdRef::Whole(session.id.into_untyped_uuid());
        let found = self.store.session_find(prompted, &id).await?;
        Ok(Some(match found.is_empty() {
            true => ShareLevel::Read,
            false => level,
        }))
    }

    /// Returns the session whose token is calling.
    pub async fn session_current(&self, cx: &OpContext) -> Result<Session> {
        let operation = Operation::SessionCurrent;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let own = cx.principal.credential.session();
            let own = own.ok_or_else(|| AppError::not_found(Resource::Session))?;
            self.session_lookup(reach, &Reference::from(own)).await
        })
        .await
    }

    /// Returns a session's ancestors, siblings and descendants, as far as the caller may open them, and for agents the titles and
    /// states of the others.
    pub async fn session_tree(
        &self,
        cx: &OpContext,
        session: &Reference,
    ) -> Result<SessionRelatives> {
        let operation = Operation::SessionTree;
        self.read(
            cx,
            operation,
            facts([("session", session.as_str())]),
            async {
                let reach = cx.authorize(operation)?;
                let found = self.session_lookup(reach, session).await?;
                let tree = self.store.session_tree(reach, found.root, TREE_MAX).await?;
                let (others, board_total) = match reach {
                    Reach::Tree(own) => self.outlines(own, &tree).await?,
                    _ => (Vec::new(), None),
                };
                Ok(SessionRelatives {
                    session: found.id,
                    tree,
                    others,
                    board_total,
                })
            },
        )
        .await
    }

    pub(crate) async fn session_lookup(
        &self,
        reach: Reach,
        reference: &Reference,
    ) -> Result<Session> {
        let found = self.store.session_find(reach, &id_of(reference)?).await?;
        only_one(Resource::Session, found, |s| {
            format!("{} {}", s.id, s.title)
        })
    }
}
