//! `server.json`: tells programs where the server is, while it answers.

use std::{
    fs,
    io::{ErrorKind, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use wh_api::ServerFile;

use super::DataDir;

/// Reads `server.json`; absent is not an error.
pub(crate) fn server_file(data_dir: &Path) -> Result<Option<ServerFile>, String> {
    let path = DataDir::new(data_dir).server_file();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    let file = serde_json::from_str(&text);
    file.map(Some)
        .map_err(|error| format!("{} is not understood: {error}", path.display()))
}

/// Describes a server that listens on `bound`.
pub(super) fn describe(bound: SocketAddr) -> ServerFile {
    let url = format!("http://{bound}");
    ServerFile {
        mcp_url: format!("{url}/mcp"),
        url,
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Keeps `server.json` as long as the server answers.
pub(super) struct ServerFileGuard {
    path: PathBuf,
    contents: String,
}

impl ServerFileGuard {
    /// Writes the file whole or not at all: a reader never sees half of it.
    pub(super) fn write(data_dir: &DataDir, about: &ServerFile) -> Result<Self> {
        let path = data_dir.server_file();
        let contents = serde_json::to_string_pretty(about)?;
        let temporary = path.with_extension("json.new");
        let write = || -> std::io::Result<()> {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(contents.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path, contents })
    }
}

impl Drop for ServerFileGuard {
    fn drop(&mut self) {
        // Another server may have taken over the directory meanwhile; its file is not ours to remove.
        if fs::read_to_string(&self.path).is_ok_and(|now| now == self.contents) {
            let _gone_already = fs::remove_file(&self.path);
        }
    }
}
