//! Sharing boards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{BoardShareChange, InputRefusal, Share, ShareLevel, ShareWith};

use crate::common::reference;

/// What stands for every user.
const EVERYONE: &str = "everyone";

/// Whom to share a board with, and how much.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardShareRequest {
    /// The board's id, or its last 8 digits.
    pub board: String,
    /// everyone, or a user's name or id.
    pub with: String,
    /// read (the board, its sessions and their transcripts), prompt (the same, and send prompts to the sessions) or none (no
    /// longer).
    pub level: String,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<BoardShareRequest> for BoardShareChange {
    type Error = InputRefusal;

    fn try_from(request: BoardShareRequest) -> Result<Self, InputRefusal> {
        let with = match request.with.trim() {
            EVERYONE => None,
            user => Some(reference("with", user)?),
        };
        let level =
            match request.level.as_str() {
                "none" => None,
                text => Some(ShareLevel::parse(text).ok_or_else(|| {
                    InputRefusal::new("level", "must be among read, prompt, none")
                })?),
            };
        Ok(Self {
            board: reference("board", &request.board)?,
            with,
            level,
        })
    }
}

/// A grant on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShareView {
    /// everyone, or a user's name
    pub with: String,
    /// read or prompt
    pub level: String,
}

impl From<&Share> for ShareView {
    fn from(share: &Share) -> Self {
        let with = match &share.with {
            ShareWith::Everyone => EVERYONE.to_owned(),
            ShareWith::User { name, .. } => name.to_string(),
        };
        let level = share.level.as_str().to_owned();
        Self { with, level }
    }
}
