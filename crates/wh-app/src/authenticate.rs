//! Turns a presented credential into a principal.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use wh_domain::{
    Credential, Dialect, IdRef, Key, KeyBinding, KeyHash, KeyId, KeyScope, Principal, Reach,
    Secret, Session, SessionId, User, UserId,
};

use crate::{App, AppError, Result};

/// How long a verified credential is believed without asking the database again. A key revoked elsewhere is refused
/// no later than this; one revoked through this server, at once.
const BELIEVED_FOR: SignedDuration = SignedDuration::from_secs(1);

/// Credentials remembered as verified.
const REMEMBERED_MAX: usize = 4_096;

/// Seconds between two notes of when a key was last used.
const TOUCH_EVERY_SECONDS: i64 = 60;

/// Why a credential did not let the caller in.
#[derive(Debug)]
pub enum Unauthenticated {
    /// Unknown, expired, revoked or malformed: the caller is not told which.
    Invalid,
    /// Valid, but made for this dialect and so not for the address that was called.
    OtherDoor(Dialect),
    /// Invalid, and one of too many failures from this address; try again after this many seconds.
    TooMany { retry_after: u64 },
    /// It could not be looked up.
    Failed(AppError),
}

impl From<AppError> for Unauthenticated {
    fn from(error: AppError) -> Self {
        Self::Failed(error)
    }
}

/// Credentials that were verified a moment ago, by their hash.
pub(crate) struct PrincipalCache(Cache<[u8; 32], Verified>);

#[derive(Clone)]
struct Verified {
    principal: Principal,
    until: Timestamp,
}

impl Default for PrincipalCache {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED_MAX))
    }
}

impl PrincipalCache {
    /// Forgets a credential.
    pub(crate) fn forget(&self, hash: &KeyHash) {
        self.0.remove(&hash.0);
    }

    /// Forgets every credential.
    pub(crate) fn forget_all(&self) {
        self.0.clear();
    }
}

/// Returns the hash under which a secret is stored.
pub(crate) fn hash_secret(secret: &Secret) -> KeyHash {
    KeyHash(Sha256::digest(secret.expose().as_bytes()).into())
}

impl App {
    /// Turns a secret that was presented at one of our own addresses into the principal it speaks for.
    pub async fn authenticate(
        &self,
        presented: &str,
        address: Option<IpAddr>,
    ) -> Result<Principal, Unauthenticated> {
        self.authenticate_at(None, presented, address).await
    }

    /// Turns a presented secret into the principal it speaks for. `door` is the dialect whose address was called: a key that
    /// was made for a dialect opens nothing else, and our own keys open them all.
    pub async fn authenticate_at(
        &self,
        door: Option<Dialect>,
        presented: &str,
        address: Option<IpAddr>,
    ) -> Result<Principal, Unauthenticated> {
        let now = self.clock.now();
        let secret = Secret::parse(presented);
        let made_for = secret.as_ref().and_then(Secret::dialect);
        let principal = self.identify(secret.as_ref(), address, now).await?;
        match made_for.filter(|dialect| Some(*dialect) != door) {
            Some(dialect) => Err(Unauthenticated::OtherDoor(dialect)),
            None => Ok(principal),
        }
    }

