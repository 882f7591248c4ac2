//! Approving the configuration of coding agents that a repository contains, and revoking approvals.

use std::path::{Path, PathBuf};

use wh_domain::{
    AgentName, CONFIGS_TRUSTED_MAX, ConfigFileReport, ConfigReport, ConfigState, Facts, Operation,
    Owner, PageLimit, PageRequest, ProjectConfig, Reach, Reference, Repo, RepoPaths, RepoState,
    RepoTrust, TrustReport, TrustedConfig,
};
use wh_git::{CommitId, ConfigError, ConfigTree, RepoHandle, config_read};

use crate::{App, AppError, OpContext, RepoReason, Result, context::facts};

/// Maximum number of bytes shown per file.
const FILE_BYTES_MAX: usize = 16 << 10;
/// Maximum number of bytes shown for all files together.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// Maximum number of digests in an audit entry.
const DIGESTS_AUDITED_MAX: usize = 3;

/// Where configuration is read.
enum Source {
    Directory(PathBuf),
    Commit(RepoHandle, CommitId),
}

impl App {
    /// Shows the project configuration of a repository, approves what the caller names by its digest, and revokes approvals.
    pub async fn repo_trust(&self, cx: &OpContext, request: RepoTrust) -> Result<TrustReport> {
        let operation = Operation::RepoTrust;
        let audited = audited(&request);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            let repo = self.repo_lookup(reach, &request.repo).await?;
            let (source, described) = self.config_source(reach, &repo, request.worktree).await?;
            let mut trusted = self.store.repo_trusted(repo.id).await?;
            let mut configs = Vec::new();
            let mut left = TEXT_BYTES_MAX;
            for (config, agents) in self.agents.project_configs() {
                let read = source.read(&config).await;
                configs.extend(report(config, agents, read, &mut left));
            }
            let mut approvals = Vec::new();
            for digest in &request.approve {
                let meant = configs.iter().filter(|it| it.digest == Some(*digest));
                let before = approvals.len();
                approvals.extend(meant.map(|it| TrustedConfig {
                    repo: repo.id,
                    name: it.config.name.clone(),
                    digest: *digest,
                    by: cx.principal.user,
                    at: cx.now,
                }));
                if approvals.len() == before {
                    let digest = digest.to_string();
                    return Err(RepoReason::ConfigNotFound { described, digest }.into());
                }
            }
            for digest in &request.revoke {
                if !trusted.iter().any(|(_, approved)| approved == digest) {
                    let digest = digest.to_string();
                    return Err(RepoReason::ApprovalNotFound { digest }.into());
                }
            }
            trusted.retain(|(_, digest)| !request.revoke.contains(digest));
            if trusted.len() + approvals.len() > CONFIGS_TRUSTED_MAX {
                let max = CONFIGS_TRUSTED_MAX;
                return Err(RepoReason::TooManyApprovals { max }.into());
            }
            let commit = cx.commit(operation, repo.id.into(), audited, Vec::new());
            let _applied = self
                .store
                .repo_trust(repo.id, &approvals, &request.revoke, commit)
                .await?;
            trusted.extend(approvals.into_iter().map(|it| (it.name, it.digest)));
            for config in &mut configs {
                let name = &config.config.name;
                config.is_approved = config
                    .digest
                    .is_some_and(|digest| trusted.remove(&(name.clone(), digest)));
            }
            Ok(TrustReport {
                repo,
                source: described,
                configs,
                other_approvals: trusted.into_iter().collect(),
            })
        })
        .await
    }

    /// Returns where to read configuration, and how to say so.
    async fn config_source(
        &self,
        reach: Reach,
        repo: &Repo,
        worktree: Option<Reference>,
    ) -> Result<(Source, String)> {
        let other_repo = || AppError::from(RepoReason::OtherRepo);
        let Some(reference) = worktree else {
            let handle = self.repo_handle(repo)?;
            let branch = repo.default_branch.clone();
            let none = || AppError::from(RepoReason::NoCommit);
            let branch = branch.ok_or_else(none)?;
            let commit = handle.branch_tip(&branch).await?.ok_or_else(none)?;
            let described = format!("{branch} ({commit})");
            return Ok((Source::Commit(handle, commit), described));
        };
        if let Ok(session) = self.session_lookup(reach.own(), &reference).await
            && let Some(path) = &session.path
        {
            let path = path.canonicalize().unwrap_or_else(|_| path.clone());
            let top = path.ancestors().find_map(|top| RepoHandle::find(top).ok());
            let same = |paths: &RepoPaths| is_same(repo, paths);
            if !top.is_some_and(|found| same(found.paths())) {
                return Err(other_repo());
            }
            let described = path.display().to_string();
            return Ok((Source::Directory(path), described));
        }
        let worktree = self.worktree_lookup(reach, &reference).await?;
        if worktree.repo != repo.id {
            return Err(other_repo());
        }
        let described = worktree.path.display().to_string();
        Ok((Source::Directory(worktree.path), described))
    }

    /// Returns the repository of an owner that has these paths, if the server knows it.
    pub(crate) async fn repo_of(&self, owner: Owner, paths: &RepoPaths) -> Result<Option<Repo>> {
        let mut page = PageRequest::first(PageLimit::MAX);
        loop {
            let repos = self.store.repo_list(owner.reach(), page).await?;
            let found = repos.items.into_iter().find(|repo| is_same(repo, paths));
            match repos.next {
                Some(after) if found.is_none() => page.after = Some(after),
                _ => return Ok(found),
            }
        }
    }
}

