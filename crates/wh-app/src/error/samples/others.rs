//! Samples of the reasons about callers, boards, tasks and the server.

use wh_domain::{
    DependentKind, Dependents, Dialect, KeyScope, LoopLimit, LoopOutcome, LoopRefusal, McpDialect,
    SpentLimit, UserName,
};
use wh_webhook::AddressRefusal;

use super::{
    super::{
        AccessReason, BoardReason, RequestReason, Resource, ServerReason, TaskReason, TemplateOf,
    },
    Samples,
};
use crate::{credential::vault::VaultError, template::TemplateRefusal};

fn text(text: &str) -> String {
    text.to_owned()
}

impl Samples for AccessReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let scope = KeyScope::Session;
        let name = || UserName::parse("mia").expect("a valid user name");
        let dialect = Dialect::Agor;
        Some(match last {
            None => Self::PathShape { bytes_max: 100 },
            Some(Self::PathShape { .. }) => Self::AllowedPathShape { bytes_max: 100 },
            Some(Self::AllowedPathShape { .. }) => Self::NotADirectory {
                path: "/tmp/x".into(),
            },
            Some(Self::NotADirectory { .. }) => Self::AllowedPathAbsent {
                path: "/tmp/x".into(),
            },
            Some(Self::AllowedPathAbsent { .. }) => Self::Alternates,
            Some(Self::Alternates) => Self::SessionDirectoryGone,
            Some(Self::SessionDirectoryGone) => Self::LocalSocket,
            Some(Self::LocalSocket) => Self::LoginLinkExpired,
            Some(Self::LoginLinkExpired) => Self::LoginLinkIncomplete,
            Some(Self::LoginLinkIncomplete) => Self::SignInFailed,
            Some(Self::SignInFailed) => Self::NotABrowser,
            Some(Self::NotABrowser) => Self::KeySession,
            Some(Self::KeySession) => Self::KeyScopeInternal { scope },
            Some(Self::KeyScopeInternal { .. }) => Self::KeyWithoutDialect { scope },
            Some(Self::KeyWithoutDialect { .. }) => Self::KeyScopeUnknown { dialect, scope },
            Some(Self::KeyScopeUnknown { .. }) => Self::KeySessionMismatch,
            Some(Self::KeySessionMismatch) => Self::KeyExpired,
            Some(Self::KeyExpired) => Self::KeyLimit {
                what: "keys",
                max: 100,
            },
            Some(Self::KeyLimit { .. }) => Self::UserNameDeleted { name: name() },
            Some(Self::UserNameDeleted { .. }) => Self::UserDisabled { name: name() },
            Some(Self::UserDisabled { .. }) => Self::UserIsCaller,
            Some(Self::UserIsCaller) => Self::UserStopping,
            Some(Self::UserStopping) => return None,
        })
    }
}

impl Samples for BoardReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let refusal = TemplateRefusal::NotAllowed { what: "a loop" };
        Some(match last {
            None => Self::ZoneWithoutBoard,
            Some(Self::ZoneWithoutBoard) => Self::Template {
                of: TemplateOf::Loop,
                refusal,
            },
            Some(Self::Template {
                of: TemplateOf::Loop,
                ..
            }) => Self::Template {
                of: TemplateOf::Zone,
                refusal,
            },
            Some(Self::Template {
                of: TemplateOf::Zone,
                ..
            }) => Self::InUse {
                resource: Resource::Board,
                dependents: vec![Dependents {
                    kind: DependentKind::Sessions,
                    count: 1,
                    first: vec![text("01234567")],
                }],
            },
            Some(Self::InUse { .. }) => return None,
        })
    }
}

impl Samples for TaskReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let (task, what) = (text("7"), text("tasks"));
        Some(match last {
            None => Self::NoList,
            Some(Self::NoList) => Self::NotInList {
                field: Self::DEPENDS_ON,
                task,
            },
            Some(Self::NotInList { field, .. }) if *field == Self::DEPENDS_ON => Self::NotInList {
                field: Self::CURSOR,
                task,
            },
            Some(Self::NotInList { .. }) => Self::NotInCall { task },
            Some(Self::NotInCall { .. }) => Self::NothingToChange,
            Some(Self::NothingToChange) => Self::OpenTasks {
                open: 1,
                named: vec![text("#7 [pending] write it")],
            },
            Some(Self::OpenTasks { .. }) => Self::CountEmpty { what },
            Some(Self::CountEmpty { .. }) => Self::CountTooLarge { what, max: 50 },
            Some(Self::CountTooLarge { .. }) => Self::DialectWithoutLoop {
                dialect: McpDialect::Of(Dialect::Agor),
            },
            Some(Self::DialectWithoutLoop { .. }) => Self::HookFailed {
                hook: "before",
                failure: text("exit code 1"),
            },
            Some(Self::HookFailed { .. }) => return None,
        })
    }
}

impl Samples for LoopRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        let spent = |limit| SpentLimit {
            limit,
            max: 2,
            used: 3,
        };
        Some(match last {
            None => Self::ByAgent,
            Some(Self::ByAgent) => Self::AboveServer,
            Some(Self::AboveServer) => Self::Ended {
                outcome: LoopOutcome::Stopped,
            },
            Some(Self::Ended { .. }) => Self::AtWork { state: "running" },
            Some(Self::AtWork { .. }) => Self::NoRoom {
                spent: LoopLimit::ALL.map(spent).into(),
            },
            Some(Self::NoRoom { .. }) => Self::StarterSpent { part: "turns" },
            Some(Self::StarterSpent { .. }) => return None,
        })
    }
}

impl Samples for ServerReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Defect,
            Some(Self::Defect) => Self::TierSetting {
                problem: text("there is no such tier"),
            },
            Some(Self::TierSetting { .. }) => Self::BackupPath,
            Some(Self::BackupPath) => Self::BackupExists {
                path: "/tmp/x".into(),
            },
            Some(Self::BackupExists { .. }) => Self::BackupDirectory,
            Some(Self::BackupDirectory) => Self::CredentialForOthers,
            Some(Self::CredentialForOthers) => Self::CredentialLimit { max: 50 },
            Some(Self::CredentialLimit { .. }) => Self::Vault(VaultError::Sealed),
            Some(Self::Vault(_)) => Self::WebhookUrl(AddressRefusal::Scheme),
            Some(Self::WebhookUrl(_)) => Self::WebhookLimit { max: 50 },
            Some(Self::WebhookLimit { .. }) => return None,
        })
    }
}

impl Samples for RequestReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::UnknownTool,
            Some(Self::UnknownTool) => Self::Arguments {
                problem: text("limit: invalid type"),
            },
            Some(Self::Arguments { .. }) => Self::IdempotencyKey,
            Some(Self::IdempotencyKey) => Self::PermissionsParameter,
            Some(Self::PermissionsParameter) => Self::TimedOut { seconds: 60 },
            Some(Self::TimedOut { .. }) => return None,
        })
    }
}
