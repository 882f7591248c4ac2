//! Refusals and failures of what the server does for itself: backups, credentials, webhooks.

use std::path::PathBuf;

use wh_domain::{Advice, ArgumentValue, ErrorCode, Operation};
use wh_webhook::AddressRefusal;

use super::Explain;
use crate::credential::vault::VaultError;

/// Why something about the server, a stored credential or a webhook was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum ServerReason {
    /// A defect; the cause is in the log.
    #[error("the server failed to do this")]
    Defect,
    #[error("the setting containment.minimum cannot be read: {problem}")]
    TierSetting { problem: String },
    #[error("the backup file must be named by an absolute path")]
    BackupPath,
    #[error("{path} already exists")]
    BackupExists { path: PathBuf },
    #[error("the directory of the backup file does not exist")]
    BackupDirectory,
    #[error("only administrators can store credentials that others use")]
    CredentialForOthers,
    #[error("a user has at most {max} credentials")]
    CredentialLimit { max: usize },
    #[error("the credential could not be encrypted: {0}")]
    Vault(#[source] VaultError),
    #[error("url: {0}")]
    WebhookUrl(#[source] AddressRefusal),
    #[error("a user has at most {max} webhooks")]
    WebhookLimit { max: usize },
}

impl Explain for ServerReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Defect => ErrorCode::Internal,
            Self::TierSetting { .. }
            | Self::BackupPath
            | Self::BackupExists { .. }
            | Self::BackupDirectory
            | Self::WebhookUrl(_) => ErrorCode::InvalidInput,
            Self::CredentialForOthers => ErrorCode::Forbidden,
            Self::CredentialLimit { .. } | Self::WebhookLimit { .. } => ErrorCode::LimitExceeded,
            Self::Vault(_) => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::BackupExists { .. } => vec![Advice::note(
                "choose another name; backups never overwrite a file",
            )],
            Self::CredentialForOthers => vec![Advice::set(
                "usable_by",
                ArgumentValue::Text("own"),
                "store it for your own repositories",
            )],
            Self::CredentialLimit { .. } => vec![Advice::call_with(
                Operation::CredentialDelete,
                [("credential", ArgumentValue::ID)],
                "delete a credential that is no longer needed",
            )],
            Self::Vault(_) => vec![Advice::note(
                "check the file credentials.key in the data directory",
            )],
            Self::WebhookLimit { .. } => vec![Advice::call_with(
                Operation::WebhookDelete,
                [("webhook", ArgumentValue::ID)],
                "delete a webhook that is no longer needed",
            )],
            Self::Defect
            | Self::TierSetting { .. }
            | Self::BackupPath
            | Self::BackupDirectory
            | Self::WebhookUrl(_) => Vec::new(),
        }
    }
}
