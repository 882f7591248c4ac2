//! One id type per entity, all UUIDv7, and how people may abbreviate them.

use newtype_uuid::{GenericUuid, TypedUuid, TypedUuidKind, TypedUuidTag};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $kind:ident => $id:ident, $tag:literal;)+) => {$(
        #[doc = concat!("Marks ids of one kind: ", $tag, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $kind {}

        impl TypedUuidKind for $kind {
            fn tag() -> TypedUuidTag {
                const TAG: TypedUuidTag = TypedUuidTag::new($tag);
                TAG
            }
        }

        $(#[$doc])*
        pub type $id = TypedUuid<$kind>;
    )+};
}

ids! {
    /// Names a person or service account.
    UserKind => UserId, "user";
    /// Names a credential; never the secret itself.
    KeyKind => KeyId, "key";
    /// Names a git repository known to the server.
    RepoKind => RepoId, "repo";
    /// Names a checkout of one branch.
    WorktreeKind => WorktreeId, "worktree";
    /// Names a board.
    BoardKind => BoardId, "board";
    /// Names a zone of a board.
    ZoneKind => ZoneId, "zone";
    /// Names one conversation with one agent.
    SessionKind => SessionId, "session";
    /// Names one prompt and all that came of it.
    TurnKind => TurnId, "turn";
    /// Names one entry of a transcript.
    MessageIdKind => MessageId, "message";
    /// Names something only a person or a parent may settle.
    ApprovalIdKind => ApprovalId, "approval";
    /// Names a durable "tell X that Y happened".
    DeliveryIdKind => DeliveryId, "delivery";
    /// Names a list of tasks and notes.
    TaskListKind => TaskListId, "task_list";
    /// Names something to remember.
    NoteIdKind => NoteId, "note";
    /// Names a planned work item.
    TaskKind => TaskId, "task";
    /// Names work that goes on until it is done.
    LoopKind => LoopId, "loop";
    /// Names one round of review.
    ReviewKind => ReviewId, "review";
    /// Names a wait for sessions.
    WaitKind => WaitId, "wait";
    /// Names an address that is told of changes.
    WebhookKind => WebhookId, "webhook";
    /// Names a credential for a host that repositories are fetched from.
    HostCredentialKind => CredentialId, "credential";
    /// Names something a webhook is to be told.
    WebhookDeliveryKind => WebhookDeliveryId, "webhook_delivery";
}

/// Digits of a short id.
const SHORT_DIGITS: usize = 8;

/// Abbreviates an id for people.
pub trait ShortId {
    /// Returns the last 8 hex digits.
    ///
    /// The first 8 digits of a UUIDv7 are a timestamp that changes every 65 seconds, so siblings made together share
    /// them; the last 8 are random.
    fn short_id(&self) -> String;
}

impl<K: TypedUuidKind> ShortId for TypedUuid<K> {
    fn short_id(&self) -> String {
        short_id_of(self.into_untyped_uuid())
    }
}

/// Returns the short id of an untyped id.
pub(crate) fn short_id_of(id: Uuid) -> String {
    let hex = id.simple().to_string();
    hex[hex.len() - SHORT_DIGITS..].to_owned()
}

/// What a caller wrote where an id is expected: a whole id or an abbreviation of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IdRef {
    /// A complete UUID.
    Whole(Uuid),
    /// At least 8 hex digits: a prefix of the id or, when there are exactly 8, possibly its short id.
    Part(IdPart),
}

/// At least 8 and fewer than 32 lowercase hex digits, without dashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdPart(String);

/// The text is neither an id nor an abbreviation of one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is a UUID, its last 8 hex digits, or a prefix of 8 or more digits")]
pub struct NotAnId;

impl IdRef {
    /// Parses what a caller wrote.
    pub fn parse(text: &str) -> Result<Self, NotAnId> {
        if text.len() > 45 {
            return Err(NotAnId);
        }
        if let Ok(id) = Uuid::try_parse(text) {
            return Ok(Self::Whole(id));
        }
        let digits: String = text
            .chars()
            .filter(|c| *c != '-')
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let hex = digits.chars().all(|c| c.is_ascii_hexdigit());
        if hex && (SHORT_DIGITS..32).contains(&digits.len()) {
            Ok(Self::Part(IdPart(digits)))
        } else {
            Err(NotAnId)
        }
    }

    /// Tells whether this reference could mean `id`.
    pub fn matches(&self, id: Uuid) -> bool {
        match self {
            Self::Whole(whole) => *whole == id,
            Self::Part(part) => {
                let hex = id.simple().to_string();
                hex.starts_with(&part.0) || part.as_short().is_some_and(|s| hex.ends_with(s))
            }
        }
    }
}

impl IdPart {
    /// Returns the smallest and the largest id that begins with these digits.
    pub fn prefix_range(&self) -> (Uuid, Uuid) {
        let fill = |digit: char| {
            let mut digits = self.0.clone();
            digits.extend(std::iter::repeat_n(digit, 32 - self.0.len()));
            Uuid::try_parse(&digits).unwrap_or(Uuid::nil())
        };
        (fill('0'), fill('f'))
    }

    /// Returns the digits as a short id, when there are exactly as many as a short id has.
    pub fn as_short(&self) -> Option<&str> {
        (self.0.len() == SHORT_DIGITS).then_some(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "019a8b2c-3d4e-7f60-8123-456789abcdef";

    #[test]
    fn short_id_is_the_random_end() {
        let id: SessionId = ID.parse().unwrap();
        assert_eq!(id.short_id(), "89abcdef");
    }

    #[test]
    fn whole_prefix_and_short_forms_match() {
        let id = Uuid::try_parse(ID).unwrap();
        for text in [ID, "019a8b2c", "019A8B2C", "019a8b2c-3d4e", "89abcdef"] {
            assert!(IdRef::parse(text).unwrap().matches(id), "{text}");
        }
        assert!(!IdRef::parse("9abcdef0").unwrap().matches(id));
        // Nine digits are a prefix and nothing else.
        assert!(!IdRef::parse("789abcdef").unwrap().matches(id));
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in ["", "89abcde", "zzzzzzzz", "../../etc", &"a".repeat(64)] {
            assert_eq!(IdRef::parse(text), Err(NotAnId), "{text}");
        }
    }

    #[test]
    fn a_prefix_covers_its_range() {
        let IdRef::Part(part) = IdRef::parse("019a8b2c").unwrap() else {
            panic!("eight digits are a part");
        };
        let (low, high) = part.prefix_range();
        let id = Uuid::try_parse(ID).unwrap();
        assert!(low <= id && id <= high);
    }
}
