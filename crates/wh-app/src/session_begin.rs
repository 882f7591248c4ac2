//! Begins sessions.

use std::path::PathBuf;

use newtype_uuid::GenericUuid;
use wh_agents::LaunchRefusal;
use wh_domain::{
    AgentName, BoardId, EventKind, Facts, HostList, LeadRefusal, McpDialect, ModelName, Name,
    NewEvent, NewTurn, Operation, Owner, Prompt, Reach, Reference, RepoId, Session, SessionId,
    SessionInput, SessionPlace, SessionRole, SettingKey, SpawnLimits, Tier, Title, TurnId,
    Worktree, WorktreeId, WorktreeRefusal, WorktreeState, choose_hosts, choose_tier,
};
use wh_store::{Applied, NewSession, StoreError};

use crate::{
    App, AppError, LaunchMoment, OpContext, Reason, Result, RunReason, ServerReason, SessionReason,
    board::SAVE_TRIES_MAX,
    board_spot::Spot,
    context::facts,
    worktree::{WorktreeWanted, worktree_event},
};

/// The most characters of a title that is made of a prompt.
const TITLE_CHARS: usize = 80;

/// The most characters of a title that name a worktree.
const NAME_CHARS: usize = 30;

/// Where a session is to work, as it is recorded.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) repo: Option<RepoId>,
    pub(crate) worktree: Option<WorktreeId>,
    pub(crate) path: Option<PathBuf>,
    /// A worktree that is to be made.
    pub(crate) made: Option<Worktree>,
}

/// A session to begin.
pub(crate) struct Beginning {
    pub(crate) session: Session,
    pub(crate) worktree: Option<Worktree>,
    pub(crate) turn: Option<NewTurn>,
    pub(crate) spawn: Option<SpawnLimits>,
    /// The zone it is to lie in.
    pub(crate) spot: Option<Spot>,
}

