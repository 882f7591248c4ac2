//! Sessions that branch off others: the same conversation up to a turn, and the files as they were then.

use newtype_uuid::GenericUuid;
use wh_domain::{
    Budget, Fork, ForkInput, Forked, ForkedFiles, Message, Operation, PageLimit, PageRequest,
    Reach, Reference, RequestedTerms, Session, SessionId, SessionPlace, Turn, WorktreeBase,
    conversation_text, fork_title,
};

use crate::{
    App, AppError, OpContext, Resource, Result, SessionReason,
    context::facts,
    session_begin::{Beginning, Place, model_kept},
};

impl App {
    /// Branches a session off another. Its agent starts anew and is told what was said.
    ///
    /// A fork stands beside what it branches off; an agent's fork of its own session stands below it.
    ///
    /// Its worktree begins at the commit that the turn ended with, with the files that were not committed then.
    pub async fn session_fork(&self, cx: &OpContext, input: ForkInput) -> Result<Forked> {
        let operation = Operation::SessionFork;
        let facts = facts([("session", input.session.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let source = self.session_lookup(reach, &input.session).await?;
            let leave = input.leave_uncommitted;
            let work = self.store.work_get(source.id).await?;
            let left = work.map_or(source.budget_left(), |work| work.budget_left);
            let requested = RequestedTerms::of_fork(&input, &source, left);
            let (turn, new) = self.fork_of(cx, reach, &source, input, left).await?;
            let (planned, worktree) = (new.session.id, new.worktree.clone());
            let files = match &worktree {
                Some(worktree) => {
                    self.uncommitted_take(&source, &turn, worktree, leave)
                        .await?
                }
                None => ForkedFiles::None,
            };
            let begun = self.begin(cx, operation, facts, new).await;
            if begun.as_ref().ok() != Some(&planned)
                && let Some(worktree) = &worktree
            {
                self.uncommitted_forget(worktree).await;
            }
            let session = self.session_lookup(reach, &Reference::from(begun?)).await?;
            Ok(Forked {
                session,
                files,
                requested,
            })
        })
        .await
    }

    async fn fork_of(
        &self,
        cx: &OpContext,
        reach: Reach,
        source: &Session,
        input: ForkInput,
        budget: Budget,
    ) -> Result<(Turn, Beginning)> {
        let turn = self.fork_point(reach, source, input.turn).await?;
        let agent = input.agent.unwrap_or_else(|| source.agent.clone());
        self.check_agent_name(&agent)?;
        let is_own = cx.principal.credential.session() == Some(source.id);
        let lead = self.lead(cx).await?;
        let lead = lead.as_ref();
        // What a session that leads creates is its child, as everything else that it creates.
        let above = match lead {
            Some(lead) => Some(&lead.session),
            None => Some(source).filter(|_| is_own),
        };
        let role = match cx.principal.may_appoint_leads() {
            true => source.role,
            false => source.role.of_child(None)?,
        };
        let id = SessionId::from_untyped_uuid(self.ids.next());
        let title = match input.title {
            Some(title) => title,
            None => fork_title(
                &source.title,
                self.store.session_forks_count(source.id).await?,
            ),
        };
        let place = match (source.repo, source.worktree) {
            (Some(repo), Some(worktree)) => {
                let worktree = self.worktree_by_id(worktree).await?;
                let commit = turn.commit_after.clone().map(WorktreeBase::Commit);
                let wanted = SessionPlace::Repo {
                    repo: Reference::from(repo),
                    branch: None,
                    base: Some(commit.unwrap_or(WorktreeBase::Branch(worktree.branch))),
                };
                self.place(cx, reach, source.owner, wanted, &title, source.board)
                    .await?
            }
            _ => Place {
                path: source.path.clone(),
                ..Place::default()
            },
        };
        let least = lead.map_or(source.tier, |lead| source.tier.max(lead.session.tier));
        let tier = self.tier(Some(least), &agent, &place, Some(least)).await?;
        let hosts = lead.and_then(|lead| lead.session.hosts.as_ref());
        let hosts = self.hosts(source.hosts.clone(), tier, hosts)?;
        let session = Session {
            description: source.description.clone(),
            role,
            parent: source.parent,
            root: if source.parent.is_some() {
                source.root
            } else {
                id
            },
            depth: source.depth,
            lineage: source.lineage,
            fork: Some(Fork {
                from: source.id,
                turn: turn.number,
            }),
            callback: input.callback && (above.is_some() || source.parent.is_some()),
            repo: place.repo,
            worktree: place.worktree,
            path: place.path,
            board: source.board,
            policy: source.policy.clone(),
            mode: source.mode.clone().filter(|_| source.agent == agent),
            model: input.model.or_else(|| model_kept(source, &agent)),
            tier,
            hosts,
            mcp_dialect: source.mcp_dialect,
            budget,
            ..Session::new(id, source.owner, agent, title, cx.now)
        };
        let session = match (lead, above) {
            (Some(lead), _) => session.narrowed_below(&lead.session, lead.budget_left()?)?,
            (None, Some(above)) => session.below(above),
            (None, None) => session,
        };
        let spawn = match session.parent {
            Some(_) => Some(self.spawn_limits().await?),
            None => None,
        };
        let prompt = input
            .prompt
            .map(|prompt| self.new_turn(cx, id, &prompt, false));
        let new = Beginning {
            session,
            worktree: place.made,
            turn: prompt,
            spawn,
            spot: None,
        };
        Ok((turn, new))
    }

    /// Returns what the agent is told: the prompt, and before the first one of a fork what was said until then.
    pub(crate) async fn text_for_agent(&self, session: &Session, turn: &Turn) -> Result<String> {
        let is_first = |fork: &Fork| turn.number == fork.turn + 1;
        if !session.fork.as_ref().is_some_and(is_first) {
            return Ok(turn.prompt.clone());
        }
        let mut said = Vec::new();
        loop {
            let after = said.last().map_or(0, |message: &Message| message.seq);
            let page = self
                .store
                .message_list(Reach::All, session.id, after, PageLimit::MAX);
            let page = page.await?;
            if page.is_empty() {
                break;
            }
            said.extend(page);
        }
        said.retain(|message| message.turn != Some(turn.id));
        Ok(format!("{}{}", conversation_text(&said), turn.prompt))
    }

    /// Finds the last turn that a fork takes over.
    async fn fork_point(
        &self,
        reach: Reach,
        source: &Session,
        choice: Option<Reference>,
    ) -> Result<Turn> {
        let turn = match choice {
            Some(turn) => Some(self.turn_of(reach, source.id, &turn).await?),
            None => {
                let page = PageRequest::first(PageLimit::MAX);
                let turns = self.store.turn_list(reach, source.id, page).await?.items;
                turns.into_iter().find(|turn| turn.finished_at.is_some())
            }
        };
        let turn = turn.ok_or_else(|| AppError::not_found(Resource::Turn))?;
        if turn.finished_at.is_none() {
            return Err(SessionReason::ForkTurnRunning.into());
        }
        Ok(turn)
    }
}
