//! A policy in a few words, as people type one: `read`, `edit:src`, `all`.

use std::str::FromStr;

use crate::{ActionKind, Policy, PolicyRule, Verdict};

/// Matches every kind of action.
const ALL: &str = "all";

/// Every kind of action, by the word that names it.
const KINDS: [(&str, ActionKind); 10] = [
    ("read", ActionKind::Read),
    ("edit", ActionKind::Edit),
    ("delete", ActionKind::Delete),
    ("move", ActionKind::Move),
    ("search", ActionKind::Search),
    ("execute", ActionKind::Execute),
    ("think", ActionKind::Think),
    ("fetch", ActionKind::Fetch),
    ("switch_mode", ActionKind::SwitchMode),
    ("other", ActionKind::Other),
];

/// One kind of action or all of them, everywhere or below one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyWord {
    /// Absent: every kind.
    kind: Option<ActionKind>,
    path: Option<String>,
}

/// Why words do not make a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyWordsRefusal {
    #[error("must be all, {}, or one of them with a path, such as edit:src", names().join(", "))]
    Unknown,
    #[error("{word} is given to more than one of allow, ask and deny")]
    Repeated { word: String },
    #[error("ask takes no path: what is neither allowed nor denied is asked")]
    AskPath,
    #[error(
        "deny all with ask cannot be combined with allow for a path; allow or ask the whole kind"
    )]
    DenyAllWithPath,
}

impl FromStr for PolicyWord {
    type Err = PolicyWordsRefusal;

    /// Reads `KIND` or `KIND:PATH`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, path) = match text.split_once(':') {
            Some((word, path)) => (word, Some(path.to_owned())),
            None => (text, None),
        };
        let found = KINDS.iter().find(|(name, _)| *name == word);
        let kind = found.map(|(_, kind)| *kind);
        if path.as_deref() == Some("") || (kind.is_none() && word != ALL) {
            return Err(PolicyWordsRefusal::Unknown);
        }
        Ok(Self { kind, path })
    }
}

impl Policy {
    /// Returns the policy that these words describe. A kind wins over `all`; whatever is not named is asked.
    pub fn from_words(
        allow: &[PolicyWord],
        ask: &[PolicyWord],
        deny: &[PolicyWord],
    ) -> Result<Self, PolicyWordsRefusal> {
        if ask.iter().any(|word| word.path.is_some()) {
            return Err(PolicyWordsRefusal::AskPath);
        }
        let by_verdict = [
            (Verdict::Allow, allow),
            (Verdict::Ask, ask),
            (Verdict::Deny, deny),
        ];
        let all = verdict_of(None, by_verdict)?;
        let mut policy = Self {
            default: all.unwrap_or(Verdict::Ask),
            allow: below_paths(allow),
            deny: below_paths(deny),
            ..Self::default()
        };
        // A kind that is asked needs a default that asks; what `all` said then stands in a rule.
        if !ask.is_empty() {
            policy.default = Verdict::Ask;
        }
        if all == Some(Verdict::Deny) && !ask.is_empty() && !policy.allow.is_empty() {
            return Err(PolicyWordsRefusal::DenyAllWithPath);
        }
        let (mut allowed, mut denied) = (Vec::new(), Vec::new());
        for (_, kind) in KINDS {
            let verdict = verdict_of(Some(kind), by_verdict)?.or(all);
            match verdict.filter(|verdict| *verdict != policy.default) {
                Some(Verdict::Allow) => allowed.push(kind),
                Some(Verdict::Deny) => denied.push(kind),
                Some(Verdict::Ask) | None => {}
            }
        }
        let everywhere = |kinds: Vec<ActionKind>| {
            let rule = PolicyRule {
                kinds,
                paths: Vec::new(),
            };
            Some(rule).filter(|rule| !rule.kinds.is_empty())
        };
        policy.allow.extend(everywhere(allowed));
        policy.deny.extend(everywhere(denied));
        Ok(policy)
    }
}

