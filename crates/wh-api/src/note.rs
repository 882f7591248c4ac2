//! Notes of a list, and what its iterations came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wh_domain::{
    InputRefusal, Iteration, IterationText, Note, NoteInput, NoteKind, NoteText, Page, PageRequest,
    ShortId,
};

use crate::{
    NumberOrId,
    common::{PageQuery, at_most, cursor_of, field, time},
    task::list_of_tasks_request,
};

/// The most bytes of text of one list of notes.
const BYTES_MAX: usize = 32_000;

/// A note to add.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteItem {
    /// What is to be remembered.
    pub content: String,
    /// learning, stuck, tip or decision
    pub kind: String,
}

list_of_tasks_request! {
    /// Notes to add to a list.
    NoteAddRequest {
        /// One or more.
        notes: Vec<NoteItem>,
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

impl NoteAddRequest {
    /// Checks every note.
    pub fn notes(&self) -> Result<Vec<NoteInput>, InputRefusal> {
        at_most("notes", &self.notes, wh_domain::ADD_MAX)?;
        let read = |note: &NoteItem| {
            Ok(NoteInput {
                kind: kind(&note.kind)?,
                content: field("content", NoteText::parse(&note.content))?,
            })
        };
        self.notes.iter().map(read).collect()
    }
}

list_of_tasks_request! {
    /// Which notes to list.
    NoteListRequest {
        /// Only learning, stuck, tip or decision
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// How many at most: 1 to 200, 50 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// next_cursor of the page before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<NumberOrId>,
    }
}

impl NoteListRequest {
    /// Returns the kind that is asked for.
    pub fn kind(&self) -> Result<Option<NoteKind>, InputRefusal> {
        self.kind.as_deref().map(kind).transpose()
    }

    /// Returns which part of the list is asked for.
    pub fn page(&self) -> Result<PageRequest<Uuid>, InputRefusal> {
        PageQuery::new(self.limit, self.cursor.as_ref()).by_id()
    }
}

fn kind(text: &str) -> Result<NoteKind, InputRefusal> {
    let names: Vec<_> = NoteKind::ALL.iter().map(|it| it.as_str()).collect();
    let unknown = || InputRefusal::new("kind", format!("must be among {}", names.join(", ")));
    NoteKind::parse(text).ok_or_else(unknown)
}

list_of_tasks_request! {
    /// What an iteration came to.
    IterationSummaryRequest {
        /// What was done, what was learned, what comes next.
        summary: String,
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

impl IterationSummaryRequest {
    /// Checks the text.
    pub fn summary(&self) -> Result<IterationText, InputRefusal> {
        field("summary", IterationText::parse(&self.summary))
    }
}

/// Something to remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteView {
    /// The last 8 digits of the note's id.
    pub id: String,
    pub kind: String,
    pub content: String,
    /// The session that noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub created_at: String,
}

impl From<&Note> for NoteView {
    fn from(note: &Note) -> Self {
        Self {
            id: note.id.short_id(),
            kind: note.kind.as_str().to_owned(),
            content: note.content.to_string(),
            session: note.session.map(|id| id.short_id()),
            created_at: time(note.created_at),
        }
    }
}

/// Some notes, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteListView {
    pub notes: Vec<NoteView>,
    /// Whether the page is shorter than asked for because its notes are too long together; next_cursor gives the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl From<Page<Note, Uuid>> for NoteListView {
    fn from(page: Page<Note, Uuid>) -> Self {
        let asked = page.items.len();
        let page = page.notes_within(BYTES_MAX);
        Self {
            cut: page.items.len() < asked,
            notes: page.items.iter().map(NoteView::from).collect(),
            next_cursor: cursor_of(page.next),
            total: page.total,
        }
    }
}

impl From<Vec<Note>> for NoteListView {
    /// Shows notes that were added.
    fn from(notes: Vec<Note>) -> Self {
        let page = Page {
            items: notes,
            next: None,
            total: None,
        };
        let mut view = Self::from(page);
        // They were added whole, and the rest of them is not a page of anything.
        view.next_cursor = None;
        view
    }
}

/// What an iteration came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IterationView {
    /// Counts the iterations of the list from 1.
    pub number: u64,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

impl From<&Iteration> for IterationView {
    fn from(iteration: &Iteration) -> Self {
        Self {
            number: iteration.number,
            summary: iteration.summary.to_string(),
            session: iteration.session.map(|id| id.short_id()),
            created_at: time(iteration.created_at),
            updated_at: time(iteration.updated_at),
        }
    }
}
