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
    /// Every place it touches, as the agent says; a command says none.
    pub paths: Vec<PathBuf>,
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

    /// Decides about an action of an agent that works in `home`.
    pub fn decide(&self, action: &Action, home: &Path) -> Verdict {
        if self.deny.iter().any(|rule| rule.touches(action, home)) {
            Verdict::Deny
        } else if self.allow.iter().any(|rule| rule.covers(action, home)) {
            Verdict::Allow
        } else {
            self.default
        }
    }
}

impl PolicyRule {
    /// Tells whether everything the action touches lies within the rule: what an allowance needs.
    fn covers(&self, action: &Action, home: &Path) -> bool {
        let known = self.paths.is_empty() || !action.paths.is_empty();
        known && self.fits_kind(action) && action.paths.iter().all(|path| self.holds(path, home))
    }

    /// Tells whether anything the action touches lies within the rule: what a refusal needs. An action that does not say
    /// what it touches may touch anything.
    fn touches(&self, action: &Action, home: &Path) -> bool {
        let unknown = self.paths.is_empty() || action.paths.is_empty();
        self.fits_kind(action)
            && (unknown || action.paths.iter().any(|path| self.holds(path, home)))
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
    use super::*;

    fn action(kind: ActionKind, paths: &[&str]) -> Action {
        let paths = paths.iter().map(PathBuf::from).collect();
        Action { kind, paths }
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
