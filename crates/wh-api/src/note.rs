//! Notes of a list, and what its iterations came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    InputRefusal, Iteration, IterationText, Note, NoteInput, NoteKind, NoteText, PageLimit, ShortId,
};

use crate::{
    common::{at_most, field, time},
    task::{list_of_tasks_request, shortened},
};

/// The most characters of a note that a list shows.
const CONTENT_CHARS_MAX: usize = 2_000;

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
    }
}

impl NoteListRequest {
    /// Returns the kind that is asked for.
    pub fn kind(&self) -> Result<Option<NoteKind>, InputRefusal> {
        self.kind.as_deref().map(kind).transpose()
    }

    /// Returns how many are asked for.
    pub fn limit(&self) -> u32 {
        PageLimit::clamped(self.limit).get()
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
            kind: note.kind.as_str().to_owned(),
            content: shortened(note.content.as_str(), CONTENT_CHARS_MAX),
            session: note.session.map(|id| id.short_id()),
            created_at: time(note.created_at),
        }
    }
}

/// Some notes, the latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteListView {
    pub notes: Vec<NoteView>,
    /// Whether notes were left out because they are too long together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl From<&[Note]> for NoteListView {
    fn from(all: &[Note]) -> Self {
        let mut bytes = 0;
        let fits = |note: &NoteView| {
            bytes += note.content.len();
            bytes <= BYTES_MAX
        };
        let notes: Vec<_> = all.iter().map(NoteView::from).take_while(fits).collect();
        Self {
            cut: notes.len() < all.len(),
            notes,
        }
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
