//! Refusals about who calls, with which credential, and which directories of the server's machine they may use.

use std::path::PathBuf;

use wh_domain::{
    Advice, ArgumentValue, Denied, Dialect, ErrorCode, KeyScope, LocalPathRefusal, Operation,
    UserName,
};

use super::Explain;

/// Why a caller, a key, a user or a directory was refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessReason {
    #[error("path must be absolute and at most {bytes_max} bytes long")]
    PathShape { bytes_max: usize },
    #[error("an allowed path must be absolute and at most {bytes_max} bytes long")]
    AllowedPathShape { bytes_max: usize },
    #[error("{path} is not a directory")]
    NotADirectory { path: PathBuf },
    #[error("{path} is not a directory on the server's machine")]
    AllowedPathAbsent { path: PathBuf },
    #[error("the repository uses objects of another repository (objects/info/alternates)")]
    Alternates,
    #[error("the session's directory no longer exists")]
    SessionDirectoryGone,
    #[error(
        "this process is not allowed to use the local socket: it runs inside a container or under an agent"
    )]
    LocalSocket,
    #[error("the login link was already used or has expired")]
    LoginLinkExpired,
    #[error("the login link is incomplete")]
    LoginLinkIncomplete,
    #[error("signing in failed")]
    SignInFailed,
    #[error("only a browser can sign out")]
    NotABrowser,
    #[error("the session belongs to another user")]
    KeySession,
    #[error("a {} credential can only be created by the server itself", .scope.as_str())]
    KeyScopeInternal { scope: KeyScope },
    #[error("a {} key requires a dialect", .scope.as_str())]
    KeyWithoutDialect { scope: KeyScope },
    #[error("the dialect {} has no {} keys", .dialect.as_str(), .scope.as_str())]
    KeyScopeUnknown { dialect: Dialect, scope: KeyScope },
    #[error("session is required for session_internal keys and not allowed for others")]
    KeySessionMismatch,
    #[error("expires_at is in the past")]
    KeyExpired,
    #[error("{what}: at most {max} are allowed")]
    KeyLimit { what: &'static str, max: u32 },
    #[error("{name} was the name of a deleted user")]
    UserNameDeleted { name: UserName },
    #[error("user {name} is disabled")]
    UserDisabled { name: UserName },
    #[error("you cannot delete yourself")]
    UserIsCaller,
    #[error("the user is disabled, but their sessions or loops are still stopping")]
    UserStopping,
}