    async fn identify(
        &self,
        secret: Option<&Secret>,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<Principal, Unauthenticated> {
        if let Some(secret) = secret
            && let Some(verified) = self.principals.0.get(&hash_secret(secret).0)
            && now < verified.until
        {
            return Ok(verified.principal);
        }
        // The lookup comes before the count of failures: what others at this address do must not refuse a valid key.
        let principal = match secret {
            Some(secret) => self.verify(secret, now).await?,
            None => None,
        };
        principal.ok_or_else(|| {
            let counted = address.map_or(Ok(()), |it| self.attempts.fail(it, now));
            match counted {
                Ok(()) => Unauthenticated::Invalid,
                Err(retry_after) => Unauthenticated::TooMany { retry_after },
            }
        })
    }

    /// Looks a secret up and remembers it for a moment if it is valid.
    async fn verify(&self, secret: &Secret, now: Timestamp) -> Result<Option<Principal>> {
        let hash = hash_secret(secret);
        if self.unknown_keys.contains(&hash, now) {
            return Ok(None);
        }
        let Some(key) = self.store.key_by_hash(&hash).await? else {
            self.unknown_keys.insert(&hash, now);
            return Ok(None);
        };
        let same: bool = key.hash.0.ct_eq(&hash.0).into();
        let is_shown_tag = (key.dialect, key.scope) == (secret.dialect(), secret.scope());
        if !same || !is_shown_tag || !key.is_valid(now) {
            return Ok(None);
        }
        let Some(user) = self.active_user(key.user).await? else {
            return Ok(None);
        };
        let Some(credential) = self.credential_of(&key).await? else {
            return Ok(None);
        };
        let principal = principal_of(&user, credential);
        let until = (now + BELIEVED_FOR).min(key.expires_at.unwrap_or(Timestamp::MAX));
        let verified = Verified {
            principal: principal.clone(),
            until,
        };
        self.principals.0.insert(hash.0, verified);
        self.touch(&key, now).await;
        Ok(Some(principal))
    }

    /// Returns what a key lets its bearer do, unless the session it is bound to is over.
    async fn credential_of(&self, key: &Key) -> Result<Option<Credential>> {
        let id = key.id;
        Ok(match key.scope {
            KeyScope::Full => Some(Credential::Full { key: id }),
            KeyScope::Read => Some(Credential::Read { key: id }),
            KeyScope::Client => Some(Credential::Client { key: id }),
            KeyScope::Browser => Some(Credential::Browser { key: id }),
            KeyScope::Session => self.session_credential(key).await?,
            KeyScope::SessionInternal => self.session_internal_credential(key).await?,
        })
    }

    async fn session_credential(&self, key: &Key) -> Result<Option<Credential>> {
        let Some(KeyBinding::Run { session, epoch }) = key.session else {
            return Ok(None);
        };
        let found = self.bound_session(session).await?;
        let live = found.filter(|it| it.epoch == epoch && !it.state.name().is_end());
        Ok(live.map(|it| Credential::Session {
            key: key.id,
            session,
            role: it.role,
            lineage: it.lineage,
            epoch,
        }))
    }

    async fn session_internal_credential(&self, key: &Key) -> Result<Option<Credential>> {
        let Some(KeyBinding::Session(session)) = key.session else {
            return Ok(None);
        };
        let found = self.bound_session(session).await?;
        let kept = found.filter(|it| !it.archived);
        Ok(kept.map(|_| Credential::SessionInternal {
            key: key.id,
            session,
        }))
    }

    async fn bound_session(&self, id: SessionId) -> Result<Option<Session>> {
        let whole = IdRef::Whole(id.into_untyped_uuid());
        Ok(self.store.session_find(Reach::All, &whole).await?.pop())
    }

    /// Remembers when a key was used, now and then. People look at it; nothing depends on it.
    async fn touch(&self, key: &Key, now: Timestamp) {
        let recent = |at: Timestamp| now.as_second() - at.as_second() < TOUCH_EVERY_SECONDS;
        if key.last_used_at.is_some_and(recent) {
            return;
        }
        if let Err(error) = self.store.key_touch(&[(key.id, now)]).await {
            tracing::warn!(%error, "the last use of a key was not noted");
        }
    }

    /// Returns a user who is let in.
    pub(crate) async fn active_user(&self, id: UserId) -> Result<Option<User>> {
        Ok(self.store.user_by_id(id).await?.filter(User::is_active))
    }

    /// Tells whether the credential behind a long call still lets it go on, and its user may see what they could.
    pub async fn is_still_valid(&self, principal: &Principal) -> Result<bool> {
        let is_same = |user: User| (user.id, user.role) == (principal.user, principal.role);
        let Some(id) = principal.credential.key() else {
            return Ok(is_same(self.first_admin().await?));
        };
        if !self.active_user(principal.user).await?.is_some_and(is_same) {
            return Ok(false);
        }
        let Some(key) = self.key_by_id(id).await? else {
            return Ok(false);
        };
        // A session that lost the role lead has another credential, so its open feeds end.
        let credential = self.credential_of(&key).await?;
        Ok(key.is_valid(self.clock.now()) && credential.as_ref() == Some(&principal.credential))
    }

    async fn key_by_id(&self, id: KeyId) -> Result<Option<Key>> {
        let whole = IdRef::Whole(id.into_untyped_uuid());
        Ok(self.store.key_find(Reach::All, &whole).await?.pop())
    }

    /// Returns the principal of the server's own user on the local socket.
    pub async fn local_principal(&self) -> Result<Principal> {
        let admin = self.first_admin().await?;
        Ok(principal_of(&admin, Credential::Local))
    }
}

pub(crate) fn principal_of(user: &User, credential: Credential) -> Principal {
    Principal {
        user: user.id,
        role: user.role,
        credential,
    }
}
