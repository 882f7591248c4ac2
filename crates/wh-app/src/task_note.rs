//! Notes, and what each iteration came to.

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, Iteration, IterationText, ListRef, NewNote, Note, NoteId, NoteInput,
    NoteKind, Operation, Page, PageRequest,
};

use crate::{App, AppError, OpContext, Resource, Result, context::facts, task::check_count};

impl App {
    /// Adds notes to a list.
    pub async fn note_add(
        &self,
        cx: &OpContext,
        list: &ListRef,
        notes: Vec<NoteInput>,
    ) -> Result<Vec<Note>> {
        let operation = Operation::NoteAdd;
        let count = notes.len().to_string();
        let facts = facts([("notes", &count)]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            check_count("notes", notes.len())?;
            let list = self.list_meant(cx, reach, list).await?;
            let new = notes.into_iter().enumerate().map(|(n, note)| NewNote {
                id: NoteId::from_untyped_uuid(self.made_id(cx, n)),
                kind: note.kind,
                content: note.content,
            });
            let new: Vec<_> = new.collect();
            let session = cx.principal.credential.session();
            let event = cx.list_event(EventKind::Updated, &list, facts.clone());
            let commit = cx.commit(operation, list.id.into(), facts, vec![event]);
            let _applied = self.store.note_add(&list, &new, session, commit).await?;
            let note = |new: NewNote| Note {
                id: new.id,
                list: list.id,
                kind: new.kind,
                content: new.content,
                session,
                created_at: cx.now,
            };
            Ok(new.into_iter().map(note).collect())
        })
        .await
    }

    /// Lists notes, the latest first.
    pub async fn note_list(
        &self,
        cx: &OpContext,
        list: &ListRef,
        kind: Option<NoteKind>,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Note, Uuid>> {
        let operation = Operation::NoteList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let list = self.list_meant(cx, reach, list).await?;
            Ok(self.store.note_list(list.id, kind, page).await?)
        })
        .await
    }

    /// Keeps what an iteration came to. A session has one on a list: what it says later takes the place of what it said.
    pub async fn iteration_summary(
        &self,
        cx: &OpContext,
        list: &ListRef,
        summary: &IterationText,
    ) -> Result<Iteration> {
        let operation = Operation::IterationSummary;
        self.change(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let list = self.list_meant(cx, reach, list).await?;
            let session = cx.principal.credential.session();
            let event = cx.list_event(EventKind::Updated, &list, Facts::new());
            let commit = cx.commit(operation, list.id.into(), Facts::new(), vec![event]);
            let kept = self
                .store
                .iteration_summary(&list, session, summary, commit);
            let _applied = kept.await?;
            /// Far more than there are sessions that sum up at the same time.
            const LATEST: u32 = 200;
            let latest = self.store.iteration_list(list.id, LATEST).await?;
            let own = latest.into_iter().find(|it| it.session == session);
            own.ok_or_else(|| AppError::not_found(Resource::Iteration))
        })
        .await
    }
}
