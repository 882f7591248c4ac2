//! What the contract's answers look like.

use serde::Serialize;
use wh_app::MessageHit;
use wh_domain::{
    Board, BoardItem, Message, MessageKind, Page, PageRequest, Relation, Session, SessionBrief,
    SessionOutline, Turn, User, WorktreeId, WorktreeLook,
};

use super::{Status, TASK_STATUSES};

/// The most characters of a prompt in a list; a task by itself is shown whole.
const PROMPT_CHARS: usize = 2_000;

/// A part of a list.
#[derive(Serialize)]
pub(super) struct Listed<T> {
    /// Total number of results.
    pub(super) total: u64,
    pub(super) limit: u32,
    pub(super) skip: u32,
    pub(super) data: Vec<T>,
}

impl<T> Listed<T> {
    /// Shows a page that was asked for by its number of items to skip.
    pub(super) fn new<C>(asked: &PageRequest<C>, total: Option<u64>, data: Vec<T>) -> Self {
        let seen = u64::from(asked.skip) + data.len() as u64;
        Self {
            total: total.unwrap_or(seen),
            limit: asked.limit.get(),
            skip: asked.skip,
            data,
        }
    }
}

/// Something that was made.
#[derive(Serialize)]
pub(super) struct Created<T> {
    created: bool,
    entity_id: String,
    entity: T,
}

impl<T> Created<T> {
    pub(super) fn new(id: impl ToString, entity: T) -> Self {
        Self {
            created: true,
            entity_id: id.to_string(),
            entity,
        }
    }
}

/// Sessions and what their status is.
pub(super) type WithStatus = (Session, Status);

pub(super) fn task_status(turn: &Turn) -> Status {
    let row = TASK_STATUSES.iter().find(|(ours, _)| *ours == turn.state);
    row.map_or(Status::Failed, |(_, status)| *status)
}

/// A session in a list.
#[derive(Serialize)]
pub(super) struct SessionSummary {
    session_id: String,
    status: Status,
    agentic_tool: String,
    title: String,
    worktree_id: Option<String>,
    board_id: Option<String>,
    parent_session_id: Option<String>,
    message_count: u64,
    created_at: String,
}

impl SessionSummary {
    pub(super) fn new(session: &SessionBrief, status: Status) -> Self {
        Self {
            session_id: session.id.to_string(),
            status,
            agentic_tool: session.agent.to_string(),
            title: session.title.to_string(),
            worktree_id: session.worktree.map(|id| id.to_string()),
            board_id: session.board.map(|id| id.to_string()),
            parent_session_id: session.parent.map(|id| id.to_string()),
            message_count: session.last_seq,
            created_at: session.created_at.to_string(),
        }
    }
}

/// A session, its family and its tasks.
#[derive(Serialize)]
pub(super) struct SessionView {
    session_id: String,
    status: Status,
    agentic_tool: String,
    title: String,
    worktree_id: Option<String>,
    genealogy: Genealogy,
    /// The oldest first.
    tasks: Vec<String>,
    /// How many there are, if these are only the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks_total: Option<u64>,
    message_count: u64,
    created_at: String,
    /// The latest, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessageView>>,
}

/// An entry of a session's conversation.
#[derive(Serialize)]
struct MessageView {
    message_id: String,
    index: u64,
    role: &'static str,
    kind: &'static str,
    content: String,
    created_at: String,
}

impl From<&Message> for MessageView {
    fn from(message: &Message) -> Self {
        Self {
            message_id: message.id.to_string(),
            index: message.seq,
            role: match message.kind {
                MessageKind::Prompt | MessageKind::Answer => "user",
                MessageKind::System => "system",
                _ => "assistant",
            },
            kind: message.kind.as_str(),
            content: message.text.clone(),
            created_at: message.created_at.to_string(),
        }
    }
}

#[derive(Serialize)]
struct Genealogy {
    parent_session_id: Option<String>,
    children: Vec<String>,
}

impl SessionView {
    /// Shows a session with its children and a counted page of its turns, which come newest first.
    pub(super) fn new(
        session: &Session,
        status: Status,
        children: &[Session],
        turns: &Page<Turn, u64>,
    ) -> Self {
        let children = children.iter().rev().map(|child| child.id.to_string());
        let tasks = turns.items.iter().rev();
        Self {
            session_id: session.id.to_string(),
            status,
            agentic_tool: session.agent.to_string(),
            title: session.title.to_string(),
            worktree_id: session.worktree.map(|id| id.to_string()),
            genealogy: Genealogy {
                parent_session_id: session.parent.map(|id| id.to_string()),
                children: children.collect(),
            },
            tasks: tasks.map(|turn| turn.id.to_string()).collect(),
            tasks_total: turns.total.filter(|_| turns.next.is_some()),
            message_count: session.last_seq,
            created_at: session.created_at.to_string(),
            messages: None,
        }
    }

