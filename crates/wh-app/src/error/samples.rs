//! One sample of every reason, for tests of the surfaces: each renders all of them.
//!
//! The `match`es have no wildcard, so a new reason does not compile until it has a sample.

mod nested;
mod others;
mod sessions;
mod worktrees;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_agents::LaunchRefusal;
use wh_domain::{
    Credential, InputRefusal, KeyId, Operation, Principal, RoleSet, SessionId, SessionRole,
    TextRefusal, Tier, TierRefusal, UserId, UserRole, WorktreeRefusal, WorktreeStateName,
};

use super::{AppError, LaunchMoment, Reason, Resource};

/// Walks the samples of a type: each sample determines the next one.
pub(crate) trait Samples: Sized {
    /// Returns the sample after `last`, the first one if there is none yet.
    fn after(last: Option<&Self>) -> Option<Self>;
}

/// Returns every sample of a type.
pub(super) fn all<T: Samples>() -> Vec<T> {
    let mut all = Vec::new();
    while let Some(next) = T::after(all.last()) {
        all.push(next);
    }
    all
}

/// Returns samples of every reason.
pub fn reasons() -> Vec<Reason> {
    let mut all = Vec::new();
    while let Some(next) = after(all.last()) {
        all.extend(next);
    }
    all
}

/// Returns every reason as an error for a caller: with the advice that the caller can follow.
pub fn errors_for(principal: &Principal) -> Vec<AppError> {
    let reasons = reasons().into_iter();
    let errors = reasons.map(|reason| AppError::from(reason).fitted_to(principal));
    errors.collect()
}

/// Returns callers of every kind: each credential of an administrator and of a member.
pub fn callers() -> Vec<Principal> {
    let id = Uuid::from_u128(1);
    let (user, key) = (UserId::from_untyped_uuid(id), KeyId::from_untyped_uuid(id));
    let session = SessionId::from_untyped_uuid(id);
    let of_role = |role| Credential::Session {
        key,
        session,
        role,
        lineage: RoleSet::default(),
        epoch: 1,
    };
    let credentials = [
        Credential::Local,
        Credential::Browser { key },
        Credential::Full { key },
        Credential::Read { key },
        Credential::Client { key },
        Credential::SessionInternal { key, session },
    ];
    let credentials: Vec<_> = credentials
        .into_iter()
        .chain(SessionRole::ALL.map(of_role))
        .collect();
    let callers = [UserRole::Admin, UserRole::Member].into_iter();
    let callers = callers.flat_map(|role| {
        let of_user = move |credential: &Credential| Principal {
            user,
            role,
            credential: credential.clone(),
        };
        credentials.iter().map(of_user)
    });
    callers.collect()
}

/// Returns the operations that a text names, other than by a plain word such as "logout".
pub fn operations_in(text: &str) -> Vec<Operation> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named = words.filter(|word| word.contains('_'));
    named.filter_map(Operation::parse).collect()
}

/// Returns whether a text holds JSON as calls of tools have it.
pub fn has_call_syntax(text: &str) -> bool {
    text.contains("{\"") || text.contains("tool_search") || text.contains("tool_call")
}

/// Returns whether a text holds a command of the `wheelhouse` program or a flag of one.
pub fn has_command_syntax(text: &str) -> bool {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let mut words = text.split([' ', '`', '(']);
    quoted.any(|command| command.starts_with("wheelhouse"))
        || text.contains("run wheelhouse ")
        || words.any(|word| word.starts_with("--"))
}

/// Returns the samples of the kind of reason that follows `last`.
fn after(last: Option<&Reason>) -> Option<Vec<Reason>> {
    Some(match last {
        None => of(Reason::NotFound),
        Some(Reason::NotFound(_)) => vec![Reason::NotFoundAs {
            resource: Resource::Session,
            label: "Session",
            id: "0123".to_owned(),
        }],
        Some(Reason::NotFoundAs { .. }) => of(Reason::Ambiguous),
        Some(Reason::Ambiguous(_)) => of(Reason::Denied),
        Some(Reason::Denied(_)) => of(Reason::Access),
        Some(Reason::Access(_)) => of(Reason::LocalPath),
        Some(Reason::LocalPath(_)) => vec![Reason::Input(InputRefusal::new(
            "limit",
            "must be a number",
        ))],
        Some(Reason::Input(_)) => vec![Reason::Text(TextRefusal::Empty { what: "the name" })],
        Some(Reason::Text(_)) => vec![Reason::Id(wh_domain::NotAnId)],
        Some(Reason::Id(_)) => of(Reason::Request),
        Some(Reason::Request(_)) => of(Reason::Board),
        Some(Reason::Board(_)) => of(Reason::BoardChange),
        Some(Reason::BoardChange(_)) => of(Reason::Setting),
        Some(Reason::Setting(_)) => of(Reason::Settings),
        Some(Reason::Settings(_)) => of(Reason::Session),
        Some(Reason::Session(_)) => of(Reason::Lead),
        Some(Reason::Lead(_)) => of(Reason::Policy),
        Some(Reason::Policy(_)) => vec![Reason::Tier(TierRefusal {
            asked: Tier::None,
            minimum: Tier::Strict,
        })],
        Some(Reason::Tier(_)) => of(Reason::Hosts),
        Some(Reason::Hosts(_)) => launches(),
        Some(Reason::Launch { .. }) => of(Reason::Run),
        Some(Reason::Run(_)) => of(Reason::Image),
        Some(Reason::Image(_)) => of(Reason::Worktree),
        Some(Reason::Worktree(_)) => vec![Reason::WorktreeState(WorktreeRefusal {
            state: WorktreeStateName::Removing,
        })],
        // These are converted, because some of their variants are other reasons.
        Some(Reason::WorktreeState(_)) => nested::worktree(),
        Some(Reason::WorktreeGit(_)) => nested::removal(),
        Some(Reason::Remove(_)) => nested::file(),
        Some(Reason::File(_)) => nested::commit(),
        Some(Reason::Commit(_)) => vec![Reason::CommitId(wh_git::NotACommitId)],
        Some(Reason::CommitId(_)) => of(Reason::Merge),
        Some(Reason::Merge(_)) => nested::merge(),
        Some(Reason::MergeGit(_)) => of(Reason::Repo),
        Some(Reason::Repo(_)) => of(Reason::Git),
        Some(Reason::Git(_)) => of(Reason::Task),
        Some(Reason::Task(_)) => of(Reason::Loop),
        Some(Reason::Loop(_)) => of(Reason::Server),
        Some(Reason::Server(_)) => of(Reason::Store),
        Some(Reason::Store(_)) => return None,
    })
}

fn of<T: Samples>(reason: impl Fn(T) -> Reason) -> Vec<Reason> {
    all().into_iter().map(reason).collect()
}

fn launches() -> Vec<Reason> {
    let moments = [LaunchMoment::Request, LaunchMoment::Start];
    let launches = moments.into_iter().flat_map(|moment| {
        let refusals = all::<LaunchRefusal>().into_iter();
        refusals.map(move |refusal| Reason::Launch { refusal, moment })
    });
    launches.collect()
}
