//! Hints of refusals: which of the operations they name, the caller can call.

use crate::Operation;

/// Ends a part of a hint that stands by itself.
const PARTS: &str = "; ";

/// Returns a hint without the parts that name an operation that the caller may not call; nothing when no part is left.
pub fn fit_hint(hint: &str, may: impl Fn(Operation) -> bool) -> Option<String> {
    let fits = |part: &&str| operations_in(part).all(&may);
    let parts: Vec<_> = hint.split(PARTS).filter(fits).collect();
    (!parts.is_empty()).then(|| parts.join(PARTS))
}

/// Returns the operations that a text names.
pub fn operations_in(text: &str) -> impl Iterator<Item = Operation> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    words.filter_map(|word| Operation::parse(word.trim_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_name_what_the_caller_may_not_do_are_left_out() {
        let hint = "raise it with session_update {\"budget\": {…}}; or begin another with session_create; ask a person.";
        let without = |operation| move |it: Operation| it != operation;
        assert_eq!(fit_hint(hint, |_| true).as_deref(), Some(hint));
        assert_eq!(
            fit_hint(hint, without(Operation::SessionCreate)).as_deref(),
            Some("raise it with session_update {\"budget\": {…}}; ask a person.")
        );
        assert_eq!(fit_hint(hint, |_| false).as_deref(), Some("ask a person."));
        assert_eq!(fit_hint("task_list shows them", |_| false), None);
        // Settings and fields are no operations.
        assert_eq!(
            operations_in("budget.session.turns, task_lists and note_list.").collect::<Vec<_>>(),
            [Operation::NoteList]
        );
    }
}