    /// Shows messages too.
    pub(super) fn set_messages(&mut self, messages: &[Message]) {
        self.messages = Some(messages.iter().map(MessageView::from).collect());
    }
}

/// A session that was changed.
#[derive(Serialize)]
pub(super) struct Updated {
    #[serde(flatten)]
    pub(super) session: SessionView,
    pub(super) description: Option<String>,
}

/// A session that was spawned.
#[derive(Serialize)]
pub(super) struct Spawned {
    #[serde(rename = "sessionId")]
    pub(super) session_id: String,
    pub(super) status: Status,
    #[serde(flatten)]
    pub(super) made: Created<SessionView>,
}

/// A session's family.
#[derive(Serialize)]
pub(super) struct Family {
    session_id: String,
    parent: Option<Box<Relative>>,
    children: Vec<Relative>,
    siblings: Vec<Relative>,
}

/// A member of a family, with those further up or down as far as was asked. Of one that the caller may not open, title and status
/// are told.
#[derive(Serialize)]
pub(super) struct Relative {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    agentic_tool: Option<String>,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Self>,
}

impl Family {
    /// Shows so many levels of a tree around one session of it.
    pub(super) fn new(session: &Session, tree: &[WithStatus], depth: u32) -> Self {
        let others = tree.iter().filter(|(it, _)| it.id != session.id);
        let has_parent = session.parent.is_some();
        let siblings = others.filter(|(it, _)| has_parent && it.parent == session.parent);
        Self {
            session_id: session.id.to_string(),
            parent: parent_of(session, tree, depth),
            children: children_of(session, tree, depth),
            siblings: siblings.map(Relative::from).collect(),
        }
    }

    /// Adds those that the caller may not open: so many levels of ancestors, and siblings.
    pub(super) fn add_outlines(&mut self, others: &[(SessionOutline, Status)], depth: u32) {
        let of = |relation| others.iter().filter(move |(it, _)| it.relation == relation);
        let above: Vec<_> = of(Relation::Ancestor).take(depth as usize).collect();
        for outline in above.into_iter().rev() {
            let mut shown = Relative::from(outline);
            shown.parent = self.parent.take();
            self.parent = Some(Box::new(shown));
        }
        self.siblings
            .extend(of(Relation::Sibling).map(Relative::from));
    }
}

impl From<&(SessionOutline, Status)> for Relative {
    fn from((outline, status): &(SessionOutline, Status)) -> Self {
        Self {
            session_id: None,
            status: *status,
            agentic_tool: None,
            title: outline.title.to_string(),
            parent: None,
            children: Vec::new(),
        }
    }
}

fn parent_of(session: &Session, tree: &[WithStatus], depth: u32) -> Option<Box<Relative>> {
    let depth = depth.checked_sub(1)?;
    let mut others = tree.iter();
    let parent = others.find(|(it, _)| Some(it.id) == session.parent)?;
    let mut shown = Relative::from(parent);
    shown.parent = parent_of(&parent.0, tree, depth);
    Some(Box::new(shown))
}

fn children_of(session: &Session, tree: &[WithStatus], depth: u32) -> Vec<Relative> {
    let Some(depth) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let is_child = |(it, _): &&WithStatus| it.parent == Some(session.id);
    let shown = tree.iter().filter(is_child).map(|child| {
        let mut shown = Relative::from(child);
        shown.children = children_of(&child.0, tree, depth);
        shown
    });
    shown.collect()
}

impl From<&WithStatus> for Relative {
    fn from((session, status): &WithStatus) -> Self {
        Self {
            session_id: Some(session.id.to_string()),
            status: *status,
            agentic_tool: Some(session.agent.to_string()),
            title: session.title.to_string(),
            parent: None,
            children: Vec::new(),
        }
    }
}

/// Something that was said and holds the words that were looked for.
#[derive(Serialize)]
pub(super) struct Hit {
    session_id: String,
    message_id: String,
    kind: &'static str,
    excerpt: String,
    created_at: String,
}

impl From<MessageHit> for Hit {
    fn from(hit: MessageHit) -> Self {
        Self {
            session_id: hit.message.session.to_string(),
            message_id: hit.message.id.to_string(),
            kind: hit.message.kind.as_str(),
            excerpt: hit.snippet,
            created_at: hit.message.created_at.to_string(),
        }
    }
}

/// A task in a list.
#[derive(Serialize)]
pub(super) struct TaskSummary {
    task_id: String,
    prompt: String,
    status: Status,
    session_id: String,
    created_at: String,
}

impl From<&Turn> for TaskSummary {
    fn from(turn: &Turn) -> Self {
        let whole = wh_domain::redact(&turn.prompt);
        let mut prompt: String = whole.chars().take(PROMPT_CHARS).collect();
        if prompt.len() < whole.len() {
            prompt.push('…');
        }
        Self {
            task_id: turn.id.to_string(),
            prompt,
            status: task_status(turn),
            session_id: turn.session.to_string(),
            created_at: turn.created_at.to_string(),
        }
    }
}