/// Returns what is said of a kind everywhere, or of all kinds.
fn verdict_of(
    kind: Option<ActionKind>,
    by_verdict: [(Verdict, &[PolicyWord]); 3],
) -> Result<Option<Verdict>, PolicyWordsRefusal> {
    let word = PolicyWord { kind, path: None };
    let mut given = by_verdict
        .iter()
        .filter(|(_, words)| words.contains(&word))
        .map(|(verdict, _)| *verdict);
    match (given.next(), given.next()) {
        (verdict, None) => Ok(verdict),
        _ => Err(PolicyWordsRefusal::Repeated { word: name(kind) }),
    }
}

/// Returns the rules of the words that have a path.
fn below_paths(words: &[PolicyWord]) -> Vec<PolicyRule> {
    let rule = |word: &PolicyWord| {
        Some(PolicyRule {
            kinds: word.kind.into_iter().collect(),
            paths: vec![word.path.clone()?],
        })
    };
    words.iter().filter_map(rule).collect()
}

fn names() -> Vec<&'static str> {
    KINDS.iter().map(|(name, _)| *name).collect()
}

fn name(kind: Option<ActionKind>) -> String {
    let found = KINDS.iter().find(|(_, it)| Some(*it) == kind);
    found.map_or(ALL, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde::Deserialize;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;
    use crate::{Action, ActionPath};

    fn words(text: &str) -> Vec<PolicyWord> {
        text.split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect()
    }

    fn policy(allow: &str, ask: &str, deny: &str) -> Policy {
        let policy = Policy::from_words(&words(allow), &words(ask), &words(deny)).unwrap();
        policy.check().unwrap()
    }

    fn decide(policy: &Policy, kind: ActionKind, path: &str) -> Verdict {
        let path = ActionPath {
            named: path.into(),
            resolved: Some(Path::new("/w").join(path)),
        };
        let paths = vec![path];
        policy.decide(&Action { kind, paths }, Path::new("/w"))
    }

    #[test]
    fn words_decide_by_kind_and_path() {
        use ActionKind::{Edit, Execute, Fetch, Other, Read};
        use Verdict::{Allow, Ask, Deny};
        for (allow, ask, deny, kind, path, expected) in [
            ("", "", "", Read, "a", Ask),
            ("read", "", "", Read, "a", Allow),
            ("read", "", "", Edit, "a", Ask),
            ("all", "", "", Execute, "a", Allow),
            ("all", "execute", "", Execute, "a", Ask),
            ("all", "execute", "", Other, "a", Allow),
            ("all", "", "fetch", Fetch, "a", Deny),
            ("all", "execute", "fetch", Fetch, "a", Deny),
            ("edit:src", "", "", Edit, "src/a", Allow),
            ("edit:src", "", "", Edit, "b", Ask),
            ("all", "edit", "edit:src/keys", Edit, "src/keys/k", Deny),
            ("all:src", "", "", Edit, "src/a", Allow),
            ("all:src", "", "", Edit, "b", Ask),
            ("read", "", "all", Read, "a", Allow),
            ("read", "", "all", Edit, "a", Deny),
            ("read", "edit", "all", Read, "a", Allow),
            ("read", "edit", "all", Edit, "a", Ask),
            ("read", "edit", "all", Fetch, "a", Deny),
            ("edit:src", "", "all", Edit, "src/a", Allow),
            ("edit:src", "", "all", Edit, "b", Deny),
            ("", "all", "fetch", Read, "a", Ask),
        ] {
            let given = decide(&policy(allow, ask, deny), kind, path);
            assert_eq!(given, expected, "{allow} / {ask} / {deny}: {kind:?} {path}");
        }
    }

    #[test]
    fn words_that_contradict_each_other_are_refused() {
        for text in ["", "reed", "edit:", "ALL", "edit src", ":src"] {
            let read = text.parse::<PolicyWord>();
            assert_eq!(read, Err(PolicyWordsRefusal::Unknown), "{text}");
        }
        for (allow, ask, deny) in [
            ("edit", "edit", ""),
            ("all", "", "all"),
            ("", "read:src", ""),
            ("edit:src", "read", "all"),
        ] {
            let made = Policy::from_words(&words(allow), &words(ask), &words(deny));
            assert!(made.is_err(), "{allow} / {ask} / {deny}");
        }
    }

    #[test]
    fn every_kind_has_its_word() {
        for (name, kind) in KINDS {
            let read = StrDeserializer::<Error>::new(name);
            assert_eq!(ActionKind::deserialize(read).unwrap(), kind, "{name}");
        }
    }
}
