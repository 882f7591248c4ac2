//! Files that come with prompts.

use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    FILES_BYTES_MAX, FILES_INSTEAD, FileName, InputRefusal, PromptFile, Reference, check_files,
};

use crate::NumberOrId;
use crate::common::{field, optional_reference};

const NOT_BASE64: &str = "is not base64; send its bytes in the standard alphabet, with padding";

/// A file that comes with a prompt.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptFileInput {
    /// What it is called, without a path.
    pub name: String,
    /// What is in it, in base64.
    pub data: String,
}

impl PromptFileInput {
    /// Takes a file in.
    pub fn new(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            data: STANDARD.encode(data),
        }
    }

    /// Reads all files of a prompt, within what one may carry.
    pub(crate) fn read_all(files: &[Self]) -> Result<Vec<PromptFile>, InputRefusal> {
        let read = |(number, file): (usize, &Self)| {
            let at = format!("files[{number}]");
            // Each byte takes more than one: what is too long need not be decoded to know.
            if file.data.len() / 4 * 3 > FILES_BYTES_MAX + 3 {
                let max = FILES_BYTES_MAX >> 20;
                let problem = format!("is larger than {max} MiB; {FILES_INSTEAD}");
                return Err(InputRefusal::new(at, problem));
            }
            Ok(PromptFile {
                name: field(&at, FileName::parse(&file.name))?,
                data: field(&at, STANDARD.decode(&file.data).map_err(|_| NOT_BASE64))?,
            })
        };
        let files: Vec<PromptFile> = files
            .iter()
            .enumerate()
            .map(read)
            .collect::<Result<_, _>>()?;
        field("files", check_files(&files))?;
        Ok(files)
    }
}

/// Names a file that came with a prompt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnFileRequest {
    /// The turn's id, its last 8 digits, or with `session` its number.
    pub turn: NumberOrId,
    /// The session whose turn it is; the calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Which of its files, from 1.
    pub number: u32,
}

impl TurnFileRequest {
    /// Returns which turn is meant.
    pub fn turn(&self) -> Result<Reference, InputRefusal> {
        self.turn.reference("turn")
    }

    /// Returns which session the number of a turn is of.
    pub fn session(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("session", self.session.as_deref())
    }
}

/// A file that came with a prompt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnFileView {
    pub name: String,
    /// By what is in it, never by its name.
    pub media_type: String,
    pub bytes: u64,
    /// What is in it, in base64.
    pub data: String,
}

impl From<&PromptFile> for TurnFileView {
    fn from(file: &PromptFile) -> Self {
        let about = file.about();
        Self {
            name: about.name,
            media_type: about.media_type,
            bytes: about.bytes,
            data: STANDARD.encode(&file.data),
        }
    }
}
