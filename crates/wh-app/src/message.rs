//! Transcripts, as much of them as a reader asks for and no more.

use newtype_uuid::GenericUuid;
use wh_domain::{
    IdRef, Message, MessageId, MessageKind, Operation, Page, PageLimit, PageRequest, Reach,
    Reference, Session, SessionId,
};
use wh_store::MessageHit;

use crate::{
    App, AppError, OpContext, Resource, Result, SessionReason, Summarize, Summary, context::facts,
};

/// The most tools that are told beside the latest words.
const TOOLS_SINCE_MAX: u64 = 50;

/// Which part of a transcript to return.
#[derive(Clone, Debug)]
pub struct MessageQuery {
    pub session: Reference,
    /// Everything later than this message, named by its number or its id; only the agent's latest words otherwise.
    pub after: Option<Reference>,
    /// Notes of the server too.
    pub include_system: bool,
    /// With the latest words, the tools that the agent has used since.
    pub with_tools: bool,
    /// What the session has been doing in a few lines, too.
    pub summarize: Summarize,
    pub limit: PageLimit,
    /// The most bytes of text to return; at least one message is returned, however long.
    pub bytes_max: usize,
}

/// A part of a transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    pub session: Session,
    pub messages: Vec<Message>,
    /// Where to go on, when there is more than was returned.
    pub next_after: Option<u64>,
    pub summary: Option<Summary>,
}

impl App {
    /// Reads a transcript: by default only the latest thing the agent said.
    pub async fn message_list(&self, cx: &OpContext, query: &MessageQuery) -> Result<Transcript> {
        let operation = Operation::MessageList;
        let facts = facts([("session", query.session.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let session = self.session_lookup(reach, &query.session).await?;
            let summary = self.summary(reach, &session, query.summarize).await?;
            let read = match &query.after {
                None => self.latest_words(reach, session, query.with_tools).await?,
                Some(after) => {
                    let after = self.position(reach, &session, after).await?;
                    self.messages_after(reach, session, after, query).await?
                }
            };
            Ok(Transcript { summary, ..read })
        })
        .await
    }

    /// Returns one message, whole, by its id or, with the session that it is of, by its number.
    pub async fn message_get(
        &self,
        cx: &OpContext,
        session: Option<&Reference>,
        message: &Reference,
    ) -> Result<Message> {
        let operation = Operation::MessageGet;
        let facts = facts([("message", message.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let number = message.as_str().parse::<u64>().ok();
            let session = self.numbered_in(cx, reach, session, message).await?;
            if let (Some(session), Some(number)) = (session, number) {
                return self.message_numbered(reach, session, number).await;
            }
            let found = match message.id()? {
                IdRef::Whole(id) => {
                    let id = MessageId::from_untyped_uuid(id);
                    self.store.message_by_id(reach, id).await?
                }
                // Transcripts are long and messages many: abbreviations would soon mean several.
                IdRef::Part(_) => {
                    return Err(SessionReason::MessageId.into());
                }
            };
            let found = found.filter(|it| session.is_none_or(|session| it.session == session));
            found.ok_or_else(|| AppError::not_found(Resource::Message))
        })
        .await
    }

    async fn message_numbered(
        &self,
        reach: Reach,
        session: SessionId,
        number: u64,
    ) -> Result<Message> {
        let (after, one) = (number.saturating_sub(1), PageLimit::clamped(Some(1)));
        let found = self.store.message_list(reach, session, after, one).await?;
        let found = found.into_iter().find(|message| message.seq == number);
        found.ok_or_else(|| AppError::not_found(Resource::Message))
    }

    /// Finds messages that hold all of the words, best first.
    pub async fn session_search(
        &self,
        cx: &OpContext,
        words: &str,
        page: PageRequest<u64>,
    ) -> Result<Page<MessageHit, u64>> {
        let operation = Operation::SessionSearch;
        self.read(cx, operation, facts([("words", words)]), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.message_search(reach, words, page).await?)
        })
        .await
    }

    async fn latest_words(
        &self,
        reach: Reach,
        session: Session,
        with_tools: bool,
    ) -> Result<Transcript> {
        let latest = self
            .store
            .message_latest(reach, session.id, MessageKind::Agent);
        let mut messages: Vec<_> = latest.await?.into_iter().collect();
        if with_tools {
            let said = messages.last().map_or(0, |message| message.seq);
            let after = said.max(session.last_seq.saturating_sub(TOOLS_SINCE_MAX));
            let later = self
                .store
                .message_list(reach, session.id, after, PageLimit::MAX);
            let later = later.await?.into_iter();
            messages.extend(later.filter(|message| message.kind == MessageKind::ToolCall));
        }
        Ok(Transcript {
            messages,
            session,
            next_after: None,
            summary: None,
        })
    }

    /// Returns the number after which to read: callers may know a message by its number or by its id.
    async fn position(&self, reach: Reach, session: &Session, after: &Reference) -> Result<u64> {
        if let Ok(seq) = after.as_str().parse() {
            return Ok(seq);
        }
        let IdRef::Whole(id) = after.id()? else {
            return Err(SessionReason::AfterPosition.into());
        };
        let id = MessageId::from_untyped_uuid(id);
        let message = self.store.message_by_id(reach, id).await?;
        let message = message.filter(|message| message.session == session.id);
        Ok(message
            .ok_or_else(|| AppError::not_found(Resource::Message))?
            .seq)
    }

    async fn messages_after(
        &self,
        reach: Reach,
        session: Session,
        after: u64,
        query: &MessageQuery,
    ) -> Result<Transcript> {
        let read = self
            .store
            .message_list(reach, session.id, after, query.limit)
            .await?;
        let through = read.last().map(|message| message.seq);
        let mut bytes = 0;
        let mut messages: Vec<Message> = Vec::new();
        let mut next_after = through.filter(|seq| *seq < session.last_seq);
        for message in read {
            if message.kind == MessageKind::System && !query.include_system {
                continue;
            }
            bytes += message.text.len() + message.detail.as_ref().map_or(0, String::len);
            if bytes > query.bytes_max && !messages.is_empty() {
                next_after = messages.last().map(|last| last.seq);
                break;
            }
            messages.push(message);
        }
        Ok(Transcript {
            session,
            messages,
            next_after,
            summary: None,
        })
    }
}
