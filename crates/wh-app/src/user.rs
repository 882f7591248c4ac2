//! Users.

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    Credential, EventKind, Facts, NewEvent, NewUser, Operation, Owner, Page, PageLimit,
    PageRequest, Principal, Reach, Reference, Surface, User, UserId, UserName, UserRole,
};
use wh_store::Applied;

use crate::{
    App, AppError, OpContext, Result,
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
            let events = vec![user_event(cx.principal.user, &user)];
            let commit = cx.commit(operation, user.id.into(), facts, events);
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
        };
        let events = vec![user_event(id, &user)];
        let commit = cx.commit(Operation::UserCreate, id.into(), Facts::new(), events);
        let _applied = self.store.user_insert(&user, commit).await?;
        Ok(true)
    }

    /// Returns the administrator that the local socket speaks for: the first there was.
    pub(crate) async fn first_admin(&self) -> Result<User> {
        if let Some(user) = self.first_admin.get() {
            return Ok(user.clone());
        }
        let mut page = PageRequest::first(PageLimit::MAX);
        let mut first = None;
        loop {
            let users = self.store.user_list(Reach::All, page).await?;
            // Lists are newest first, so the last administrator of the last page is the oldest.
            let mut oldest_first = users.items.into_iter().rev();
            first = oldest_first
                .find(|user| user.role == UserRole::Admin)
                .or(first);
            match users.next {
                Some(after) => page.after = Some(after),
                None => break,
            }
        }
        let user = first.ok_or_else(|| AppError::not_found("user"))?;
        Ok(self.first_admin.get_or_init(|| user).clone())
    }

    /// Finds a user by name, or else by id.
    pub(crate) async fn user_lookup(&self, reach: Reach, reference: &Reference) -> Result<User> {
        if let Ok(name) = UserName::parse(reference.as_str())
            && let Some(user) = self.store.user_by_name(reach, &name).await?
        {
            return Ok(user);
        }
        let Ok(id) = id_of(reference) else {
            return Err(AppError::not_found("user"));
        };
        let found = self.store.user_find(reach, &id).await?;
        only_one("user", found, |user| user.id.to_string())
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
        }
    }
}

fn user_event(actor: UserId, user: &User) -> NewEvent {
    NewEvent {
        kind: EventKind::Created,
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
