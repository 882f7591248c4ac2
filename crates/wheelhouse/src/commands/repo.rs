//! `wheelhouse repo`.

mod follow;
mod trust;

use std::path::Path;

use clap::Subcommand;
use wh_api::{RepoAddRequest, RepoListRequest, RepoListView, RepoView};
use wh_client::Client;

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::follow::find_repo;
use crate::ui::{Table, Ui};

/// Tell the server which git repositories there are
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse repo add .
  wheelhouse repo add https://github.com/rust-lang/log --name log
  wheelhouse repo list
  wheelhouse repo trust log --worktree ID")]
pub(crate) enum RepoCommand {
    /// Add a repository
    Add {
        /// A path, an https:// or ssh:// address, or user@host:path
        source: String,
        /// What to call it; the last part of the source unless given
        #[arg(long)]
        name: Option<String>,
        /// Minimum containment tier of sessions in it: guarded, strict or container
        #[arg(long)]
        tier: Option<String>,
        /// Container image for sessions in it, in the tier container (administrators only)
        #[arg(long)]
        image: Option<String>,
        /// Do not wait until it is cloned
        #[arg(long)]
        no_wait: bool,
    },
    /// List repositories, newest first
    List(PageArgs),
    /// Show the configuration of coding agents in a repository, and approve it
    Trust(trust::TrustArgs),
}

pub(crate) async fn run(cx: &Context, command: RepoCommand) -> CliResult {
    match command {
        RepoCommand::Add {
            source,
            name,
            tier,
            image,
            no_wait,
        } => {
            let request = RepoAddRequest {
                source: absolute_source(&source, cx.url().is_some())?,
                name,
                tier,
                image,
                idempotency_key: None,
            };
            let client = cx.client()?;
            let repo = match no_wait {
                true => client.repo_add(&request).await?,
                false => follow::add_and_wait(&client, &cx.ui, &request).await?,
            };
            cx.ui.answer(&repo, |ui| {
                ui.fields(&[
                    ("id", Some(repo.id.clone())),
                    ("name", Some(repo.name.clone())),
                    ("source", Some(repo.source.clone())),
                    ("branch", repo.default_branch.clone()),
                    ("state", Some(repo.state.clone())),
                    ("tier", repo.tier.clone()),
                    ("image", repo.image.clone()),
                ])
            })
        }
        RepoCommand::List(PageArgs { limit, cursor }) => {
            let request = RepoListRequest { limit, cursor };
            let list = cx.client()?.repo_list(&request).await?;
            cx.ui.answer(&list, |ui| table(ui, &list))
        }
        RepoCommand::Trust(args) => trust::run(cx, args).await,
    }
}

/// Returns what names a repository to the server: an id or a name as it is; a path or an address is added first, unless it
/// was before.
pub(super) async fn named(cx: &Context, client: &Client, text: String) -> CliResult<String> {
    if !is_source(&text) {
        return Ok(text);
    }
    let is_remote = cx.url().is_some();
    let source = absolute_source(&text, is_remote)?;
    let source = if is_remote { source } else { top_level(source) };
    let is_meant = |repo: &RepoView| repo.source == source || repo.name == text;
    if let Some(known) = find_repo(client, is_meant).await? {
        return Ok(known.id);
    }
    let request = RepoAddRequest {
        source,
        ..RepoAddRequest::default()
    };
    let added = follow::add_and_wait(client, &cx.ui, &request).await?;
    let (name, source) = (&added.name, &added.source);
    cx.ui
        .note(&format!("added the repository {name}, {source}"))?;
    Ok(added.id)
}

/// Tells what may be a path or an address from an id or a plain name.
fn is_source(text: &str) -> bool {
    text.contains(['/', ':']) || matches!(text, "." | ".." | "~")
}

/// Returns the repository's own directory for one within it.
fn top_level(source: String) -> String {
    let path = Path::new(&source);
    let top = path.ancestors().find(|it| it.join(".git").exists());
    match top.filter(|_| path.is_absolute()) {
        Some(top) => top.to_string_lossy().into_owned(),
        None => source,
    }
}

fn table(ui: &Ui, list: &RepoListView) -> CliResult {
    let mut table = Table::new(&["ID", "NAME", "STATE", "BRANCH", "SOURCE"]);
    for repo in &list.repos {
        let branch = repo.default_branch.as_deref().unwrap_or("-");
        table.row([
            &repo.short_id,
            &repo.name,
            &repo.state,
            branch,
            &repo.source,
        ]);
    }
    ui.table(
        &table,
        "no repositories yet; add one with `wheelhouse repo add PATH`",
    )?;
    ui.more(list.next_cursor.as_ref())
}

/// Makes a relative path absolute, from where the command runs. A remote server has other paths, so there it is refused.
fn absolute_source(source: &str, is_remote: bool) -> CliResult<String> {
    let is_address = source.contains("://") || is_scp_like(source);
    if is_address || source.starts_with('/') || source.is_empty() {
        return Ok(source.to_owned());
    }
    if is_remote {
        return Err(CliError::usage(
            "a path must be absolute: it is one on the server's machine",
        ));
    }
    let path = match source.strip_prefix("~/") {
        // A shell expands this itself, unless it was quoted.
        Some(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        None => source.into(),
    };
    let path = std::path::absolute(&path)
        .map_err(|error| CliError::usage(format!("{source:?} is not a path: {error}")))?;
    // What exists is named as the file system does, without `..`.
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    let text = path.into_os_string().into_string();
    text.map_err(|_| CliError::usage("the path is not UTF-8 text"))
}

/// Tells `user@host:path` from a path, as git does: a colon before the first slash.
fn is_scp_like(source: &str) -> bool {
    let before_slash = source.split('/').next().unwrap_or_default();
    before_slash.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_relative_paths_are_changed() {
        for source in ["/srv/x", "https://h/x", "git@h:x/y", "ssh://h/x", ""] {
            assert_eq!(absolute_source(source, false).unwrap(), source);
        }
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(absolute_source(".", false).unwrap(), here);
        assert_eq!(
            absolute_source("src/../absent", false).unwrap(),
            format!("{here}/src/../absent")
        );
        assert!(absolute_source(".", true).is_err());
    }

    #[test]
    fn a_directory_within_a_repository_stands_for_it() {
        let place = tempfile::tempdir().unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let inner = place.path().join("src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(top_level(text(&inner)), text(&inner));
        std::fs::create_dir(place.path().join(".git")).unwrap();
        assert_eq!(top_level(text(&inner)), text(place.path()));
        // An address is not a path, whatever lies where the command runs.
        assert_eq!(top_level("https://h/x".to_owned()), "https://h/x");
    }
}
