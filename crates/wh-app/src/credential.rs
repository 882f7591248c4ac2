//! Credentials for hosts that repositories are fetched from: stored, listed, deleted, and chosen for a transfer.
//!
//! The rule who may use which is [`CredentialUse::covers`]. A token leaves this module only as the header of one git
//! process.

pub(crate) mod vault;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    ConfiguredCredential, ConfiguredToken, CredentialId, CredentialRefusal, CredentialSource,
    CredentialUse, EventKind, Facts, GitHost, HostCredential, HostLogin, NewEvent,
    NewHostCredential, Operation, Owner, Page, PageLimit, PageRequest, Reach, Reference,
    RepoSource, SealedCredential, UserRole,
};
use wh_git::{HttpHeader, gh_token};
use wh_store::Applied;

use self::vault::{Vault, VaultError};
use crate::{
    App, AppError, OpContext, Resource, Result, ServerReason, context::facts, lookup::only_one,
};

/// The most credentials of one user.
const PER_USER_MAX: usize = 100;

/// A credential that a transfer uses.
pub(crate) struct ChosenCredential {
    pub(crate) source: CredentialSource,
    pub(crate) header: HttpHeader,
}

/// Where a transfer's credential comes from, before it is decrypted or asked for.
enum Candidate<'a> {
    Stored(CredentialSource, Box<SealedCredential>),
    Configured(CredentialSource, &'a ConfiguredCredential),
}

