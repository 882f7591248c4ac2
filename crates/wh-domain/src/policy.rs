//! What an agent may do without asking, and what it may never do.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The most rules of one policy.
const RULES_MAX: usize = 64;

/// What a session's agent may do by itself. Refusals win over allowances, and those over the default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// What happens where no rule fits.
    pub default: Verdict,
    pub allow: Vec<PolicyRule>,
    pub deny: Vec<PolicyRule>,
    /// Who is asked.
    pub route: Route,
    /// Seconds until silence is a refusal; the server's setting when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            default: Verdict::Ask,
            allow: Vec::new(),
            deny: Vec::new(),
            route: Route::Human,
            timeout_seconds: None,
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ask,
    Allow,
    Deny,
}

impl Verdict {
    /// Returns the verdict that lets less happen.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny, _) | (_, Self::Deny) => Self::Deny,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

/// Who settles what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// A person.
    Human,
    /// The session that spawned this one, or a person.
    Parent,
}

/// Fits requests of certain kinds that touch only certain places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRule {
    /// Empty: every kind.
    pub kinds: Vec<ActionKind>,
    /// Directories or files, relative to where the agent works. Empty: everywhere.
    pub paths: Vec<String>,
}

/// What an agent wants to do, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub kind: ActionKind,
    /// Every path that the request names.
    pub paths: Vec<ActionPath>,
}

/// A path that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionPath {
    /// As the agent wrote it, relative to where it works if it lies there.
    pub named: PathBuf,
    /// With every symbolic link followed; absent when that cannot be told.
    pub resolved: Option<PathBuf>,
}

impl Action {
    /// Tells whether it may touch places that it does not name: it names none, or runs a command.
    fn is_open_ended(&self) -> bool {
        self.paths.is_empty() || self.kind == ActionKind::Execute
    }

    fn is_unresolved(&self) -> bool {
        self.paths.iter().any(|path| path.resolved.is_none())
    }
}

/// Why a policy was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyRefusal {
    #[error("a policy has at most {RULES_MAX} rules")]
    TooMany,
    #[error("{path:?} must be relative to where the agent works and must not leave it")]
    Path { path: String },
}

impl Policy {
    /// Checks what a caller wrote.
    pub fn check(self) -> Result<Self, PolicyRefusal> {
        if self.allow.len() + self.deny.len() > RULES_MAX {
            return Err(PolicyRefusal::TooMany);
        }
        let rules = self.allow.iter().chain(&self.deny);
        for path in rules.flat_map(|rule| &rule.paths) {
            if inside(Path::new(path)).is_none() {
                return Err(PolicyRefusal::Path { path: path.clone() });
            }
        }
        Ok(self)
    }

    /// Returns the policy of a session that asks for `self` under a parent with `parent`: it allows what both allow, and
    /// refuses what either refuses.
    pub fn under(&self, parent: &Self) -> Result<Self, PolicyRefusal> {
        let mut allow = Vec::new();
        for own in &self.allow {
            let both = parent.allow.iter().filter_map(|other| own.intersect(other));
            allow.extend(both);
        }
        if parent.default == Verdict::Allow {
            allow.extend(self.allow.iter().cloned());
        }
        if self.default == Verdict::Allow {
            allow.extend(parent.allow.iter().cloned());
        }
        let mut deny = parent.deny.clone();
        deny.extend(self.deny.iter().cloned());
        let narrowed = Self {
            default: self.default.stricter(parent.default),
            allow: without_repeats(allow),
            deny: without_repeats(deny),
            route: self.route,
            timeout_seconds: self.timeout_seconds.or(parent.timeout_seconds),
        };
        narrowed.check()
    }

    /// Decides about an action of an agent that works in `home`, a resolved path.
    ///
    /// What cannot be resolved may lie in a refused place, so it is asked about.
    pub fn decide(&self, action: &Action, home: &Path) -> Verdict {
        let by_place = |rule: &PolicyRule| !rule.paths.is_empty() && rule.fits_kind(action);
        let is_doubtful = action.is_unresolved() && self.deny.iter().any(by_place);
        if self.deny.iter().any(|rule| rule.touches(action, home)) {
            return Verdict::Deny;
        }
        let verdict = match self.allow.iter().any(|rule| rule.covers(action, home)) {
            true => Verdict::Allow,
            false => self.default,
        };
        match verdict {
            Verdict::Allow if is_doubtful => Verdict::Ask,
            verdict => verdict,
        }
    }
}

impl PolicyRule {
    /// Tells whether everything the action touches lies within the rule: what an allowance needs. Every path must lead
    /// there, wherever its links go; a command is never allowed by the paths it names.
    fn covers(&self, action: &Action, home: &Path) -> bool {
        let leads_inside = |path: &ActionPath| {
            let resolved = path.resolved.as_deref();
            resolved.is_some_and(|resolved| self.holds(resolved, home))
        };
        let within = !action.is_open_ended() && action.paths.iter().all(leads_inside);
        self.fits_kind(action) && (self.paths.is_empty() || within)
    }

