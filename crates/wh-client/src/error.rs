//! What can go wrong between a client and its server.

use std::error::Error;

use wh_api::ErrorView;

/// Why a call gave no answer, or not the one hoped for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing answers there.
    #[error("no server answers at {target}")]
    NotRunning {
        /// The socket or address that was tried.
        target: String,
        /// What to do about it.
        advice: String,
    },
    /// The server answered no.
    #[error("{}", .error.message)]
    Refused {
        /// What it said.
        error: ErrorView,
        /// The HTTP status of the answer.
        status: u16,
    },
    /// What was asked cannot even be sent.
    #[error("{message}")]
    Unusable {
        message: String,
        /// What to do about it.
        advice: String,
    },
    /// The connection broke, or the answer could not be understood.
    #[error("{doing}")]
    Transport {
        /// What was being done.
        doing: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ClientError {
    /// Wraps the failure of something we were doing.
    pub(crate) fn transport(
        doing: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Transport {
            doing: doing.into(),
            source: source.into(),
        }
    }

    /// Tells whether trying the same again later may help.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::NotRunning { .. } | Self::Transport { .. } => true,
            Self::Refused { status, .. } => *status == 503,
            Self::Unusable { .. } => false,
        }
    }
}
