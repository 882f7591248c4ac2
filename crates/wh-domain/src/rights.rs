//! What a session may do, and why a child never gets more than its parent.

use std::path::{Component, Path, PathBuf};

use crate::{Budget, Operation, SessionRole};

/// Everything that limits a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    pub operations: OperationSet,
    pub paths: AllowedPaths,
    pub budget: Budget,
}

impl Rights {
    /// Returns the rights that `role` has by itself, within `paths` and `budget`.
    pub fn of_role(role: SessionRole, paths: AllowedPaths, budget: Budget) -> Self {
        Self {
            operations: OperationSet::of_role(role),
            paths,
            budget,
        }
    }

    /// Returns what a child gets that asks for `asked`: never more than its parent has.
    #[must_use]
    pub fn for_child(&self, asked: &Self) -> Self {
        Self {
            operations: self.operations.intersect(asked.operations),
            paths: self.paths.intersect(&asked.paths),
            budget: self.budget.intersect(asked.budget),
        }
    }

    /// Tells whether `self` allows nothing that `other` does not.
    pub fn is_within(&self, other: &Self) -> bool {
        self.operations.intersect(other.operations) == self.operations
            && self.paths.is_within(&other.paths)
            && self.budget.is_within(other.budget)
    }
}

/// A set of operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSet(u128);

impl OperationSet {
    /// Returns the operations that a session token of `role` may call.
    pub fn of_role(role: SessionRole) -> Self {
        Operation::ALL
            .iter()
            .filter(|op| op.rule().roles.contains(&role))
            .fold(Self::default(), |set, op| set.with(*op))
    }

    /// Returns the set with `operation` in it.
    #[must_use]
    pub fn with(self, operation: Operation) -> Self {
        Self(self.0 | 1 << (operation as u32))
    }

    /// Tells whether `operation` is in the set.
    pub fn contains(self, operation: Operation) -> bool {
        self.0 & (1 << (operation as u32)) != 0
    }

    /// Returns what is in both sets.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The directories a session may touch. No directory means none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedPaths(Vec<PathBuf>);

impl AllowedPaths {
    /// Takes absolute directories without `.` or `..`; anything else is left out, never widened.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let plain = |path: &PathBuf| {
            path.is_absolute()
                && path
                    .components()
                    .all(|c| matches!(c, Component::RootDir | Component::Normal(_)))
        };
        let mut paths: Vec<_> = paths.into_iter().filter(plain).collect();
        paths.sort();
        paths.dedup();
        Self(paths)
    }

    /// Tells whether `path` lies in one of the directories; compared by component, so `/srv/abc` is not in `/srv/a`.
    pub fn allow(&self, path: &Path) -> bool {
        self.0.iter().any(|dir| path.starts_with(dir))
    }

    /// Returns the directories that both allow: of two nested ones, the inner.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let inner = |a: &Self, b: &Self| -> Vec<PathBuf> {
            a.0.iter().filter(|p| b.allow(p)).cloned().collect()
        };
        Self::new(inner(self, other).into_iter().chain(inner(other, self)))
    }

    /// Tells whether everything here lies within `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().all(|path| other.allow(path))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn role() -> impl Strategy<Value = SessionRole> {
        prop::sample::select(SessionRole::ALL.to_vec())
    }

    fn paths() -> impl Strategy<Value = AllowedPaths> {
        let part = prop::sample::select(vec!["a", "ab", "b", "..", "c"]);
        let path = prop::collection::vec(part, 0..4)
            .prop_map(|parts| PathBuf::from(format!("/{}", parts.join("/"))));
        prop::collection::vec(path, 0..5).prop_map(AllowedPaths::new)
    }

    fn budget() -> impl Strategy<Value = Budget> {
        let limit = || prop::option::of(0u64..100);
        (limit(), limit(), limit(), limit()).prop_map(
            |(tokens, cost_micros, wall_seconds, turns)| Budget {
                tokens,
                cost_micros,
                wall_seconds,
                turns,
            },
        )
    }

    fn rights() -> impl Strategy<Value = Rights> {
        (role(), paths(), budget()).prop_map(|(r, p, b)| Rights::of_role(r, p, b))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn a_child_never_exceeds_its_parent_however_deep(root in rights(), asked in prop::collection::vec(rights(), 1..6)) {
            let mut parent = root.clone();
            for ask in asked {
                let child = parent.for_child(&ask);
                prop_assert!(child.is_within(&parent), "{child:?} in {parent:?}");
                prop_assert!(child.is_within(&ask));
                prop_assert!(child.is_within(&root));
                parent = child;
            }
        }

        #[test]
        fn an_allowed_path_is_allowed_by_both(a in paths(), b in paths(), p in paths()) {
            let both = a.intersect(&b);
            for path in &p.0 {
                prop_assert_eq!(both.allow(path), a.allow(path) && b.allow(path));
            }
        }
    }

    #[test]
    fn a_name_that_begins_alike_is_another_directory() {
        let paths = AllowedPaths::new([PathBuf::from("/srv/a")]);
        assert!(paths.allow(Path::new("/srv/a/x")));
        assert!(!paths.allow(Path::new("/srv/abc")));
    }
}
