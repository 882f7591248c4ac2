//! Turns a presented credential into a principal.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use wh_domain::{Credential, IdRef, Key, KeyHash, KeyId, KeyScope, Principal, Reach, Secret, User};

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
    /// Too many failures from this address; try again after this many seconds.
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
}

/// Returns the hash under which a secret is stored.
pub(crate) fn hash_secret(secret: &Secret) -> KeyHash {
    KeyHash(Sha256::digest(secret.expose().as_bytes()).into())
}

impl App {
    /// Turns a presented secret into the principal it speaks for.
    pub async fn authenticate(
        &self,
        presented: &str,
        address: Option<IpAddr>,
    ) -> Result<Principal, Unauthenticated> {
        let now = self.clock.now();
        let secret = Secret::parse(presented);
        if let Some(secret) = &secret
            && let Some(verified) = self.principals.0.get(&hash_secret(secret).0)
            && now < verified.until
        {
            return Ok(verified.principal);
        }
        if let Some(address) = address {
            let allowed = self.attempts.check(address, now);
            allowed.map_err(|retry_after| Unauthenticated::TooMany { retry_after })?;
        }
        let principal = match &secret {
            Some(secret) => self.verify(secret, now).await?,
            None => None,
        };
        principal.ok_or_else(|| {
            if let Some(address) = address {
                self.attempts.fail(address, now);
            }
            Unauthenticated::Invalid
        })
    }

    /// Looks a secret up and remembers it for a moment if it is valid.
    async fn verify(&self, secret: &Secret, now: Timestamp) -> Result<Option<Principal>> {
        let hash = hash_secret(secret);
        let Some(key) = self.store.key_by_hash(&hash).await? else {
            return Ok(None);
        };
        let same: bool = key.hash.0.ct_eq(&hash.0).into();
        if !same || key.scope != secret.scope() || !key.is_valid(now) {
            return Ok(None);
        }
        let Some(user) = self.store.user_by_id(key.user).await? else {
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
        })
    }

    async fn session_credential(&self, key: &Key) -> Result<Option<Credential>> {
        let Some((id, epoch)) = key.session else {
            return Ok(None);
        };
        let whole = IdRef::Whole(id.into_untyped_uuid());
        let found = self.store.session_find(Reach::All, &whole).await?;
        let live = found
            .into_iter()
            .find(|session| session.epoch == epoch && !session.state.name().is_end());
        Ok(live.map(|session| Credential::Session {
            key: key.id,
            session: id,
            role: session.role,
            lineage: session.lineage,
            epoch,
        }))
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

    /// Tells whether the credential behind a long call still lets it go on.
    pub async fn is_still_valid(&self, principal: &Principal) -> Result<bool> {
        let Some(id) = principal.credential.key() else {
            return Ok(true);
        };
        let Some(key) = self.key_by_id(id).await? else {
            return Ok(false);
        };
        Ok(key.is_valid(self.clock.now()) && self.credential_of(&key).await?.is_some())
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
