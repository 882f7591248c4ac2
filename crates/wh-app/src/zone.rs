//! Zones that prompt: what comes into one is told what its template says.
//!
//! A session is prompted itself. Of a worktree the newest session is prompted that takes prompts; when there is none, one of
//! the zone's agent is begun in it, if the zone names one. What takes no prompts is placed and nothing more. The prompts are
//! committed together with the placement, so that each placement prompts once, whatever is killed when.

use wh_domain::{
    AgentName, Board, BoardItem, Budget, NewEvent, NewTurn, Operation, PageLimit, PageRequest,
    Policy, Prompt, Reach, Reference, Session, SessionFilter, SessionInput, SessionPlace,
    SessionRole, ShortId, Worktree, WorktreeBase, Zone, ZoneInput,
};
use wh_store::{Fired, QueueRules};

use crate::{
    App, AppError, BoardReason, OpContext, Resource, Result, TemplateOf,
    prompt::{WAITING_MAX, turn_event},
    template::{self, Names, TemplateRefusal, Values},
};

/// What a zone's template can name.
pub(crate) const NAMES: Names = &[
    ("board", &["id", "link", "name"]),
    ("session", &["agent", "id", "link", "status", "title"]),
    (
        "worktree",
        &["base", "branch", "id", "link", "name", "repo", "status"],
    ),
    ("zone", &["name"]),
];

/// What comes of a change of a board.
#[derive(Default)]
pub(crate) struct Firing {
    pub(crate) fired: Vec<Fired>,
    pub(crate) events: Vec<NewEvent>,
}

/// What a template is filled with.
struct Subject<'a> {
    board: &'a Board,
    zone: &'a Zone,
    session: Option<&'a Session>,
    worktree: Option<&'a Worktree>,
}

impl App {
    /// Refuses zones with templates that could not be filled, or with agents that cannot be run.
    pub(crate) fn zones_check(&self, zones: &[ZoneInput]) -> Result<()> {
        for zone in zones {
            if let Some(template) = &zone.prompt_template {
                template::check(template, NAMES).map_err(refused)?;
            }
            zone.agent
                .as_ref()
                .map_or(Ok(()), |it| self.check_agent(it))?;
        }
        Ok(())
    }

    /// Returns what is to be prompted because a board changes from `before` to `after`.
    pub(crate) async fn zones_fire(
        &self,
        cx: &OpContext,
        before: &Board,
        after: &Board,
    ) -> Result<Firing> {
        let mut firing = Firing::default();
        for (item, zone) in after.entered(before) {
            if zone.prompt_template.is_none() {
                continue;
            }
            let reach = cx.authorize(Operation::SessionPrompt)?.own();
            match item {
                BoardItem::Session(id) => {
                    let session = self.session_lookup(reach, &Reference::from(id)).await?;
                    if session.takes_prompts() {
                        self.check_directs(cx, &session).await?;
                        let turn = self.zone_turn(cx, after, zone, &session, None).await?;
                        firing.prompt(cx, &session, zone, turn);
                    }
                }
                BoardItem::Worktree(id) => {
                    let worktree = self.worktree_lookup(reach, &Reference::from(id)).await?;
                    let fired = self.worktree_fire(cx, reach, after, zone, &worktree);
                    firing.add(fired.await?);
                }
            }
        }
        Ok(firing)
    }

    /// Has the sessions looked after that were prompted or begun.
    pub(crate) fn wake_fired(&self, fired: &[Fired]) {
        for fired in fired {
            self.wake(match fired {
                Fired::Prompt(turn, _) => turn.session,
                Fired::Begin(new) => new.session.id,
            });
        }
    }

    /// Returns what is to be prompted because a worktree came into a zone.
    async fn worktree_fire(
        &self,
        cx: &OpContext,
        reach: Reach,
        board: &Board,
        zone: &Zone,
        worktree: &Worktree,
    ) -> Result<Firing> {
        let mut firing = Firing::default();
        let filter = SessionFilter {
            worktree: Some(worktree.id),
            ..SessionFilter::default()
        };
        let page = PageRequest::first(PageLimit::MAX);
        let sessions = self.store.session_list(reach, &filter, page).await?.items;
        if let Some(session) = sessions.iter().find(|session| session.takes_prompts()) {
            self.check_directs(cx, session).await?;
            let turn = self.zone_turn(cx, board, zone, session, None).await?;
            firing.prompt(cx, session, zone, turn);
        } else if let Some(agent) = &zone.agent {
            let reach = cx.authorize(Operation::SessionCreate)?;
            let subject = Subject {
                board,
                zone,
                session: None,
                worktree: Some(worktree),
            };
            let prompt = self.zone_prompt(&subject).await?;
            let input = begun_in(worktree, agent.clone(), prompt, board);
            let new = self.beginning(cx, reach, input).await?;
            let (new, events) = self.new_session(cx, new).await?;
            firing.fired.push(Fired::Begin(Box::new(new)));
            firing.events.extend(events);
        }
        Ok(firing)
    }

