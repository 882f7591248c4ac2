//! Which git there is.

use std::path::Path;

use crate::{GitError, command::look};

/// Returns the version of the git program, such as `2.47.1`.
pub async fn version() -> Result<String, GitError> {
    let said = look(Path::new("."), &["version"]).await?;
    let version = said.trim().strip_prefix("git version ");
    Ok(version.unwrap_or(said.trim()).to_owned())
}
