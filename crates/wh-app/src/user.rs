//! Users.

use std::sync::{Arc, MutexGuard, PoisonError};

use newtype_uuid::GenericUuid;
use tokio::sync::OnceCell;
use uuid::Uuid;
use wh_domain::{
    Credential, EventKind, Facts, NewEvent, NewUser, Operation, Owner, Page, PageLimit,
    PageRequest, Principal, Reach, Reference, Surface, User, UserId, UserName, UserPatch, UserRole,
};
use wh_store::Applied;

use crate::{
    AccessReason, App, AppError, OpContext, Resource, Result,
    context::facts,
    lookup::{id_of, only_one},
};

impl App {
    /// Makes a user.
    pub async fn user_create(&self, cx: &OpContext, new: NewUser) -> Result<User> {
        let operation = Operation::UserCreate;
        let facts = facts([("name", new.name.as_str()), ("role", new.role.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            cx.authorize(operation)?;
            let user = self.user_from(new, cx);
            let events = vec![user_event(EventKind::Created, cx.principal.user, &user)];
            let commit = cx.commit(operation, user.id.into(), facts, events);
            let named = Reference::parse(user.name.as_str())?;
            if self.store.user_deleted(&named).await?.is_some() {
                let name = user.name;
                return Err(AccessReason::UserNameDeleted { name }.into());
            }
            match self.store.user_insert(&user, commit).await? {
                Applied::Done { .. } => Ok(user),
                Applied::Replayed { subject } => {
                    self.user_one(Reach::All, UserId::from_untyped_uuid(subject.id))
                        .await
                }
            }
        })
        .await
    }

    /// Returns a user by id or name; the caller when none is named.
    pub async fn user_get(&self, cx: &OpContext, user: Option<Reference>) -> Result<User> {
        let asked = user.as_ref().map_or("", Reference::as_str);
        let operation = Operation::UserGet;
        self.read(cx, operation, facts([("user", asked)]), async {
            let reach = cx.authorize(operation)?;
            match &user {
                Some(reference) => self.user_lookup(reach, reference).await,
                None => self.user_one(Reach::All, cx.principal.user).await,
            }
        })
        .await
    }

    /// Lists users.
    pub async fn user_list(
        &self,
        cx: &OpContext,
        page: PageRequest<Uuid>,
    ) -> Result<Page<User, Uuid>> {
        let operation = Operation::UserList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.user_list(reach, page).await?)
        })
        .await
    }

    /// Makes the first administrator, if there is no user yet. Returns whether it did.
    pub async fn user_bootstrap(&self, name: UserName) -> Result<bool> {
        let first = PageRequest::first(PageLimit::clamped(Some(1)));
        if !self
            .store
            .user_list(Reach::All, first)
            .await?
            .items
            .is_empty()
        {
            return Ok(false);
        }
        let id = UserId::from_untyped_uuid(self.ids.next());
        let principal = Principal {
            user: id,
            role: UserRole::Admin,
            credential: Credential::Local,
        };
        let cx = self.context(principal, Surface::Server);
        let user = User {
            id,
            name,
            role: UserRole::Admin,
            email: None,
            avatar_url: None,
            created_at: cx.now,
            disabled_at: None,
            local_roots: Vec::new(),
        };
        let events = vec![user_event(EventKind::Created, id, &user)];
        let commit = cx.commit(Operation::UserCreate, id.into(), Facts::new(), events);
        let _applied = self.store.user_insert(&user, commit).await?;
        Ok(true)
    }

    /// Changes a user. One who is disabled is let in nowhere from now on, and what they have running is stopped.
    pub async fn user_update(
        &self,
        cx: &OpContext,
        user: Reference,
        patch: UserPatch,
    ) -> Result<User> {
        let operation = Operation::UserUpdate;
        let facts = patch_facts(&user, &patch);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.user_lookup(reach, &user).await?;
            let patch = self.resolve_roots(patch, &found)?;
            let event = user_event(EventKind::Updated, cx.principal.user, &found);
            let commit = cx.commit(operation, found.id.into(), facts, vec![event]);
            let update = self.store.user_update(found.id, &patch, cx.now, commit);
            let updated = update.await;
            // Forgotten whatever came of it: asking the database once more is the safe side.
            self.forget_users();
            let _applied = updated?;
            self.user_disabled.notify_one();
            self.user_one(reach, found.id).await
        })
        .await
    }

    /// Clears the caches of users and principals after a user was changed.
    pub(crate) fn forget_users(&self) {
        self.principals.forget_all();
        *self.first_admin_known() = Arc::default();
    }

    /// Returns the administrator that the local socket speaks for: the oldest who is let in.
    pub(crate) async fn first_admin(&self) -> Result<User> {
        // A change puts another cell in its place, so what is being read meanwhile is not kept beyond it.
        let known = Arc::clone(&self.first_admin_known());
        let read = async {
            let user = self.store.user_first_admin().await?;
            user.ok_or_else(|| AppError::not_found(Resource::User))
        };
        known.get_or_try_init(|| read).await.cloned()
    }

    fn first_admin_known(&self) -> MutexGuard<'_, Arc<OnceCell<User>>> {
        let known = self.first_admin.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses to begin something for a user who is disabled.
    pub(crate) async fn refuse_disabled(&self, user: UserId) -> Result<()> {
        match self.store.user_by_id(user).await? {
            Some(user) if !user.is_active() => {
                Err(AccessReason::UserDisabled { name: user.name }.into())
            }
            _ => Ok(()),
        }
    }

    /// Refuses to go on with what belongs to somebody else who is disabled. The caller is let in, so is not.
    pub(crate) async fn refuse_disabled_owner(&self, cx: &OpContext, owner: Owner) -> Result<()> {
        match owner.user == cx.principal.user {
            true => Ok(()),
            false => self.refuse_disabled(owner.user).await,
        }
    }

    /// Finds a user by name, or else by id.
    pub(crate) async fn user_lookup(&self, reach: Reach, reference: &Reference) -> Result<User> {
        if let Ok(name) = UserName::parse(reference.as_str())
            && let Some(user) = self.store.user_by_name(reach, &name).await?
        {
            return Ok(user);
        }
        let Ok(id) = id_of(reference) else {
            return Err(AppError::not_found(Resource::User));
        };
        let found = self.store.user_find(reach, &id).await?;
        only_one(Resource::User, found, |user| user.id.to_string())
    }

    /// Returns whose something new is: the caller's, or that of a user within reach.
    pub(crate) async fn owner_of(
        &self,
        cx: &OpContext,
        reach: Reach,
        named: Option<&Reference>,
    ) -> Result<Owner> {
        let own = cx.principal.owner();
        let Some(named) = named else { return Ok(own) };
        let is_own = |id: &wh_domain::IdRef| id.matches(own.user.into_untyped_uuid());
        if named.id().is_ok_and(|id| is_own(&id)) {
            return Ok(own);
        }
        let user = self.user_lookup(reach, named).await?.id;
        Ok(match user == own.user {
            true => own,
            false => Owner { user, key: None },
        })
    }

    async fn user_one(&self, reach: Reach, id: UserId) -> Result<User> {
        self.user_lookup(reach, &Reference::from(id)).await
    }

    fn user_from(&self, new: NewUser, cx: &OpContext) -> User {
        User {
            id: UserId::from_untyped_uuid(self.ids.next()),
            name: new.name,
            role: new.role,
            email: new.email,
            avatar_url: new.avatar_url,
            created_at: cx.now,
            disabled_at: None,
            local_roots: Vec::new(),
        }
    }
}

pub(crate) fn user_event(kind: EventKind, actor: UserId, user: &User) -> NewEvent {
    NewEvent {
        kind,
        subject: user.id.into(),
        owner: Owner {
            user: user.id,
            key: None,
        },
        session: None,
        actor: Some(actor),
        facts: facts([("name", user.name.as_str())]),
    }
}

fn patch_facts(user: &Reference, patch: &UserPatch) -> Facts {
    let mut facts = facts([("user", user.as_str())]);
    let mut add = |name: &str, value: &str| facts.insert(name.to_owned(), value.to_owned());
    if let Some(role) = patch.role {
        add("role", role.as_str());
    }
    if let Some(disabled) = patch.disabled {
        add("disabled", if disabled { "true" } else { "false" });
    }
    for (name, paths) in [
        ("allow_paths", &patch.allow_paths),
        ("disallow_paths", &patch.disallow_paths),
    ] {
        if !paths.is_empty() {
            let paths: Vec<_> = paths.iter().map(|it| it.display().to_string()).collect();
            add(name, &paths.join(", "));
        }
    }
    facts
}