impl Explain for AccessReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::PathShape { .. }
            | Self::AllowedPathShape { .. }
            | Self::NotADirectory { .. }
            | Self::AllowedPathAbsent { .. }
            | Self::Alternates
            | Self::LoginLinkIncomplete
            | Self::KeySession
            | Self::KeyScopeInternal { .. }
            | Self::KeyWithoutDialect { .. }
            | Self::KeyScopeUnknown { .. }
            | Self::KeySessionMismatch
            | Self::KeyExpired => ErrorCode::InvalidInput,
            Self::SessionDirectoryGone
            | Self::NotABrowser
            | Self::UserNameDeleted { .. }
            | Self::UserDisabled { .. }
            | Self::UserIsCaller
            | Self::UserStopping => ErrorCode::Conflict,
            Self::LocalSocket => ErrorCode::Forbidden,
            Self::LoginLinkExpired => ErrorCode::Unauthenticated,
            Self::SignInFailed => ErrorCode::Internal,
            Self::KeyLimit { .. } => ErrorCode::LimitExceeded,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::PathShape { .. } | Self::NotADirectory { .. } => {
                note("use the absolute path of a directory on the server's machine")
            }
            Self::AllowedPathShape { .. }
            | Self::SignInFailed
            | Self::KeySessionMismatch
            | Self::KeyExpired => Vec::new(),
            Self::AllowedPathAbsent { .. } => {
                note("allow the absolute path of a directory that exists")
            }
            Self::Alternates => note(
                "copy them with `git repack -a -d` and remove objects/info/alternates, or ask an administrator to add the repository",
            ),
            Self::SessionDirectoryGone => note("restore it, or start another session"),
            Self::LocalSocket => note("use WHEELHOUSE_URL and WHEELHOUSE_KEY"),
            Self::LoginLinkExpired => vec![Advice::command("login", "create a new login link")],
            Self::LoginLinkIncomplete => vec![
                Advice::note("copy the whole link"),
                Advice::command("login", "create a new login link"),
            ],
            Self::NotABrowser => vec![Advice::call_with(
                Operation::KeyRevoke,
                [("key", ArgumentValue::ID)],
                "revoke a key",
            )],
            Self::KeySession => vec![Advice::set(
                "user",
                ArgumentValue::Placeholder("NAME"),
                "name the session's owner",
            )],
            Self::KeyScopeInternal { .. } => note("choose the scope full, read or client"),
            Self::KeyWithoutDialect { .. } => vec![Advice::set(
                "dialect",
                ArgumentValue::Text(Dialect::ClawedAbode.as_str()),
                "create a key for the dialect clawed-abode",
            )],
            Self::KeyScopeUnknown { dialect, .. } => {
                let known: Vec<_> = KeyScope::of(Some(*dialect)).map(KeyScope::as_str).collect();
                vec![Advice::note(format!("its scopes are {}", known.join(", ")))]
            }
            Self::KeyLimit { .. } => vec![
                Advice::call(Operation::KeyList, "list your keys with their last use"),
                Advice::call_with(
                    Operation::KeyRevoke,
                    [("key", ArgumentValue::ID)],
                    "revoke a key that is no longer used",
                ),
            ],
            Self::UserNameDeleted { .. } => {
                note("choose another name: audit entries and transcripts keep this one")
            }
            Self::UserDisabled { .. } => vec![
                Advice::call_with(
                    Operation::UserUpdate,
                    [
                        ("user", ArgumentValue::Placeholder("NAME")),
                        ("disabled", ArgumentValue::Flag(false)),
                    ],
                    "enable the user",
                ),
                Advice::note("only administrators can enable users"),
            ],
            Self::UserIsCaller => note("ask another administrator to delete you"),
            Self::UserStopping => note("delete the user again in a moment"),
        }
    }
}

/// Returns the message for a caller without permission. It names no operation, because every surface has other names for them.
pub(super) fn denied(denied: &Denied) -> String {
    match denied {
        Denied::Scope { kind, .. } => {
            format!(
                "the scope of this {} credential does not include this operation",
                kind.as_str()
            )
        }
        Denied::Standing { .. } => "this operation requires an administrator".to_owned(),
        Denied::NoSession => denied.to_string(),
    }
}

impl Explain for Denied {
    fn code(&self) -> ErrorCode {
        ErrorCode::Forbidden
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::Scope { .. } => vec![
                Advice::note("use a key whose scope includes it"),
                Advice::command("key create", "create such a key"),
            ],
            Self::Standing { .. } => vec![Advice::note("ask an administrator")],
            Self::NoSession => vec![Advice::call_with(
                Operation::SessionGet,
                [("session", ArgumentValue::ID)],
                "read a session by its id",
            )],
        }
    }
}

impl Explain for LocalPathRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::Forbidden
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::ClientKey => vec![Advice::note(
                "use a repository that was already added, or a key with the scope full",
            )],
            Self::NotAllowed => vec![
                Advice::call_with(
                    Operation::UserUpdate,
                    [
                        ("user", ArgumentValue::Placeholder("NAME")),
                        ("allow_paths", ArgumentValue::Placeholders("DIRECTORY")),
                    ],
                    "allow the directory",
                ),
                Advice::note("only administrators can allow directories"),
            ],
            Self::DataDir => vec![Advice::call_with(
                Operation::SessionCreate,
                [("worktree", ArgumentValue::ID)],
                "start a session in a worktree",
            )],
        }
    }
}
