//! Repositories.

mod check;
mod clone;
mod delete;
mod place;
mod remote;
mod slots;
mod trust;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, Name, NewEvent, NewRepo, Operation, Page, PageLimit, PageRequest, Reach,
    Reference, Repo, RepoId, RepoSource, RepoState,
};
use wh_git::GitError;
use wh_store::Applied;

pub(crate) use self::clone::{Clones, Transfers};
pub use self::delete::RepoDeleted;
use self::place::repo_event;
use crate::{App, OpContext, RepoReason, Resource, Result, context::facts, lookup::only_one};

impl App {
    /// Adds a repository. A local one is looked at now; a remote one is cloned afterwards, and the feed tells how far
    /// that is.
    pub async fn repo_add(&self, cx: &OpContext, new: NewRepo) -> Result<Repo> {
        let operation = Operation::RepoAdd;
        let facts = facts([("source", &new.source.as_text())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            if new.image.is_some() && !cx.principal.may_choose_image() {
                return Err(RepoReason::ImageByMember.into());
            }
            let credential = self
                .credential_source(cx.principal.owner(), &new.source)
                .await?;
            let (default_branch, state) = match &new.source {
                RepoSource::Local { path } => {
                    let directory = self.open_directory(cx, path).await?;
                    let access = self.local_access(cx).await?;
                    let found = self.open_repository(&access, &directory).await?;
                    let branch = found.default_branch().await.map_err(|error| match error {
                        GitError::Failed { .. } => GitError::NotARepository { path: path.clone() },
                        other => other,
                    })?;
                    (branch, RepoState::Ready(found.paths().clone()))
                }
                RepoSource::Remote { .. } => {
                    self.check_remote(cx.principal.owner(), &new.source).await?;
                    // Without git it would wait for ever.
                    wh_git::version().await?;
                    (None, RepoState::Pending)
                }
            };
            let name = new.name.or_else(|| new.source.suggested_name());
            let repo = Repo {
                id: RepoId::from_untyped_uuid(self.ids.next()),
                owner: cx.principal.owner(),
                name: name.ok_or(RepoReason::NameRequired)?,
                source: new.source,
                default_branch,
                state,
                credential,
                tier: new.tier,
                image: new.image,
                mcp_dialect: new.mcp_dialect,
                created_at: cx.now,
                is_deleted: false,
            };
            let events = vec![NewEvent {
                actor: Some(cx.principal.user),
                ..repo_event(EventKind::Created, &repo, Facts::new())
            }];
            let commit = cx.commit(operation, repo.id.into(), facts, events);
            match self.store.repo_insert(&repo, commit).await? {
                Applied::Done { .. } => {
                    self.clone_wanted.notify_one();
                    Ok(repo)
                }
                Applied::Replayed { subject } => {
                    self.repo_one(reach, RepoId::from_untyped_uuid(subject.id))
                        .await
                }
            }
        })
        .await
    }

    /// Adds a repository for a session that is to be created in it, by the name that the configured forge has for it, such as
    /// `owner/name`; nothing if that is no such name, or there is no forge.
    pub async fn repo_add_from_forge(
        &self,
        cx: &OpContext,
        full_name: &str,
    ) -> Result<Option<Repo>> {
        let forge = self.repos.forge.as_deref();
        let source = forge.and_then(|forge| RepoSource::on_forge(forge, full_name));
        let Some(source) = source else {
            return Ok(None);
        };
        let bare = full_name.strip_suffix(".git").unwrap_or(full_name);
        let new = NewRepo {
            source,
            name: Some(Name::parse(bare)?),
            tier: None,
            image: None,
            mcp_dialect: None,
        };
        // The caller's key belongs to what the repository is added for.
        let adding = OpContext {
            idempotency: None,
            ..cx.part(Operation::SessionCreate, 0)
        };
        self.repo_add(&adding, new).await.map(Some)
    }

    /// Lists repositories.
    pub async fn repo_list(
        &self,
        cx: &OpContext,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Repo, Uuid>> {
        let operation = Operation::RepoList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.repo_list(reach, page).await?)
        })
        .await
    }

    async fn repo_one(&self, reach: Reach, id: RepoId) -> Result<Repo> {
        self.repo_lookup(reach, &Reference::from(id)).await
    }

    /// Finds a repository by its id, its name, or the end of its address, such as `owner/name`.
    pub(crate) async fn repo_lookup(&self, reach: Reach, reference: &Reference) -> Result<Repo> {
        let mut found = match reference.id() {
            Ok(id) => self.store.repo_find(reach, &id).await?,
            Err(_) => Vec::new(),
        };
        if found.is_empty() {
            found = self.repos_named(reach, reference.as_str()).await?;
        }
        found.retain(|repo| !repo.is_deleted);
        only_one(Resource::Repo, found, |repo| {
            format!("{} {}", repo.id, repo.name)
        })
    }

    async fn repos_named(&self, reach: Reach, name: &str) -> Result<Vec<Repo>> {
        let mut page = PageRequest::first(PageLimit::MAX);
        let mut found = Vec::new();
        loop {
            let repos = self.store.repo_list(reach, page).await?;
            let is_meant = |repo: &Repo| repo.name.as_str() == name || repo.source.ends_in(name);
            found.extend(repos.items.into_iter().filter(is_meant));
            match repos.next {
                Some(after) => page.after = Some(after),
                None => return Ok(found),
            }
        }
    }
}
