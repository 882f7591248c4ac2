//! Which list of tasks a caller means, and whether it may see it.

use newtype_uuid::GenericUuid;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, Holder, ListOf, ListRef, Loop, Name, NewEvent, Owner, Reach, Reference, Task,
    TaskId, TaskList, TaskListId,
};

use crate::{
    App, AppError, OpContext, Resource, Result, TaskReason,
    lookup::{id_of, only_one},
};

impl App {
    /// Returns the list that is meant; one that nothing was added to yet is not stored.
    pub(crate) async fn list_meant(
        &self,
        cx: &OpContext,
        reach: Reach,
        list: &ListRef,
    ) -> Result<TaskList> {
        let (owner, of, id) = match list {
            ListRef::Own | ListRef::Session(_) => {
                let own = cx.principal.credential.session().map(Reference::from);
                let named = match list {
                    ListRef::Session(session) => Some(session.clone()),
                    _ => own,
                };
                let session = self
                    .session_lookup(reach, &named.ok_or(TaskReason::NoList)?)
                    .await?;
                match self.store.loop_of_session(session.root).await? {
                    // Its iterations work on one list.
                    Some(it) => loop_list(&it),
                    None => {
                        let id = session.root.into_untyped_uuid();
                        (session.owner, ListOf::Session(session.root), id)
                    }
                }
            }
            ListRef::Loop(reference) => loop_list(&self.loop_lookup(reach, reference).await?),
            ListRef::Board(board) => {
                let board = self.board_lookup(reach, board).await?;
                let id = board.id.into_untyped_uuid();
                (board.owner, ListOf::Board(board.id), id)
            }
            // The tasks of an agent are those of its tree and its boards.
            ListRef::Name(_) if matches!(reach, Reach::Tree(_)) => {
                return Err(AppError::not_found(Resource::TaskList));
            }
            ListRef::Name(name) => {
                let of = ListOf::Name(name.clone());
                let owner = cx.principal.owner();
                (owner, of, named_id(owner, name))
            }
        };
        let found = self.store.task_list_of(owner, &of).await?;
        Ok(found.unwrap_or(TaskList {
            // It follows from what has the list, so that two who make it at the same time make the same.
            id: TaskListId::from_untyped_uuid(id),
            owner,
            of,
            completed_at: None,
            created_at: cx.now,
        }))
    }

    /// Finds a task by its id, or by its number in the list that is meant.
    pub(crate) async fn task_meant(
        &self,
        cx: &OpContext,
        reach: Reach,
        list: &ListRef,
        task: &Reference,
    ) -> Result<Task> {
        let text = task.as_str();
        if let Some(number) = number(text) {
            let list = self.list_meant(cx, reach, list).await?;
            let found = self.store.task_by_number(list.id, number).await?;
            return found.ok_or_else(|| AppError::not_found(Resource::Task));
        }
        let only = match list {
            ListRef::Own => None,
            named => Some(self.list_meant(cx, reach, named).await?.id),
        };
        let mut seen = Vec::new();
        for found in self.store.task_find(&id_of(task)?).await? {
            let is_meant = only.is_none_or(|only| only == found.list);
            if is_meant && self.list_is_seen(cx, reach, found.list).await? {
                seen.push(found);
            }
        }
        only_one(Resource::Task, seen, |task| {
            format!("{} {}", task.id, task.content)
        })
    }

    /// Finds a task of a list by its id or its number.
    pub(crate) async fn task_in_list(
        &self,
        list: &TaskList,
        task: &Reference,
    ) -> Result<Option<Task>> {
        if let Some(number) = number(task.as_str()) {
            return Ok(self.store.task_by_number(list.id, number).await?);
        }
        let found = self.store.task_find(&id_of(task)?).await?;
        Ok(found.into_iter().find(|it| it.list == list.id))
    }

    async fn list_is_seen(&self, cx: &OpContext, reach: Reach, list: TaskListId) -> Result<bool> {
        let Some(list) = self.store.task_list_by_id(list).await? else {
            return Ok(false);
        };
        let looked = match (&list.of, cx.principal.credential.session()) {
            (ListOf::Session(root), Some(own)) if !cx.principal.leads() => {
                let own = self.session_lookup(reach, &Reference::from(own)).await?;
                return Ok(own.root == *root);
            }
            (ListOf::Loop(id), _) => {
                let id = Reference::from(*id);
                self.loop_lookup(reach, &id).await.map(drop)
            }
            (ListOf::Session(root), _) => {
                let root = Reference::from(*root);
                self.session_lookup(reach, &root).await.map(drop)
            }
            (ListOf::Board(board), _) => {
                let board = Reference::from(*board);
                self.board_lookup(reach, &board).await.map(drop)
            }
            (ListOf::Name(_), _) => return Ok(reach.covers_owner(list.owner)),
        };
        match looked {
            Ok(()) => Ok(true),
            Err(error) if error.code() == wh_domain::ErrorCode::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the id of the nth thing that a call makes. A repeat of a marked call makes the same, and so finds it again.
    pub(crate) fn made_id(&self, cx: &OpContext, n: usize) -> Uuid {
        let Some(given) = &cx.idempotency else {
            return self.ids.next();
        };
        let by = Owner {
            user: cx.principal.user,
            key: cx.principal.credential.key(),
        };
        let n = n.to_be_bytes();
        digest_id(by, &[&given.request, given.mark.as_str().as_bytes(), &n])
    }
}

impl OpContext {
    /// Returns who has what this caller takes.
    pub(crate) fn holder(&self) -> Holder {
        let credential = &self.principal.credential;
        let caller = Holder::Caller(credential.key());
        credential.session().map_or(caller, Holder::Session)
    }

    /// Says what happened to a list.
    pub(crate) fn list_event(&self, kind: EventKind, list: &TaskList, facts: Facts) -> NewEvent {
        NewEvent {
            kind,
            subject: list.id.into(),
            owner: list.owner,
            session: match list.of {
                ListOf::Session(root) => Some(root),
                ListOf::Board(_) | ListOf::Loop(_) | ListOf::Name(_) => None,
            },
            actor: Some(self.principal.user),
            facts,
        }
    }
}

/// Returns whose the list of a loop is, and its id.
fn loop_list(it: &Loop) -> (Owner, ListOf, Uuid) {
    (it.owner, ListOf::Loop(it.id), it.id.into_untyped_uuid())
}

/// Returns the id of an owner's list of a name.
fn named_id(owner: Owner, name: &Name) -> Uuid {
    digest_id(owner, &[b"list", name.as_str().as_bytes()])
}

/// Makes an id out of what it stands for.
fn digest_id(owner: Owner, parts: &[&[u8]]) -> Uuid {
    let mut digest = Sha256::new();
    let key = owner
        .key
        .map_or(Uuid::nil(), GenericUuid::into_untyped_uuid);
    digest.update(owner.user.into_untyped_uuid());
    digest.update(key);
    for part in parts {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

/// Turns references to tasks into ids; `+2` is the second of those that are added together.
pub(crate) fn added_together(text: &str, added: &[TaskId]) -> Option<Result<TaskId>> {
    let place: usize = text.strip_prefix('+')?.parse().ok()?;
    let found = place.checked_sub(1).and_then(|place| added.get(place));
    let unknown = || TaskReason::NotInCall {
        task: text.to_owned(),
    };
    Some(found.copied().ok_or_else(|| unknown().into()))
}

/// Reads the number of a task, with or without a hash sign. Ids have at least eight digits.
fn number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let is_number = digits.len() < 8 && digits.chars().all(|c| c.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}