/// A task with everything that is known of it.
#[derive(Serialize)]
pub(super) struct TaskView {
    #[serde(flatten)]
    task: TaskSummary,
    /// Counts the tasks of its session from 1.
    number: u64,
    created_by: String,
    /// The session that asked, if it was not a person.
    created_by_session: Option<String>,
    /// Why it did not end well.
    error: Option<String>,
    completed_at: Option<String>,
    git_state: TaskGitState,
}

#[derive(Serialize)]
struct TaskGitState {
    sha_at_start: Option<String>,
    sha_at_end: Option<String>,
}

impl From<Turn> for TaskView {
    fn from(turn: Turn) -> Self {
        let mut task = TaskSummary::from(&turn);
        task.prompt = wh_domain::redact(&turn.prompt).into_owned();
        Self {
            task,
            number: turn.number,
            created_by: turn.sender.user.to_string(),
            created_by_session: turn.sender.session.map(|id| id.to_string()),
            error: turn.reason,
            completed_at: turn.finished_at.map(|at| at.to_string()),
            git_state: TaskGitState {
                sha_at_start: turn.commit_before,
                sha_at_end: turn.commit_after,
            },
        }
    }
}

/// A worktree; in a list without what git would have to be asked for.
#[derive(Serialize)]
pub(super) struct WorktreeView {
    worktree_id: String,
    name: String,
    path: String,
    branch: String,
    repo_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_state: Option<GitState>,
    created_at: String,
}

#[derive(Serialize)]
struct GitState {
    current_sha: Option<String>,
    base_sha: Option<String>,
    has_changes: bool,
}

impl WorktreeView {
    /// Shows what is recorded of a worktree.
    pub(super) fn listed(look: &WorktreeLook) -> Self {
        let worktree = &look.worktree;
        Self {
            worktree_id: worktree.id.to_string(),
            name: worktree.name.to_string(),
            path: worktree.path.display().to_string(),
            branch: worktree.branch.to_string(),
            repo_id: worktree.repo.to_string(),
            git_state: None,
            created_at: worktree.created_at.to_string(),
        }
    }
}

impl From<WorktreeLook> for WorktreeView {
    fn from(look: WorktreeLook) -> Self {
        let mut view = Self::listed(&look);
        let status = look.status.unwrap_or_default();
        view.git_state = Some(GitState {
            has_changes: status.is_dirty(),
            current_sha: status.head,
            base_sha: look.worktree.base_sha,
        });
        if let Some(branch) = status.branch {
            view.branch = branch.to_string();
        }
        view
    }
}

/// A board; in a list without its worktrees.
#[derive(Serialize)]
pub(super) struct BoardView {
    board_id: String,
    name: String,
    description: Option<String>,
    owner_id: String,
    zones: Vec<ZoneView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worktrees: Option<Vec<String>>,
    created_at: String,
}

#[derive(Serialize)]
struct ZoneView {
    id: String,
    name: String,
    color: Option<String>,
}

impl BoardView {
    /// Shows a board and its zones.
    pub(super) fn listed(board: &Board) -> Self {
        let zones = board.zones.iter().map(|zone| ZoneView {
            id: zone.id.to_string(),
            name: zone.name.to_string(),
            color: zone.color.map(|color| color.to_string()),
        });
        Self {
            board_id: board.id.to_string(),
            name: board.name.to_string(),
            description: board.description.as_ref().map(ToString::to_string),
            owner_id: board.owner.user.to_string(),
            zones: zones.collect(),
            worktrees: None,
            created_at: board.created_at.to_string(),
        }
    }

    /// Shows a board with the worktrees that lie on it and those that were made for it.
    pub(super) fn whole(board: &Board, made_for_it: impl Iterator<Item = WorktreeId>) -> Self {
        let lying = board.placements.iter().filter_map(|it| match it.item {
            BoardItem::Worktree(id) => Some(id),
            BoardItem::Session(_) => None,
        });
        let mut worktrees: Vec<_> = lying.chain(made_for_it).collect();
        worktrees.sort_unstable();
        worktrees.dedup();
        Self {
            worktrees: Some(worktrees.iter().map(ToString::to_string).collect()),
            ..Self::listed(board)
        }
    }
}

/// A board that was made. Its own field is of the contract's first draft.
#[derive(Serialize)]
pub(super) struct BoardMade {
    #[serde(rename = "boardId")]
    pub(super) board_id: String,
    #[serde(flatten)]
    pub(super) made: Created<BoardView>,
}

/// A user.
#[derive(Serialize)]
pub(super) struct UserView {
    user_id: String,
    username: String,
    email: Option<String>,
    avatar_url: Option<String>,
    role: &'static str,
    created_at: String,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            user_id: user.id.to_string(),
            username: user.name.to_string(),
            role: user.role.as_str(),
            email: user.email,
            avatar_url: user.avatar_url,
            created_at: user.created_at.to_string(),
        }
    }
}
