//! Between columns and domain values: every conversion is checked, and a row that cannot be read spoils only itself.

use std::fmt::Display;
use std::path::Path;

use jiff::Timestamp;
use newtype_uuid::{GenericUuid, TypedUuid, TypedUuidKind};
use sqlx::sqlite::{SqliteRow, SqliteValueRef};
use sqlx::{Decode, Row, Sqlite, Type};
use uuid::Uuid;
use wh_domain::{Facts, Owner, Page, PageLimit};
use wh_store::{Result, StoreError};

/// Why a row could not be read.
#[derive(Debug)]
pub(crate) struct BadRow(String);

impl BadRow {
    /// Says what is wrong with a column.
    pub(crate) fn new(column: &str, problem: impl Display) -> Self {
        Self(format!("{column}: {problem}"))
    }
}

/// What a conversion of a row returns.
pub(crate) type Parsed<T> = Result<T, BadRow>;

/// Returns a column as it is.
pub(crate) fn get<'r, T>(row: &'r SqliteRow, column: &str) -> Parsed<T>
where
    T: Decode<'r, Sqlite> + Type<Sqlite>,
    SqliteValueRef<'r>: Sized,
{
    row.try_get(column).map_err(|e| BadRow::new(column, e))
}

/// Returns a column through a parser of the domain.
pub(crate) fn parse<T, E: Display>(
    row: &SqliteRow,
    column: &str,
    parser: impl Fn(&str) -> Result<T, E>,
) -> Parsed<T> {
    parser(get::<&str>(row, column)?).map_err(|e| BadRow::new(column, e))
}

/// Returns a column that may be empty through a parser of the domain.
pub(crate) fn parse_opt<T, E: Display>(
    row: &SqliteRow,
    column: &str,
    parser: impl Fn(&str) -> Result<T, E>,
) -> Parsed<Option<T>> {
    let text = get::<Option<&str>>(row, column)?;
    text.map(parser)
        .transpose()
        .map_err(|e| BadRow::new(column, e))
}

/// Returns a column that holds the text of an enum.
pub(crate) fn parse_enum<T>(
    row: &SqliteRow,
    column: &str,
    parser: impl Fn(&str) -> Option<T>,
) -> Parsed<T> {
    let text = get::<&str>(row, column)?;
    parser(text).ok_or_else(|| BadRow::new(column, format!("{text:?} is not known")))
}

/// Reads a word of a closed list that may be absent.
pub(crate) fn parse_enum_opt<T>(
    row: &SqliteRow,
    column: &str,
    parser: impl Fn(&str) -> Option<T>,
) -> Parsed<Option<T>> {
    let is_there = get::<Option<&str>>(row, column)?.is_some();
    is_there
        .then(|| parse_enum(row, column, parser))
        .transpose()
}

/// Returns an id.
pub(crate) fn id<K: TypedUuidKind>(row: &SqliteRow, column: &str) -> Parsed<TypedUuid<K>> {
    get::<Uuid>(row, column).map(TypedUuid::from_untyped_uuid)
}

/// Returns an id that may be absent.
pub(crate) fn id_opt<K: TypedUuidKind>(
    row: &SqliteRow,
    column: &str,
) -> Parsed<Option<TypedUuid<K>>> {
    Ok(get::<Option<Uuid>>(row, column)?.map(TypedUuid::from_untyped_uuid))
}

/// Returns the owner from the two columns every owned table has.
pub(crate) fn owner(row: &SqliteRow) -> Parsed<Owner> {
    Ok(Owner {
        user: id(row, "owner_user_id")?,
        key: id_opt(row, "owner_key_id")?,
    })
}

/// Returns a time.
pub(crate) fn time(row: &SqliteRow, column: &str) -> Parsed<Timestamp> {
    from_micros(column, get(row, column)?)
}

/// Returns a time that may be absent.
pub(crate) fn time_opt(row: &SqliteRow, column: &str) -> Parsed<Option<Timestamp>> {
    let micros = get::<Option<i64>>(row, column)?;
    micros.map(|n| from_micros(column, n)).transpose()
}

