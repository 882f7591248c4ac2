//! Which git there is.

use crate::{GitError, command::Git};

/// Returns the version of the git program, such as `2.47.1`.
pub async fn version() -> Result<String, GitError> {
    let said = Git::new().arg("version").text().await?;
    let version = said.strip_prefix("git version ");
    Ok(version.unwrap_or(&said).to_owned())
}