    /// Makes the prompt that a session gets because it came into a zone. `worktree` is the one that is made for it, if it is new.
    pub(crate) async fn zone_turn(
        &self,
        cx: &OpContext,
        board: &Board,
        zone: &Zone,
        session: &Session,
        worktree: Option<&Worktree>,
    ) -> Result<NewTurn> {
        let found = match (worktree, session.worktree) {
            (None, Some(id)) => self.store.worktree_by_id(id).await?,
            _ => None,
        };
        let subject = Subject {
            board,
            zone,
            session: Some(session),
            worktree: worktree.or(found.as_ref()),
        };
        let prompt = self.zone_prompt(&subject).await?;
        Ok(self.new_turn(cx, session.id, &prompt, false))
    }

    async fn zone_prompt(&self, subject: &Subject<'_>) -> Result<Prompt> {
        let Some(template) = &subject.zone.prompt_template else {
            return Err(AppError::not_found(Resource::Template));
        };
        let mut values = values(subject);
        if let (Some(worktree), Some(values)) = (subject.worktree, values.get_mut("worktree")) {
            let repo = self.repo_by_id(worktree.repo).await?;
            values.insert("repo", repo.name.to_string());
        }
        template::render(template, NAMES, &values).map_err(refused)
    }
}

impl Firing {
    fn prompt(&mut self, cx: &OpContext, session: &Session, zone: &Zone, turn: NewTurn) {
        let rules = QueueRules {
            waiting_max: WAITING_MAX,
            only_if_free: false,
            // A session that moves others around on a board is limited by what it may place.
            per_minute_max: u32::MAX,
        };
        self.events.push(zone_event(cx, session, zone, &turn));
        self.fired.push(Fired::Prompt(turn, rules));
    }

    fn add(&mut self, other: Self) {
        self.fired.extend(other.fired);
        self.events.extend(other.events);
    }
}

/// Announces a prompt of a zone, and who placed what it is about.
pub(crate) fn zone_event(
    cx: &OpContext,
    session: &Session,
    zone: &Zone,
    turn: &NewTurn,
) -> NewEvent {
    let mut event = turn_event(cx, session, turn.id);
    let facts = crate::context::facts([("zone", zone.name.as_str())]);
    event.facts.extend(facts);
    event
}

/// Returns the session that is begun in a worktree.
fn begun_in(worktree: &Worktree, agent: AgentName, prompt: Prompt, board: &Board) -> SessionInput {
    SessionInput {
        agent,
        prompt: Some(prompt),
        files: Vec::new(),
        title: None,
        description: None,
        role: SessionRole::General,
        place: SessionPlace::Worktree(Reference::from(worktree.id)),
        board: Some(Reference::from(board.id)),
        zone: None,
        budget: Budget::default(),
        policy: Policy::default(),
        mode: None,
        model: None,
        tier: None,
        hosts: None,
        mcp_dialect: None,
    }
}

/// Collects what a template can name; the repository's name is not among it.
fn values(subject: &Subject<'_>) -> Values {
    let board = subject.board;
    let mut values = Values::from([
        (
            "board",
            [
                ("id", board.id.short_id()),
                ("link", format!("wheelhouse://board/{}", board.id)),
                ("name", board.name.to_string()),
            ]
            .into(),
        ),
        ("zone", [("name", subject.zone.name.to_string())].into()),
    ]);
    if let Some(session) = subject.session {
        let of_session = [
            ("agent", session.agent.to_string()),
            ("id", session.id.short_id()),
            ("link", format!("wheelhouse://session/{}", session.id)),
            ("status", session.state.name().as_str().to_owned()),
            ("title", session.title.to_string()),
        ];
        values.insert("session", of_session.into());
    }
    if let Some(worktree) = subject.worktree {
        let base = match &worktree.base {
            Some(WorktreeBase::Branch(branch)) => branch.to_string(),
            Some(WorktreeBase::Commit(commit)) => commit.clone(),
            None => worktree.base_sha.clone().unwrap_or_default(),
        };
        let of_worktree = [
            ("base", base),
            ("branch", worktree.branch.to_string()),
            ("id", worktree.id.short_id()),
            ("link", format!("wheelhouse://worktree/{}", worktree.id)),
            ("name", worktree.name.to_string()),
            ("status", worktree.state.name().as_str().to_owned()),
        ];
        values.insert("worktree", of_worktree.into());
    }
    values
}

fn refused(refusal: TemplateRefusal) -> AppError {
    let of = TemplateOf::Zone;
    BoardReason::Template { of, refusal }.into()
}
