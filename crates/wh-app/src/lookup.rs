//! Finds what a caller means by a reference.

use serde_json::Value;
use wh_domain::{IdRef, Reference};

use crate::{AppError, Reason, Resource, Result};

/// Picks the one thing that a reference means.
///
/// Nothing found gives the one not-found answer; several found, an error that lists them, which are all within the
/// caller's reach.
pub(crate) fn only_one<T>(
    resource: Resource,
    mut found: Vec<T>,
    describe: impl Fn(&T) -> String,
) -> Result<T> {
    if found.len() > 1 {
        let candidates: Vec<Value> = found.iter().map(|one| describe(one).into()).collect();
        let ambiguous = AppError::from(Reason::Ambiguous(resource));
        return Err(ambiguous.detail("candidates", candidates));
    }
    found.pop().ok_or_else(|| AppError::not_found(resource))
}

/// Reads a reference as an id. What cannot be one is said to be so: that tells nothing about what exists.
pub(crate) fn id_of(reference: &Reference) -> Result<IdRef> {
    Ok(reference.id()?)
}
