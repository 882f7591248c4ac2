//! What many wire types share.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wh_domain::{InputRefusal, PageLimit, PageRequest, Reference};

use crate::NumberOrId;

/// Nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// Which part of a list to return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageQuery {
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

impl PageQuery {
    /// Reads what a request says about its page.
    pub fn new(limit: Option<u32>, cursor: Option<&NumberOrId>) -> Self {
        let cursor = cursor.map(ToString::to_string);
        Self { limit, cursor }
    }

    /// Reads a cursor of a list ordered by id.
    pub fn by_id(&self) -> Result<PageRequest<Uuid>, InputRefusal> {
        let read = |text: &String| Uuid::try_parse(text).map_err(|_| not_a_cursor());
        let after = self.cursor.as_ref().map(read).transpose()?;
        Ok(self.after(after))
    }

    /// Reads a cursor of a list ordered by number.
    pub fn by_number(&self) -> Result<PageRequest<u64>, InputRefusal> {
        let read = |text: &String| text.parse().map_err(|_| not_a_cursor());
        let after = self.cursor.as_ref().map(read).transpose()?;
        Ok(self.after(after))
    }

    /// Reads a cursor of a list whose entries callers know by number and by id.
    pub fn by_number_or_id(&self) -> Result<PageRequest<Reference>, InputRefusal> {
        let after = optional_reference("cursor", self.cursor.as_deref())?;
        Ok(self.after(after))
    }

    fn after<C>(&self, after: Option<C>) -> PageRequest<C> {
        PageRequest {
            after,
            ..PageRequest::first(PageLimit::clamped(self.limit)).counted()
        }
    }
}

fn not_a_cursor() -> InputRefusal {
    InputRefusal::new(
        "cursor",
        "is neither what a list returned as next_cursor nor a whole id",
    )
}

/// Returns a cursor as callers see it.
pub fn cursor_of(next: Option<impl ToString>) -> Option<String> {
    next.map(|cursor| cursor.to_string())
}

/// Checks one field and names it when it is refused.
pub(crate) fn field<T, E: ToString>(name: &str, result: Result<T, E>) -> Result<T, InputRefusal> {
    result.map_err(|problem| InputRefusal::new(name, problem.to_string()))
}

/// Checks a field that may be absent.
pub(crate) fn optional<T, E: ToString>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, InputRefusal> {
    text.map(|text| field(name, parse(text))).transpose()
}

/// Checks a field that names something.
pub(crate) fn reference(name: &str, text: &str) -> Result<Reference, InputRefusal> {
    field(name, Reference::parse(text))
}

/// Checks a field that may name something.
pub(crate) fn optional_reference(
    name: &str,
    text: Option<&str>,
) -> Result<Option<Reference>, InputRefusal> {
    text.map(|text| reference(name, text)).transpose()
}

/// Refuses lists longer than `max`.
pub(crate) fn at_most<T>(name: &str, items: &[T], max: usize) -> Result<(), InputRefusal> {
    if items.len() > max {
        return Err(InputRefusal::new(
            name,
            format!("holds at most {max} entries"),
        ));
    }
    Ok(())
}

/// Tells whether a count is left out of an answer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Writes a time the way every answer does: RFC 3339 in UTC.
pub(crate) fn time(at: Timestamp) -> String {
    at.to_string()
}

/// Defines a request that lists something a page at a time.
macro_rules! list_request {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$ty>,
            )*
            /// How many at most: 1 to 200, 50 unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub limit: Option<u32>,
            /// next_cursor of the page before.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cursor: Option<crate::NumberOrId>,
        }

        impl $name {
            /// Returns which part of the list is asked for.
            pub fn page(&self) -> crate::PageQuery {
                crate::PageQuery::new(self.limit, self.cursor.as_ref())
            }
        }
    };
}
pub(crate) use list_request;
