//! `wheelhouse repo`.

mod follow;
mod here;
mod trust;

use std::path::Path;

use clap::Subcommand;
use wh_api::{RepoAddRequest, RepoDeleteRequest, RepoListRequest, RepoListView, RepoView};
use wh_client::Client;

pub(super) use self::here::around_here;
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
  wheelhouse repo check log
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
        /// The tools of agents in it: wheelhouse, agor, clawed-abode or iteratr
        #[arg(long, value_name = "NAME")]
        mcp_dialect: Option<String>,
        /// Do not wait until it is cloned
        #[arg(long)]
        no_wait: bool,
    },
    /// List repositories, newest first
    List(PageArgs),
    /// Check that a repository can be read, and with which credential
    Check {
        /// The repository's id, its last 8 digits, or its name
        #[arg(value_name = "REPO")]
        repo: String,
    },
    /// Delete a repository from the server; local directories are not changed
    #[command(visible_alias = "delete")]
    Rm {
        /// The repository's id, its last 8 digits, or its name
        #[arg(value_name = "REPO")]
        repo: String,
        /// Delete it even if other resources depend on it: stops loops, archives sessions, and removes worktrees after saving them
        #[arg(long)]
        force: bool,
    },
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
            mcp_dialect,
            no_wait,
        } => {
            let request = RepoAddRequest {
                source: absolute_source(&source, cx.url().is_some())?,
                name,
                tier,
                image,
                mcp_dialect,
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
                    ("credential", repo.credential.clone()),
                    ("state", Some(repo.state.clone())),
                    ("tier", repo.tier.clone()),
                    ("image", repo.image.clone()),
                    ("mcp dialect", repo.mcp_dialect.clone()),
                ])
            })
        }
        RepoCommand::List(PageArgs { limit, cursor }) => {
            let request = RepoListRequest { limit, cursor };
            let list = cx.client()?.repo_list(&request).await?;
            cx.ui.answer(&list, |ui| table(ui, &list))
        }
        RepoCommand::Check { repo } => check(cx, &repo).await,
        RepoCommand::Rm { repo, force } => {
            let request = RepoDeleteRequest {
                repo,
                force: force.then_some(true),
                idempotency_key: None,
            };
            let deleted = cx.client()?.repo_delete(&request).await?;
            super::deleted::show(cx, "repository", &deleted)
        }
        RepoCommand::Trust(args) => trust::run(cx, args).await,
    }
}

/// A repository that the server knows.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) repo: RepoView,
    /// It was added just now.
    pub(super) is_new: bool,
}

/// Shows whether a repository can be read; one that cannot be is a failure.
async fn check(cx: &Context, repo: &str) -> CliResult {
    let check = cx.client()?.repo_check(repo).await?;
    let answer = |is: bool| Some(if is { "yes" } else { "no" }.to_owned());
    cx.ui.answer(&check, |ui| {
        ui.fields(&[
            ("id", Some(check.repo_id.clone())),
            ("name", Some(check.name.clone())),
            ("source", Some(check.source.clone())),
            ("reachable", answer(check.reachable)),
            ("authenticated", answer(check.authenticated)),
            ("credential", check.credential.clone()),
            ("branch", check.default_branch.clone()),
        ])
    })?;
    match &check.problem {
        None => Ok(()),
        Some(problem) => Err(CliError::failed(problem.clone()).hint(
            "store a token for the host with `wheelhouse credential set HOST`, or check the address",
        )),
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
    let source = match is_remote || !source.starts_with('/') {
        true => source,
        false => here::around(Path::new(&source)).unwrap_or(source),
    };
    if let Some(known) = find_repo(client, |repo| repo.name == text).await? {
        return Ok(known.id);
    }
    let known = known_or_added(cx, client, source).await?;
    if known.is_new {
        let (name, source) = (&known.repo.name, &known.repo.source);
        cx.ui
            .note(&format!("added the repository {name}, {source}"))?;
    }
    Ok(known.repo.id)
}

/// Returns the repository with this source, which is added unless the server knows it.
pub(super) async fn known_or_added(
    cx: &Context,
    client: &Client,
    source: String,
) -> CliResult<Known> {
    if let Some(repo) = find_repo(client, |repo| repo.source == source).await? {
        return Ok(Known {
            repo,
            is_new: false,
        });
    }
    let request = RepoAddRequest {
        source,
        ..RepoAddRequest::default()
    };
    let repo = follow::add_and_wait(client, &cx.ui, &request).await?;
    Ok(Known { repo, is_new: true })
}

/// Tells what may be a path or an address from an id or a plain name.
fn is_source(text: &str) -> bool {
    text.contains(['/', ':']) || matches!(text, "." | ".." | "~")
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
    ui.more(list.repos.len(), list.total, list.next_cursor.as_ref())
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
}
