//! Keys: made, listed and revoked. Their secrets are shown once, here.

use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, Key, KeyBinding, KeyId, KeyScope, NewEvent, NewKey, Operation, Owner, Page,
    PageRequest, Reach, Reference, Secret, UserId,
};
use wh_store::{Applied, StoreError};

use crate::{
    AccessReason, App, AppError, OpContext, Resource, Result,
    authenticate::hash_secret,
    context::facts,
    lookup::{id_of, only_one},
};

/// A key that was made.
#[derive(Debug)]
pub struct KeyMade {
    pub key: Key,
    /// Shown once: absent when the request was a repeat of one that was answered before.
    pub secret: Option<Secret>,
}

/// Which keys a list holds.
#[derive(Clone, Debug, Default)]
pub struct KeyQuery {
    pub user: Option<Reference>,
    /// Browsers and session tokens too.
    pub include_automatic: bool,
}

impl App {
    /// Makes a key. Only the user or an administrator can make one.
    pub async fn key_create(&self, cx: &OpContext, new: NewKey) -> Result<KeyMade> {
        let operation = Operation::KeyCreate;
        let facts = facts([("name", new.name.as_str()), ("scope", new.scope.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            check_new(&new, cx.now)?;
            let user = match &new.user {
                Some(reference) => self.user_lookup(reach, reference).await?.id,
                None => cx.principal.user,
            };
            self.refuse_disabled(user).await?;
            let session = match &new.session {
                Some(session) => Some(self.key_session(reach, user, session).await?),
                None => None,
            };
            let secret = Secret::from_random(new.dialect, new.scope, self.ids.secret_bits());
            let secret = secret.ok_or_else(|| scope_unknown(&new))?;
            let key = Key {
                id: KeyId::from_untyped_uuid(self.ids.next()),
                user,
                name: new.name,
                scope: new.scope,
                prefix: secret.prefix(),
                hash: hash_secret(&secret),
                session,
                dialect: new.dialect,
                created_at: cx.now,
                expires_at: new.expires_at,
                last_used_at: None,
                revoked_at: None,
            };
            let events = vec![key_event(EventKind::Created, cx.principal.user, &key)];
            let commit = cx.commit(operation, key.id.into(), facts, events);
            let inserted = self.store.key_insert(&key, commit).await;
            match inserted.map_err(refuse_more)? {
                Applied::Done { .. } => Ok(KeyMade {
                    key,
                    secret: Some(secret),
                }),
                Applied::Replayed { subject } => {
                    let id = KeyId::from_untyped_uuid(subject.id);
                    let key = self.key_lookup(reach, &Reference::from(id)).await?;
                    Ok(KeyMade { key, secret: None })
                }
            }
        })
        .await
    }

    /// Lists keys, without their secrets.
    pub async fn key_list(
        &self,
        cx: &OpContext,
        query: KeyQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Key, Uuid>> {
        let operation = Operation::KeyList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let user = match &query.user {
                Some(reference) => Some(self.user_lookup(reach, reference).await?.id),
                None => None,
            };
            let list = self
                .store
                .key_list(reach, user, query.include_automatic, page);
            Ok(list.await?)
        })
        .await
    }

    /// Revokes a key: from now on it lets nobody in.
    pub async fn key_revoke(&self, cx: &OpContext, key: Reference) -> Result<Key> {
        let operation = Operation::KeyRevoke;
        let facts = facts([("key", key.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.key_lookup(reach, &key).await?;
            let events = vec![key_event(EventKind::Revoked, cx.principal.user, &found)];
            let commit = cx.commit(operation, found.id.into(), facts, events);
            let applied = self.store.key_revoke(found.id, cx.now, commit).await;
            // Forgotten whatever came of it: asking the database once more is the safe side.
            self.principals.forget(&found.hash);
            let _applied = applied?;
            self.key_lookup(reach, &Reference::from(found.id)).await
        })
        .await
    }

    /// Returns what a key for the name of `session` is bound to. The session is its user's, as everything that a key opens.
    async fn key_session(
        &self,
        reach: Reach,
        user: UserId,
        session: &Reference,
    ) -> Result<KeyBinding> {
        let found = self.session_lookup(reach, session).await?;
        if found.owner.user != user {
            return Err(AccessReason::KeySession.into());
        }
        Ok(KeyBinding::Session(found.id))
    }

    async fn key_lookup(&self, reach: Reach, reference: &Reference) -> Result<Key> {
        let found = self.store.key_find(reach, &id_of(reference)?).await?;
        only_one(Resource::Key, found, |key| key.id.to_string())
    }

    /// Makes the credential of a browser that signed in.
    pub(crate) async fn browser_key(
        &self,
        cx: &OpContext,
        expires_at: Timestamp,
    ) -> Result<Secret> {
        let secret = Secret::from_random(None, KeyScope::Browser, self.ids.secret_bits())
            .expect("there are browser keys");
        let key = Key {
            id: KeyId::from_untyped_uuid(self.ids.next()),
            user: cx.principal.user,
            name: wh_domain::Name::parse("browser")?,
            scope: KeyScope::Browser,
            prefix: secret.prefix(),
            hash: hash_secret(&secret),
            session: None,
            dialect: None,
            created_at: cx.now,
            expires_at: Some(expires_at),
            last_used_at: None,
            revoked_at: None,
        };
        let events = vec![key_event(EventKind::Created, cx.principal.user, &key)];
        let commit = cx.commit(Operation::LoginRedeem, key.id.into(), Facts::new(), events);
        let _applied = self.store.key_insert(&key, commit).await?;
        Ok(secret)
    }
}

/// Says what to do when there are as many keys as there may be.
fn refuse_more(error: StoreError) -> AppError {
    match error {
        StoreError::Limit { what, max, .. } => AccessReason::KeyLimit { what, max }.into(),
        error => error.into(),
    }
}

fn check_new(new: &NewKey, now: Timestamp) -> Result<()> {
    if matches!(new.scope, KeyScope::Session | KeyScope::Browser) {
        let scope = new.scope;
        return Err(AccessReason::KeyScopeInternal { scope }.into());
    }
    if !KeyScope::of(new.dialect).any(|scope| scope == new.scope) {
        return Err(scope_unknown(new).into());
    }
    if (new.scope == KeyScope::SessionInternal) != new.session.is_some() {
        return Err(AccessReason::KeySessionMismatch.into());
    }
    if new.expires_at.is_some_and(|at| at <= now) {
        return Err(AccessReason::KeyExpired.into());
    }
    Ok(())
}

fn scope_unknown(new: &NewKey) -> AccessReason {
    let scope = new.scope;
    match new.dialect {
        None => AccessReason::KeyWithoutDialect { scope },
        Some(dialect) => AccessReason::KeyScopeUnknown { dialect, scope },
    }
}

fn key_event(kind: EventKind, actor: UserId, key: &Key) -> NewEvent {
    NewEvent {
        kind,
        subject: key.id.into(),
        owner: Owner {
            user: key.user,
            key: None,
        },
        session: None,
        actor: Some(actor),
        facts: facts([("name", key.name.as_str()), ("scope", key.scope.as_str())]),
    }
}