    /// Tells whether anything the action touches lies within the rule, by its name or where it leads: what a refusal
    /// needs. An action that does not say what it touches may touch anything.
    fn touches(&self, action: &Action, home: &Path) -> bool {
        let touches = |path: &ActionPath| {
            let resolved = path.resolved.as_deref();
            self.holds(&path.named, home)
                || resolved.is_some_and(|resolved| self.holds(resolved, home))
        };
        let unknown = self.paths.is_empty() || action.is_open_ended();
        self.fits_kind(action) && (unknown || action.paths.iter().any(touches))
    }

    /// Returns the rule that covers what both cover, if there is such a thing.
    fn intersect(&self, other: &Self) -> Option<Self> {
        let kinds = match (self.kinds.is_empty(), other.kinds.is_empty()) {
            (true, _) => other.kinds.clone(),
            (_, true) => self.kinds.clone(),
            _ => {
                let both = self.kinds.iter().filter(|kind| other.kinds.contains(kind));
                Some(both.copied().collect::<Vec<_>>()).filter(|kinds| !kinds.is_empty())?
            }
        };
        let paths = match (self.paths.is_empty(), other.paths.is_empty()) {
            (true, _) => other.paths.clone(),
            (_, true) => self.paths.clone(),
            _ => {
                let inner = |these: &[String], those: &[String]| -> Vec<String> {
                    let lies_within = |path: &&String| those.iter().any(|it| is_below(path, it));
                    these.iter().filter(lies_within).cloned().collect()
                };
                let mut both = inner(&self.paths, &other.paths);
                both.extend(inner(&other.paths, &self.paths));
                Some(without_repeats(both)).filter(|paths| !paths.is_empty())?
            }
        };
        Some(Self { kinds, paths })
    }

    fn fits_kind(&self, action: &Action) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&action.kind)
    }

    fn holds(&self, path: &Path, home: &Path) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        let relative = if path.is_absolute() {
            path.strip_prefix(home).ok()
        } else {
            Some(path)
        };
        let Some(path) = relative.and_then(inside) else {
            return false;
        };
        let allowed = self.paths.iter().filter_map(|it| inside(Path::new(it)));
        allowed.into_iter().any(|allowed| path.starts_with(allowed))
    }
}

/// Tells whether a place is another one or lies in it.
fn is_below(path: &str, other: &str) -> bool {
    match (inside(Path::new(path)), inside(Path::new(other))) {
        (Some(path), Some(other)) => path.starts_with(other),
        _ => false,
    }
}

fn without_repeats<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut once = Vec::new();
    for item in items {
        if !once.contains(&item) {
            once.push(item);
        }
    }
    once
}