fn from_micros(column: &str, micros: i64) -> Parsed<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|e| BadRow::new(column, e))
}

/// Returns a count.
pub(crate) fn count(row: &SqliteRow, column: &str) -> Parsed<u64> {
    let n = get::<i64>(row, column)?;
    u64::try_from(n).map_err(|e| BadRow::new(column, e))
}

/// Returns a count that may be absent.
pub(crate) fn count_opt(row: &SqliteRow, column: &str) -> Parsed<Option<u64>> {
    let n = get::<Option<i64>>(row, column)?;
    n.map(u64::try_from)
        .transpose()
        .map_err(|e| BadRow::new(column, e))
}

/// Returns short facts, which are stored as a JSON object, or as nothing when there are none.
pub(crate) fn facts(row: &SqliteRow, column: &str) -> Parsed<Facts> {
    let text = get::<Option<&str>>(row, column)?;
    text.map_or_else(|| Ok(Facts::new()), serde_json::from_str)
        .map_err(|e| BadRow::new(column, e))
}

/// Writes short facts as text.
pub(crate) fn facts_text(facts: &Facts) -> Option<String> {
    // Writing a map of texts as JSON cannot fail.
    let text = || serde_json::to_string(facts).unwrap_or_default();
    (!facts.is_empty()).then(text)
}

/// Writes a path; one that is not text is refused.
pub(crate) fn path_text<'p>(what: &'static str, path: &'p Path) -> Result<&'p str> {
    let message = || "a path is not valid UTF-8".to_owned();
    path.to_str().ok_or_else(|| StoreError::Unreadable {
        what,
        message: message(),
    })
}

/// Writes a time.
pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

/// Writes a count. SQLite's integers end at 2⁶³ - 1, which is as good as without limit.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Writes an id.
pub(crate) fn uuid<K: TypedUuidKind>(id: TypedUuid<K>) -> Uuid {
    id.into_untyped_uuid()
}

/// Writes an id that may be absent.
pub(crate) fn uuid_opt<K: TypedUuidKind>(id: Option<TypedUuid<K>>) -> Option<Uuid> {
    id.map(GenericUuid::into_untyped_uuid)
}

/// Reads a row that was asked for; one that cannot be read is an error.
pub(crate) fn direct<T>(what: &'static str, parsed: Parsed<T>) -> Result<T> {
    parsed.map_err(|BadRow(message)| StoreError::Unreadable { what, message })
}

/// Reads rows of a list; one that cannot be read is left out, and the log says so.
pub(crate) fn listed<R, T>(
    what: &'static str,
    rows: &[R],
    parser: impl Fn(&R) -> Parsed<T>,
) -> Vec<T> {
    let readable = |row| match parser(row) {
        Ok(item) => Some(item),
        Err(BadRow(message)) => {
            tracing::error!(what, message, "a stored row cannot be read and is left out");
            None
        }
    };
    rows.iter().filter_map(readable).collect()
}

/// Makes a page from up to `limit + 1` rows. The cursor comes from the rows, so that an unreadable one ends no list.
pub(crate) fn page<R, T, C>(
    what: &'static str,
    mut rows: Vec<R>,
    limit: PageLimit,
    cursor: impl Fn(&R) -> Parsed<C>,
    parser: impl Fn(&R) -> Parsed<T>,
) -> Result<Page<T, C>> {
    let size = limit.get() as usize;
    let more = rows.len() > size;
    rows.truncate(size);
    let last = rows.last().filter(|_| more);
    let next = last.map(|row| direct(what, cursor(row))).transpose()?;
    let items = listed(what, &rows, parser);
    Ok(Page {
        items,
        next,
        total: None,
    })
}

/// Returns the cursor of lists that are ordered by id.
pub(crate) fn id_cursor(row: &SqliteRow) -> Parsed<Uuid> {
    get(row, "id")
}
