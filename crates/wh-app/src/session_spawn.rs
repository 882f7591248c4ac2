//! Sessions that begin sessions.

use std::time::Duration;

use newtype_uuid::GenericUuid;
use wh_domain::{
    LeadRefusal, NewTurn, Operation, Policy, Reach, Reference, Route, Session, SessionId,
    SessionPlace, SettingKey, SpawnInput, SpawnLimits, Workspace, WorktreeBase,
};

use crate::{
    App, OpContext, Prompted, Result, SessionReason,
    context::facts,
    session_begin::{Beginning, Place, model_kept, title_of},
    session_wait::WAIT_MAX,
};

impl App {
    /// Begins a session under another one, which never gives it more than it has itself, and waits for what comes of its
    /// prompt if asked to.
    pub async fn session_spawn(
        &self,
        cx: &OpContext,
        input: SpawnInput,
        wait: Option<Duration>,
    ) -> Result<Prompted> {
        let operation = Operation::SessionSpawn;
        let parent = input.parent.as_ref().map_or("", Reference::as_str);
        let facts = facts([("parent", parent)]);
        // From before the child is there, so that nothing that comes of it is missed.
        let watch = wait.map(|wait| self.watch(wait.min(WAIT_MAX)));
        let turn = self
            .change(cx, operation, facts.clone(), async {
                let reach = cx.authorize(operation)?;
                let parent = self.parent_of(cx, reach, input.parent.as_ref()).await?;
                self.check_parent(cx, &parent).await?;
                let new = self.child(cx, reach, &parent, input).await?;
                let facts = self.with_tier(facts, &new.session);
                let id = self.begin(cx, operation, facts, new).await?;
                self.first_turn(id).await
            })
            .await?;
        self.outcome_of(turn, watch).await
    }

    /// Finds the session that a child is to have as its parent.
    async fn parent_of(
        &self,
        cx: &OpContext,
        reach: Reach,
        named: Option<&Reference>,
    ) -> Result<Session> {
        let own = cx.principal.credential.session().map(Reference::from);
        let reference = named.cloned().or(own);
        let reference = reference.ok_or(SessionReason::ParentUnnamed)?;
        let parent = self.session_lookup(reach, &reference).await?;
        if parent.archived || parent.state.name().is_end() {
            return Err(SessionReason::ParentEnded.into());
        }
        Ok(parent)
    }

    /// Refuses to let a session that leads create children of sessions that may do more than itself.
    async fn check_parent(&self, cx: &OpContext, parent: &Session) -> Result<()> {
        match self.lead(cx).await? {
            Some(lead) if lead.session.root != parent.root => Err(LeadRefusal::NotBelow.into()),
            _ => Ok(()),
        }
    }

    /// Makes the child, with no more than its parent has.
    async fn child(
        &self,
        cx: &OpContext,
        reach: Reach,
        parent: &Session,
        input: SpawnInput,
    ) -> Result<Beginning> {
        let spot = self.spot(parent.board, input.zone.as_ref()).await?;
        let agent = input.agent.unwrap_or_else(|| parent.agent.clone());
        self.check_agent_name(&agent)?;
        self.refuse_spent_day(parent.owner.user).await?;
        let work = self.store.work_get(parent.id).await?;
        let left = work.map_or(parent.budget_left(), |work| work.budget_left);
        if left.is_spent() {
            return Err(SessionReason::ParentBudgetSpent.into());
        }
        let id = SessionId::from_untyped_uuid(self.ids.next());
        let title = title_of(input.title, Some(&input.prompt), &agent)?;
        let place = match input.workspace.unwrap_or_else(|| parent.workspace()) {
            Workspace::None => Place::default(),
            Workspace::Shared => Place {
                repo: parent.repo,
                worktree: parent.worktree,
                path: Some(self.session_place(parent).await?).filter(|_| parent.worktree.is_none()),
                made: None,
            },
            Workspace::Own => {
                let wanted = self.own_worktree(parent, input.branch).await?;
                self.place(cx, reach, parent.owner, wanted, &title, parent.board)
                    .await?
            }
        };
        let asked = input.tier.or(Some(parent.tier));
        let tier = self.tier(asked, &agent, &place, Some(parent.tier)).await?;
        let hosts = self.hosts(input.hosts, tier, parent.hosts.as_ref())?;
        let asked = input.policy.unwrap_or(Policy {
            route: Route::Parent,
            ..parent.policy.clone()
        });
        let session = Session {
            role: parent.role.of_child(input.role)?,
            callback: input.callback,
            repo: place.repo,
            worktree: place.worktree,
            path: place.path,
            board: parent.board,
            policy: asked,
            mode: input.mode,
            model: input.model.or_else(|| model_kept(parent, &agent)),
            tier,
            hosts,
            mcp_dialect: input.mcp_dialect.unwrap_or(parent.mcp_dialect),
            budget: input.budget.intersect(self.budget_default().await?),
            ..Session::new(id, parent.owner, agent, title, cx.now)
        };
        let session = session.narrowed_below(parent, left)?;
        Ok(Beginning {
            turn: Some(NewTurn {
                files: input.files,
                ..self.new_turn(cx, id, &input.prompt, false)
            }),
            session,
            worktree: place.made,
            spawn: Some(self.spawn_limits().await?),
            spot,
        })
    }

    /// Plans a worktree that begins where the parent's branch is.
    async fn own_worktree(
        &self,
        parent: &Session,
        branch: Option<wh_domain::BranchName>,
    ) -> Result<SessionPlace> {
        let (Some(repo), Some(worktree)) = (parent.repo, parent.worktree) else {
            return Err(SessionReason::ParentWithoutWorktree.into());
        };
        let worktree = self.worktree_by_id(worktree).await?;
        Ok(SessionPlace::Repo {
            repo: Reference::from(repo),
            branch,
            base: Some(WorktreeBase::Branch(worktree.branch)),
        })
    }

    pub(crate) async fn spawn_limits(&self) -> Result<SpawnLimits> {
        Ok(SpawnLimits {
            depth_max: self.limit(SettingKey::SpawnDepthMax).await?,
            children_max: self.limit(SettingKey::SpawnChildrenMax).await?,
            tree_max: self.limit(SettingKey::SpawnTreeMax).await?,
            per_minute_max: self.limit(SettingKey::SpawnPerMinuteMax).await?,
        })
    }
}
