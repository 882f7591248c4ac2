//! Files that are sent along with a prompt.

use std::path::{Path, PathBuf};

use wh_api::PromptFileInput;
use wh_domain::{FILES_BYTES_MAX, FILES_INSTEAD, FILES_MAX};

use crate::exit::{CliError, CliResult};

/// Reads the files to send along, as many as a prompt carries.
pub(in crate::commands) fn attached(paths: &[PathBuf]) -> CliResult<Vec<PromptFileInput>> {
    if paths.len() > FILES_MAX {
        let message = format!("{} files are more than {FILES_MAX}", paths.len());
        return Err(CliError::usage(message).hint(format!(
            "send the rest with another `wheelhouse send`, or {FILES_INSTEAD}"
        )));
    }
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> CliResult<PromptFileInput> {
    let unusable = |why: &str, hint: &str| {
        CliError::usage(format!("{}: {why}", path.display())).hint(hint.to_owned())
    };
    let unreadable = |error: std::io::Error| {
        let hint = "check the path, and that you may read the file";
        unusable(&error.to_string(), hint)
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| unusable("has no name that can be sent", "rename it"))?;
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        let hint = format!("name each file with its own --file, or {FILES_INSTEAD}");
        return Err(unusable("is not a file", &hint));
    }
    if about.len() > FILES_BYTES_MAX as u64 {
        let why = format!("is larger than {} MiB", FILES_BYTES_MAX >> 20);
        return Err(unusable(&why, FILES_INSTEAD));
    }
    let data = std::fs::read(path).map_err(unreadable)?;
    Ok(PromptFileInput::new(name, &data))
}