/// Returns a relative path without `.`; nothing when it could leave where it starts.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(clean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_rule() -> impl Strategy<Value = PolicyRule> {
        let kind = prop::sample::select(vec![
            ActionKind::Read,
            ActionKind::Edit,
            ActionKind::Execute,
        ]);
        let path = prop::sample::select(vec!["a", "a/b", "a/b/c", "ab", "c", "./a"]);
        let kinds = prop::collection::vec(kind, 0..3);
        let paths = prop::collection::vec(path.prop_map(str::to_owned), 0..3);
        (kinds, paths).prop_map(|(kinds, paths)| PolicyRule { kinds, paths })
    }

    fn any_policy() -> impl Strategy<Value = Policy> {
        let verdict = prop::sample::select(vec![Verdict::Ask, Verdict::Allow, Verdict::Deny]);
        let rules = || prop::collection::vec(any_rule(), 0..4);
        (verdict, rules(), rules()).prop_map(|(default, allow, deny)| Policy {
            default,
            allow,
            deny,
            ..Policy::default()
        })
    }

    fn any_action() -> impl Strategy<Value = Action> {
        let kinds = vec![
            ActionKind::Read,
            ActionKind::Edit,
            ActionKind::Execute,
            ActionKind::Fetch,
        ];
        let path = prop::sample::select(vec![
            "a",
            "a/x",
            "a/b/x",
            "/w/a/b/c/x",
            "ab/x",
            "c",
            "/etc/x",
        ]);
        let path =
            (path.clone(), prop::option::of(path)).prop_map(|(named, resolved)| ActionPath {
                named: named.into(),
                resolved: resolved.map(PathBuf::from),
            });
        let paths = prop::collection::vec(path, 0..3);
        (prop::sample::select(kinds), paths).prop_map(|(kind, paths)| Action { kind, paths })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_child_is_never_allowed_more_than_its_parent_or_than_it_asked(
            parent in any_policy(), asked in any_policy(), actions in prop::collection::vec(any_action(), 1..8),
        ) {
            let child = asked.under(&parent).unwrap();
            let home = Path::new("/w");
            for action in actions {
                let given = child.decide(&action, home);
                for limit in [parent.decide(&action, home), asked.decide(&action, home)] {
                    prop_assert_eq!(given.stricter(limit), given, "{:?} under {:?}: {:?}", asked, parent, action);
                }
                let both = parent.decide(&action, home) == Verdict::Allow && asked.decide(&action, home) == Verdict::Allow;
                prop_assert_eq!(given == Verdict::Allow, both);
            }
        }
    }

    fn action(kind: ActionKind, paths: &[&str]) -> Action {
        let same = |path: &&str| led(path, path);
        let paths = paths.iter().map(same).collect();
        Action { kind, paths }
    }

    /// A path that leads elsewhere than its name says; nowhere known if that is empty.
    fn led(named: &str, resolved: &str) -> ActionPath {
        let resolved = Some(resolved).filter(|it| !it.is_empty());
        ActionPath {
            named: named.into(),
            resolved: resolved.map(PathBuf::from),
        }
    }

    #[test]
    fn what_counts_is_where_a_path_leads() {
        let home = Path::new("/w");
        let edit = |paths: &[ActionPath]| Action {
            kind: ActionKind::Edit,
            paths: paths.to_vec(),
        };
        let allow = Policy {
            allow: vec![rule(&[], &["src"])],
            ..Policy::default()
        };
        let inside = led("src/a", "/w/src/a");
        for (other, verdict) in [
            (led("b/link", "/w/src/b"), Verdict::Allow),
            (led("src/link/x", "/etc/x"), Verdict::Ask),
            (led("src/x", ""), Verdict::Ask),
            (led("src", "/w"), Verdict::Ask),
        ] {
            let given = edit(&[inside.clone(), other]);
            assert_eq!(allow.decide(&given, home), verdict, "{given:?}");
        }
        let deny = Policy {
            default: Verdict::Allow,
            deny: vec![rule(&[], &["secret"])],
            ..Policy::default()
        };
        for (path, verdict) in [
            (led("a", "/w/a"), Verdict::Allow),
            (led("a", "/w/secret/a"), Verdict::Deny),
            (led("secret/a", "/elsewhere/a"), Verdict::Deny),
            (led("a", ""), Verdict::Ask),
        ] {
            let given = edit(&[path]);
            assert_eq!(deny.decide(&given, home), verdict, "{given:?}");
        }
        // A command that names a path can do something else.
        let command = action(ActionKind::Execute, &["/w/src/a"]);
        assert_eq!(allow.decide(&command, home), Verdict::Ask);
        assert_eq!(deny.decide(&command, home), Verdict::Deny);
    }

    fn rule(kinds: &[ActionKind], paths: &[&str]) -> PolicyRule {
        PolicyRule {
            kinds: kinds.to_vec(),
            paths: paths.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn an_allowance_needs_every_place_and_a_refusal_one() {
        let home = Path::new("/w");
        let policy = Policy {
            allow: vec![
                rule(&[ActionKind::Edit], &["src"]),
                rule(&[ActionKind::Read], &[]),
            ],
            deny: vec![rule(&[], &["src/secret"])],
            ..Policy::default()
        };
        for (kind, paths, verdict) in [
            (ActionKind::Edit, &["/w/src/a.rs"][..], Verdict::Allow),
            (ActionKind::Edit, &["src/./a.rs"], Verdict::Allow),
            (ActionKind::Edit, &["/w/src/a.rs", "/w/b"], Verdict::Ask),
            (ActionKind::Edit, &["/w/srcs/a.rs"], Verdict::Ask),
            (ActionKind::Edit, &["/w/src/../b"], Verdict::Ask),
            (ActionKind::Edit, &["/etc/passwd"], Verdict::Ask),
            (
                ActionKind::Edit,
                &["/w/src/a.rs", "/w/src/secret/k"],
                Verdict::Deny,
            ),
            (ActionKind::Read, &["/w/b"], Verdict::Allow),
        ] {
            let given = action(kind, paths);
            assert_eq!(policy.decide(&given, home), verdict, "{given:?}");
        }
    }

    #[test]
    fn an_action_that_does_not_say_what_it_touches_is_neither_allowed_by_place_nor_spared() {
        let home = Path::new("/w");
        let command = action(ActionKind::Execute, &[]);
        let allow = Policy {
            allow: vec![rule(&[], &["src"])],
            ..Policy::default()
        };
        assert_eq!(allow.decide(&command, home), Verdict::Ask);
        let deny = Policy {
            default: Verdict::Allow,
            deny: vec![rule(&[], &["src"])],
            ..Policy::default()
        };
        assert_eq!(deny.decide(&command, home), Verdict::Deny);
    }

    #[test]
    fn policies_that_reach_outside_are_refused() {
        for path in ["/etc", "../x", "a/../../b"] {
            let policy = Policy {
                allow: vec![rule(&[], &[path])],
                ..Policy::default()
            };
            assert!(policy.check().is_err(), "{path}");
        }
        let many = Policy {
            deny: vec![PolicyRule::default(); RULES_MAX + 1],
            ..Policy::default()
        };
        assert_eq!(many.check(), Err(PolicyRefusal::TooMany));
    }
}
