//! Repositories.

mod place;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, NewEvent, NewRepo, Operation, Page, PageRequest, Reach, Reference, Repo,
    RepoId, RepoSource, RepoState,
};
use wh_git::RepoHandle;
use wh_store::Applied;

use self::place::repo_event;
use crate::{
    App, AppError, OpContext, Result,
    context::facts,
    lookup::{id_of, only_one},
};

impl App {
    /// Adds a repository. A local one is looked at; a remote one is fetched when it is first used.
    pub async fn repo_add(&self, cx: &OpContext, new: NewRepo) -> Result<Repo> {
        let operation = Operation::RepoAdd;
        let facts = facts([("source", &new.source.as_text())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let (default_branch, state) = match &new.source {
                RepoSource::Local { path } => {
                    let found = RepoHandle::find(path)?;
                    let branch = wh_git::inspect(path).await?.default_branch;
                    (branch, RepoState::Ready(found.paths().clone()))
                }
                RepoSource::Remote { .. } => (None, RepoState::Pending),
            };
            let name = new.name.or_else(|| new.source.suggested_name());
            let repo = Repo {
                id: RepoId::from_untyped_uuid(self.ids.next()),
                owner: cx.principal.owner(),
                name: name.ok_or_else(|| AppError::invalid("the repository needs a name"))?,
                source: new.source,
                default_branch,
                state,
                created_at: cx.now,
            };
            let events = vec![NewEvent {
                actor: Some(cx.principal.user),
                ..repo_event(EventKind::Created, &repo, Facts::new())
            }];
            let commit = cx.commit(operation, repo.id.into(), facts, events);
            match self.store.repo_insert(&repo, commit).await? {
                Applied::Done { .. } => Ok(repo),
                Applied::Replayed { subject } => {
                    self.repo_one(reach, RepoId::from_untyped_uuid(subject.id))
                        .await
                }
            }
        })
        .await
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
        let id = id_of(&Reference::from(id))?;
        let found = self.store.repo_find(reach, &id).await?;
        only_one("repo", found, |repo| repo.id.to_string())
    }
}