/// Describes a request for its audit entry.
fn audited(request: &RepoTrust) -> Facts {
    let mut audited = facts([("repo", request.repo.as_str())]);
    for (name, count_name, digests) in [
        ("approved", "approvals", &request.approve),
        ("revoked", "revocations", &request.revoke),
    ] {
        let named: Vec<_> = digests
            .iter()
            .take(DIGESTS_AUDITED_MAX)
            .map(ToString::to_string)
            .collect();
        audited.insert(name.to_owned(), named.join(" "));
        if digests.len() > named.len() {
            audited.insert(count_name.to_owned(), digests.len().to_string());
        }
    }
    audited
}

fn is_same(repo: &Repo, paths: &RepoPaths) -> bool {
    matches!(&repo.state, RepoState::Ready(known) if known.common_dir == paths.common_dir)
}

impl Source {
    async fn read(&self, config: &ProjectConfig) -> Result<Option<ConfigTree>, ConfigError> {
        let tree = match self {
            Self::Directory(path) => config_read(path, config)?,
            Self::Commit(repo, commit) => repo.config_at(commit, config).await?,
        };
        tree.as_ref()
            .map_or(Ok(()), |tree| tree.check_links(config))?;
        Ok(tree)
    }
}

fn report(
    config: ProjectConfig,
    agents: Vec<AgentName>,
    read: Result<Option<ConfigTree>, ConfigError>,
    left: &mut usize,
) -> Option<ConfigReport> {
    let mut report = ConfigReport {
        config,
        agents,
        digest: None,
        problem: None,
        is_approved: false,
        files: Vec::new(),
    };
    match read {
        Err(error) => report.problem = Some(error.to_string()),
        Ok(None) => return None,
        Ok(Some(tree)) => {
            let ConfigState::Present(digest) = tree.state(&report.config) else {
                return None;
            };
            report.digest = Some(digest);
            let files = tree.counted(&report.config);
            let shown = files.map(|(path, file)| {
                let shown = file.bytes.len().min(FILE_BYTES_MAX).min(*left);
                *left -= shown;
                ConfigFileReport {
                    path: path_of(&report.config, path),
                    is_executable: file.executable,
                    bytes: file.bytes.len() as u64,
                    text: String::from_utf8_lossy(&file.bytes[..shown]).into_owned(),
                    is_truncated: shown < file.bytes.len(),
                }
            });
            report.files = shown.collect();
        }
    }
    Some(report)
}

fn path_of(config: &ProjectConfig, below: &Path) -> String {
    match below.as_os_str().is_empty() {
        true => config.name.clone(),
        false => format!("{}/{}", config.name, below.display()),
    }
}