/// Why a credential that was chosen cannot be used. The text is for the owner of the repository.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CredentialError {
    #[error("the stored credential for {host} cannot be decrypted; store it again")]
    Vault {
        host: GitHost,
        #[source]
        source: VaultError,
    },
    #[error("the configured credential for {host} cannot be used: {source}")]
    Refused {
        host: GitHost,
        source: CredentialRefusal,
    },
    #[error(transparent)]
    Gh(#[from] wh_git::GhError),
    #[error("the credential for {host} cannot be sent")]
    Header { host: GitHost },
    #[error(transparent)]
    App(#[from] AppError),
}

impl App {
    /// Stores a credential for a host, encrypted, in place of the one before it.
    pub async fn credential_set(
        &self,
        cx: &OpContext,
        new: NewHostCredential,
    ) -> Result<HostCredential> {
        let operation = Operation::CredentialSet;
        let usable_by = new.usable_by;
        let audited = facts([
            ("host", new.host.as_str()),
            ("usable_by", usable_by.as_str()),
        ]);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            if usable_by.is_server_wide() && cx.principal.role != UserRole::Admin {
                return Err(ServerReason::CredentialForOthers.into());
            }
            self.check_credential_room(cx).await?;
            let credential = HostCredential {
                id: CredentialId::from_untyped_uuid(self.ids.next()),
                user: cx.principal.user,
                host: new.host.clone(),
                username: new.login.username().to_owned(),
                usable_by,
                created_at: cx.now,
            };
            let sealed = self.vault()?.seal(&credential, new.login.token());
            let sealed = SealedCredential {
                sealed: sealed.map_err(vault_failed)?,
                credential: credential.clone(),
            };
            let events = vec![credential_event(cx, EventKind::Created, &credential)];
            let commit = cx.commit(operation, credential.id.into(), audited, events);
            match self.store.credential_set(&sealed, commit).await? {
                Applied::Done { .. } => Ok(credential),
                Applied::Replayed { subject } => {
                    let stored = self.store.credential_for(reach, &new.host).await?;
                    let mut stored = stored.into_iter().map(|it| it.credential);
                    let first = stored.find(|it| it.id.into_untyped_uuid() == subject.id);
                    first.ok_or_else(|| AppError::not_found(Resource::Credential))
                }
            }
        })
        .await
    }

    /// Lists stored credentials, newest first. Tokens are not part of them.
    pub async fn credential_list(
        &self,
        cx: &OpContext,
        page: PageRequest<Uuid>,
    ) -> Result<Page<HostCredential, Uuid>> {
        let operation = Operation::CredentialList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.credential_list(reach, page).await?)
        })
        .await
    }

    /// Returns the hosts that the configuration has a credential for, to administrators.
    pub fn credentials_configured(&self, cx: &OpContext) -> Vec<(GitHost, ConfiguredCredential)> {
        if cx.principal.role != UserRole::Admin {
            return Vec::new();
        }
        let hosts = self.repos.hosts.iter();
        let named = hosts.filter_map(|it| Some((it.host.clone(), it.credential.clone()?)));
        named.collect()
    }

    /// Deletes a stored credential, named by its id or by its host.
    pub async fn credential_delete(
        &self,
        cx: &OpContext,
        reference: &Reference,
    ) -> Result<HostCredential> {
        let operation = Operation::CredentialDelete;
        let audited = facts([("credential", reference.as_str())]);
        self.change(cx, operation, audited.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.credential_lookup(reach, reference).await?;
            let events = vec![credential_event(cx, EventKind::Deleted, &found)];
            let commit = cx.commit(operation, found.id.into(), audited, events);
            let _applied = self.store.credential_delete(found.id, commit).await?;
            Ok(found)
        })
        .await
    }

    async fn credential_lookup(
        &self,
        reach: Reach,
        reference: &Reference,
    ) -> Result<HostCredential> {
        let host = GitHost::parse(reference.as_str()).ok();
        let id = reference.id().ok();
        let is_meant = |it: &HostCredential| {
            host.as_ref() == Some(&it.host)
                || id
                    .as_ref()
                    .is_some_and(|id| id.matches(it.id.into_untyped_uuid()))
        };
        let mut found = Vec::new();
        let mut page = PageRequest::first(PageLimit::MAX);
        loop {
            let listed = self.store.credential_list(reach, page).await?;
            found.extend(listed.items.into_iter().filter(is_meant));
            match listed.next {
                Some(after) => page.after = Some(after),
                None => break,
            }
        }
        only_one(Resource::Credential, found, |it| {
            format!("{} {} ({})", it.id, it.host, it.usable_by.as_str())
        })
    }

    /// Refuses one credential too many of a user.
    async fn check_credential_room(&self, cx: &OpContext) -> Result<()> {
        let page = PageRequest::first(PageLimit::MAX);
        let own = Reach::User(cx.principal.user);
        let count = self.store.credential_list(own, page).await?.items.len();
        if count >= PER_USER_MAX {
            return Err(ServerReason::CredentialLimit { max: PER_USER_MAX }.into());
        }
        Ok(())
    }

    /// Returns where the credential comes from that a source is fetched with for an owner.
    pub(crate) async fn credential_source(
        &self,
        owner: Owner,
        source: &RepoSource,
    ) -> Result<Option<CredentialSource>> {
        let Some(host) = GitHost::of(source) else {
            return Ok(None);
        };
        let candidate = self.credential_candidate(owner, &host).await?;
        Ok(candidate.map(|it| match it {
            Candidate::Stored(source, _) | Candidate::Configured(source, _) => source,
        }))
    }

    /// Returns the credential that a source is fetched with for an owner, if there is one.
    pub(crate) async fn credential_for(
        &self,
        owner: Owner,
        source: &RepoSource,
    ) -> Result<Option<ChosenCredential>, CredentialError> {
        let Some(host) = GitHost::of(source) else {
            return Ok(None);
        };
        let Some(candidate) = self.credential_candidate(owner, &host).await? else {
            return Ok(None);
        };
        let (source, login) = match candidate {
            Candidate::Stored(source, sealed) => {
                let opened = self.vault()?.open(&sealed);
                let token = opened.map_err(|source| CredentialError::Vault {
                    host: host.clone(),
                    source,
                })?;
                let username = Some(sealed.credential.username.as_str());
                (source, HostLogin::new(username, &token))
            }
            Candidate::Configured(source, configured) => {
                let username = configured.username.as_deref();
                let login = match &configured.token {
                    ConfiguredToken::Text(token) => HostLogin::new(username, token),
                    ConfiguredToken::Gh => HostLogin::new(username, &gh_token(&host).await?),
                    ConfiguredToken::MissingVariable(_) => return Ok(None),
                };
                (source, login)
            }
        };
        let login = login.map_err(|source| CredentialError::Refused {
            host: host.clone(),
            source,
        })?;
        let header = HttpHeader::basic(&login).map_err(|_| CredentialError::Header { host })?;
        Ok(Some(ChosenCredential { source, header }))
    }

    /// Chooses: the owner's own credential, then the server's, then that of the configuration.
    async fn credential_candidate(
        &self,
        owner: Owner,
        host: &GitHost,
    ) -> Result<Option<Candidate<'_>>> {
        let user = self.store.user_by_id(owner.user).await?;
        let role = user.map_or(UserRole::Member, |user| user.role);
        let stored = self.store.credential_for(Reach::All, host).await?;
        let mut usable: Vec<_> = stored
            .into_iter()
            .filter(|it| {
                let it = &it.credential;
                it.usable_by.covers(it.user, owner, role)
            })
            .collect();
        usable.sort_by_key(|it| it.credential.usable_by.is_server_wide());
        if let Some(first) = usable.into_iter().next() {
            let source = match first.credential.usable_by {
                CredentialUse::Own => CredentialSource::Own,
                CredentialUse::Admins | CredentialUse::Everyone => CredentialSource::Server,
            };
            return Ok(Some(Candidate::Stored(source, Box::new(first))));
        }
        let configured = self.repos.host(host).and_then(|it| it.credential.as_ref());
        let configured = configured.filter(|it| it.usable_by.covers(owner.user, owner, role));
        Ok(configured.and_then(|it| Some(Candidate::Configured(it.token.source()?, it))))
    }

    fn vault(&self) -> Result<Vault> {
        Ok(Vault::in_dir(&self.data_dir))
    }
}

fn vault_failed(error: VaultError) -> AppError {
    ServerReason::Vault(error).into()
}

fn credential_event(cx: &OpContext, kind: EventKind, credential: &HostCredential) -> NewEvent {
    NewEvent {
        kind,
        subject: credential.id.into(),
        owner: Owner {
            user: credential.user,
            key: None,
        },
        session: None,
        actor: Some(cx.principal.user),
        facts: facts([("host", credential.host.as_str())]),
    }
}
