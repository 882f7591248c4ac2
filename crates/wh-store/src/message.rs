//! Messages.

use async_trait::async_trait;
use wh_domain::{
    Message, MessageId, MessageKind, NewMessage, Page, PageLimit, PageRequest, Reach, SessionId,
};

use crate::Result;

/// Messages to add to one session, from one run of it.
#[derive(Clone, Debug)]
pub struct MessageAppend {
    pub session: SessionId,
    /// The run that says so; [`crate::StoreError::Fenced`] when it is not the session's current one.
    pub epoch: u64,
    pub messages: Vec<NewMessage>,
}

/// A message that a search found, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHit {
    pub message: Message,
    /// A few words around the match.
    pub snippet: String,
}

/// Keeps transcripts.
#[async_trait]
pub trait MessageStore {
    /// Adds messages in order and returns the `seq` of the last. The session's event is committed with them.
    async fn message_append(&self, append: MessageAppend) -> Result<u64>;

    /// Returns messages after `seq`, in order.
    async fn message_list(
        &self,
        reach: Reach,
        session: SessionId,
        after: u64,
        limit: PageLimit,
    ) -> Result<Vec<Message>>;

    /// Returns the latest message of one kind.
    async fn message_latest(
        &self,
        reach: Reach,
        session: SessionId,
        kind: MessageKind,
    ) -> Result<Option<Message>>;

    /// Returns the message of this id.
    async fn message_by_id(&self, reach: Reach, id: MessageId) -> Result<Option<Message>>;

    /// Finds messages that hold all of the words, in any session within reach.
    ///
    /// `words` is plain text from a caller: no search syntax in it has a meaning. A cursor counts the messages that were
    /// returned before: the best first is no order that a message has a fixed position in.
    async fn message_search(
        &self,
        reach: Reach,
        words: &str,
        page: PageRequest<u64>,
    ) -> Result<Page<MessageHit, u64>>;
}
