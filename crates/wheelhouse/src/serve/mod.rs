//! Placeholder: the lead's module takes this place.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::{Result, bail};
use wh_api::ServerFile;

#[derive(Clone, Debug)]
pub struct ServeOptions {
    pub listen: SocketAddr,
    pub data_dir: PathBuf,
    pub database: Option<PathBuf>,
    pub allow_remote: bool,
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
}

pub struct Server {
    pub about: ServerFile,
}

impl Server {
    pub async fn start(options: &ServeOptions) -> Result<Self> {
        bail!("this build cannot serve yet: {options:?}")
    }

    pub async fn stop(self) {}
}

pub async fn run(options: ServeOptions) -> Result<()> {
    Server::start(&options).await?.stop().await;
    Ok(())
}