impl App {
    /// Begins a session: records it, with its first prompt, and lets its keeper make it real.
    pub async fn session_create(&self, cx: &OpContext, input: SessionInput) -> Result<Session> {
        let operation = Operation::SessionCreate;
        let facts = facts([("agent", input.agent.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let new = self.beginning(cx, reach, input).await?;
            let facts = self.with_tier(facts, &new.session);
            let id = self.begin(cx, operation, facts, new).await?;
            self.session_lookup(reach, &Reference::from(id)).await
        })
        .await
    }

    /// Makes a session that is to begin by itself, from what was asked for.
    pub(crate) async fn beginning(
        &self,
        cx: &OpContext,
        reach: Reach,
        input: SessionInput,
    ) -> Result<Beginning> {
        self.check_agent_name(&input.agent)?;
        if input.role == SessionRole::Lead && !cx.principal.may_appoint_leads() {
            return Err(LeadRefusal::NotAPerson.into());
        }
        let lead = self.lead(cx).await?;
        if input.prompt.is_some() {
            self.refuse_spent_day(cx.principal.user).await?;
        }
        let board = match &input.board {
            Some(board) => Some(self.board_lookup(reach, board).await?.id),
            None => None,
        };
        self.check_creates_on(lead.as_ref(), board).await?;
        let spot = self.spot(board, input.zone.as_ref()).await?;
        let id = SessionId::from_untyped_uuid(self.ids.next());
        let title = title_of(input.title, input.prompt.as_ref(), &input.agent)?;
        let owner = cx.principal.owner();
        let place = self.place(cx, reach, owner, input.place, &title, board);
        let place = place.await?;
        let above = lead.as_ref().map(|lead| &lead.session);
        let own_tier = above.map(|it| it.tier);
        let asked = input.tier.or(own_tier);
        let tier = self.tier(asked, &input.agent, &place, own_tier).await?;
        let hosts = above.and_then(|it| it.hosts.as_ref());
        let hosts = self.hosts(input.hosts, tier, hosts)?;
        let configured = self.mcp_dialects(place.repo, &input.agent).await?;
        let mcp_dialect = McpDialect::choose(input.mcp_dialect, configured);
        let session = Session {
            description: input.description,
            role: input.role,
            repo: place.repo,
            worktree: place.worktree,
            path: place.path,
            board,
            policy: input.policy.check()?,
            mode: input.mode,
            model: input.model,
            tier,
            hosts,
            mcp_dialect,
            budget: input.budget.intersect(self.budget_default().await?),
            ..Session::new(id, owner, input.agent, title, cx.now)
        };
        // What a session that leads creates is its child: it has no more than its parent, and its use counts for both.
        let (session, spawn) = match &lead {
            Some(lead) => {
                let narrowed = session.narrowed_below(&lead.session, lead.budget_left()?);
                (narrowed?, Some(self.spawn_limits().await?))
            }
            None => (session, None),
        };
        let turn = match input.prompt {
            Some(prompt) => Some(NewTurn {
                files: input.files,
                ..self.new_turn(cx, id, &prompt, false)
            }),
            None if input.files.is_empty() => None,
            None => {
                return Err(SessionReason::FilesWithoutPrompt.into());
            }
        };
        Ok(Beginning {
            session,
            worktree: place.made,
            turn,
            spawn,
            spot,
        })
    }

    /// Records a session with everything that belongs to its beginning, and has its keeper make it real.
    pub(crate) async fn begin(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        new: Beginning,
    ) -> Result<SessionId> {
        let spot = new.spot;
        let (mut new, events) = self.new_session(cx, new).await?;
        for _ in 0..SAVE_TRIES_MAX {
            let mut events = events.clone();
            if let Some(spot) = spot {
                let laid = self.lay_down(cx, &new.session, new.worktree.as_ref(), spot);
                let (laid, more) = laid.await?;
                new.laid = Some(laid);
                events.extend(more);
            }
            let commit = cx.commit(operation, new.session.id.into(), facts.clone(), events);
            let id = match self.store.session_begin(&new, commit).await {
                Ok(Applied::Done { .. }) => new.session.id,
                Ok(Applied::Replayed { subject }) => SessionId::from_untyped_uuid(subject.id),
                // Somebody else changed the board that it is laid on.
                Err(StoreError::Stale { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            self.wake(id);
            return Ok(id);
        }
        Err(StoreError::Stale { what: "board" }.into())
    }

    /// Returns what is stored of a session that begins, and what is announced of it.
    pub(crate) async fn new_session(
        &self,
        cx: &OpContext,
        new: Beginning,
    ) -> Result<(NewSession, Vec<NewEvent>)> {
        let new = NewSession {
            session: new.session,
            worktree: new.worktree,
            turn: new.turn,
            live_max: self.limit(SettingKey::SessionLivePerUserMax).await?,
            spawn: new.spawn,
            laid: None,
        };
        let made = new.worktree.iter();
        let made = made.map(|it| worktree_event(EventKind::Created, it, Facts::new()));
        let mut events: Vec<_> = made.collect();
        let session = &new.session;
        events.push(NewEvent {
            kind: EventKind::Created,
            subject: session.id.into(),
            owner: session.owner,
            session: Some(session.id),
            actor: Some(cx.principal.user),
            facts: self.with_tier(
                crate::context::facts([("agent", session.agent.as_str())]),
                session,
            ),
        });
        Ok((new, events))
    }

    /// Returns a setting that counts things; what is not limited is as many as can be.
    pub(crate) async fn limit(&self, key: SettingKey) -> Result<u32> {
        let value = self.setting(key).await?.value.0;
        Ok(u32::try_from(value.unwrap_or(i64::MAX)).unwrap_or(u32::MAX))
    }

    /// Adds how far a session is contained, and by what, to what is recorded of its beginning.
    pub(crate) fn with_tier(&self, mut facts: Facts, session: &Session) -> Facts {
        facts.insert("tier".to_owned(), session.tier.to_string());
        let effective = self.runs.containment.effective(session.tier);
        facts.extend(effective.map(|it| ("effective_tier".to_owned(), it.to_string())));
        facts
    }

    /// Decides how far a session is contained. Refuses a tier that does not work here, and an agent that cannot be run in it.
    pub(crate) async fn tier(
        &self,
        asked: Option<Tier>,
        agent: &AgentName,
        place: &Place,
        parent: Option<Tier>,
    ) -> Result<Tier> {
        let minimum = self.setting(SettingKey::ContainmentMinimum).await?;
        let server = minimum.key.name_of(minimum.value).map(Tier::parse);
        let server = server.transpose().map_err(|problem| {
            let problem = problem.to_string();
            ServerReason::TierSetting { problem }
        })?;
        let repo = match place.repo {
            Some(repo) => self.repo_by_id(repo).await?.tier,
            None => None,
        };
        let tier = choose_tier(asked, [server, self.agents.tier(agent), repo, parent])?;
        self.runs.containment.effective(tier)?;
        match &place.path {
            Some(path) if tier.is_isolated() && wh_git::is_in_checkout(path) => {
                return Err(shares_checkout(tier));
            }
            _ => {}
        }
        match tier {
            Tier::Container => self.check_image(agent, place.repo).await?,
            Tier::None | Tier::Guarded | Tier::Strict => self.check_agent(agent)?,
        }
        Ok(tier)
    }

    /// Decides which hosts a session may connect to: those asked for, of the parent's or of the server's.
    pub(crate) fn hosts(
        &self,
        asked: Option<HostList>,
        tier: Tier,
        parent: Option<&HostList>,
    ) -> Result<Option<HostList>> {
        let allowed = &self.runs.containment.hosts;
        Ok(choose_hosts(asked, tier, allowed, parent)?)
    }

    /// Returns the tools that agents are configured with: by the repository, then by the agent.
    pub(crate) async fn mcp_dialects(
        &self,
        repo: Option<RepoId>,
        agent: &AgentName,
    ) -> Result<[Option<McpDialect>; 2]> {
        let of_repo = match repo {
            Some(repo) => self.repo_by_id(repo).await?.mcp_dialect,
            None => None,
        };
        Ok([of_repo, self.agents.mcp_dialect(agent)])
    }

    /// Refuses an agent that nobody knows.
    pub(crate) fn check_agent_name(&self, agent: &AgentName) -> Result<()> {
        match self.agents.launch(agent) {
            Err(refusal @ LaunchRefusal::Unknown { .. }) => Err(cannot_run(refusal)),
            // Its programs may be missing here and be in an image.
            Ok(_) | Err(LaunchRefusal::Missing { .. }) => Ok(()),
        }
    }

    /// Refuses an agent that cannot be run here.
    pub(crate) fn check_agent(&self, agent: &AgentName) -> Result<()> {
        self.agents.launch(agent).map(drop).map_err(cannot_run)
    }

    /// Finds or plans where a session is to work.
    pub(crate) async fn place(
        &self,
        cx: &OpContext,
        reach: Reach,
        owner: Owner,
        wanted: SessionPlace,
        title: &Title,
        board: Option<BoardId>,
    ) -> Result<Place> {
        let mut place = Place::default();
        match wanted {
            SessionPlace::Scratch => {}
            SessionPlace::Path(path) => {
                place.path = Some(self.open_directory(cx, &path).await?);
            }
            SessionPlace::Worktree(reference) => {
                let worktree = self.worktree_lookup(reach, &reference).await?;
                if !matches!(
                    worktree.state,
                    WorktreeState::Making | WorktreeState::Ready { .. }
                ) {
                    let state = worktree.state.name();
                    return Err(WorktreeRefusal { state }.into());
                }
                place.worktree = Some(worktree.id);
                place.repo = Some(worktree.repo);
            }
            SessionPlace::Repo { repo, branch, base } => {
                let repo = self.repo_lookup(reach, &repo).await?;
                let text: String = title.as_str().chars().take(NAME_CHARS).collect();
                let wanted = WorktreeWanted {
                    owner,
                    name: Name::parse(&text)?,
                    branch,
                    base,
                    board,
                };
                let worktree = self.worktree_plan(cx, &repo, wanted)?;
                place.worktree = Some(worktree.id);
                place.repo = Some(repo.id);
                place.made = Some(worktree);
            }
        }
        Ok(place)
    }

    /// Makes a prompt that waits for its session.
    pub(crate) fn new_turn(
        &self,
        cx: &OpContext,
        session: SessionId,
        prompt: &Prompt,
        urgent: bool,
    ) -> NewTurn {
        NewTurn {
            id: TurnId::from_untyped_uuid(self.ids.next()),
            session,
            prompt: prompt.as_str().to_owned(),
            files: Vec::new(),
            sender: cx.sender(),
            urgent,
            created_at: cx.now,
        }
    }
}

/// Refuses to let an isolated agent work in a person's own checkout: it would share the repository.
pub(crate) fn shares_checkout(tier: Tier) -> AppError {
    RunReason::SharesCheckout { tier }.into()
}

/// Returns the model that was asked for of a session, for another one with the same agent.
pub(crate) fn model_kept(from: &Session, agent: &AgentName) -> Option<ModelName> {
    from.model.clone().filter(|_| from.agent == *agent)
}

fn cannot_run(refusal: LaunchRefusal) -> AppError {
    let moment = LaunchMoment::Request;
    Reason::Launch { refusal, moment }.into()
}

/// Returns the title asked for, or the beginning of the prompt.
pub(crate) fn title_of(
    title: Option<Title>,
    prompt: Option<&Prompt>,
    agent: &AgentName,
) -> Result<Title> {
    if let Some(title) = title {
        return Ok(title);
    }
    let line =
        prompt.and_then(|prompt| prompt.as_str().lines().find(|line| !line.trim().is_empty()));
    let line = line.map(|line| wh_domain::redact(line.trim()));
    let made = line.map(|line| line.chars().take(TITLE_CHARS).collect::<String>());
    let made = made.and_then(|line| Title::parse(&line).ok());
    match made {
        Some(title) => Ok(title),
        None => Ok(Title::parse(&format!("{agent} session"))?),
    }
}
