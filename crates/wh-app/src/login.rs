//! Signing in with a browser: a link that works once, and the credential it turns into.

use std::{collections::HashMap, sync::Mutex};

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use wh_domain::{
    Credential, Facts, IdRef, Operation, Principal, Reference, Secret, SecretText, Surface,
};

use crate::{
    AccessReason, App, AppError, OpContext, Resource, Result, authenticate::principal_of,
    context::facts,
};

/// How long a link can be used.
const LINK_LIFE: SignedDuration = SignedDuration::from_mins(15);
/// How long a browser stays signed in.
const BROWSER_LIFE: SignedDuration = SignedDuration::from_hours(24 * 30);
/// Unused links kept at once; beyond that the oldest goes.
const LINKS_MAX: usize = 32;

/// A link's secret part and how long it can be used.
#[derive(Debug)]
pub struct LoginLink {
    pub token: SecretText,
    pub expires_at: Timestamp,
}

/// Links that were made and not used. They live in memory: a restart makes a fresh one.
#[derive(Default)]
pub(crate) struct LoginLinks(Mutex<HashMap<[u8; 32], Pending>>);

struct Pending {
    principal: Principal,
    expires_at: Timestamp,
}

impl LoginLinks {
    fn add(&self, token: &SecretText, pending: Pending) {
        let mut links = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if links.len() >= LINKS_MAX {
            let oldest = links.iter().min_by_key(|(_, p)| p.expires_at);
            if let Some(hash) = oldest.map(|(hash, _)| *hash) {
                links.remove(&hash);
            }
        }
        links.insert(digest(token), pending);
    }

    /// Takes a link out, so that it works once even when two use it at the same time.
    fn take(&self, token: &SecretText, now: Timestamp) -> Option<Principal> {
        let mut links = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let pending = links.remove(&digest(token))?;
        (now < pending.expires_at).then_some(pending.principal)
    }
}

fn digest(token: &SecretText) -> [u8; 32] {
    Sha256::digest(token.expose().as_bytes()).into()
}

impl App {
    /// Makes a link that signs a browser in, once: as the caller, or as a user who is named.
    ///
    /// That gives an administrator nothing new, who could make that user a key; it gives the user a way in.
    pub async fn login_link_create(
        &self,
        cx: &OpContext,
        user: Option<Reference>,
    ) -> Result<LoginLink> {
        let operation = Operation::LoginLinkCreate;
        let named = user.as_ref().map_or("", Reference::as_str);
        self.read(cx, operation, facts([("user", named)]), async {
            let reach = cx.authorize(operation)?;
            let credential = cx.principal.credential.clone();
            let principal = match &user {
                Some(user) => {
                    let user = self.user_lookup(reach, user).await?;
                    self.refuse_disabled(user.id).await?;
                    principal_of(&user, credential)
                }
                None => cx.principal.clone(),
            };
            let token = SecretText::new(format!("{:032x}", self.ids.secret_bits()));
            let expires_at = cx.now + LINK_LIFE;
            self.login_links.add(
                &token,
                Pending {
                    principal,
                    expires_at,
                },
            );
            Ok(LoginLink { token, expires_at })
        })
        .await
    }

    /// Turns a link into a browser credential and says until when it holds.
    pub async fn login_redeem(&self, token: &SecretText) -> Result<(Secret, Timestamp)> {
        let now = self.clock.now();
        let pending = self.login_links.take(token, now);
        // Whoever was disabled since it was made is not let in by it.
        let user = match &pending {
            Some(principal) => self.active_user(principal.user).await?,
            None => None,
        };
        let (Some(principal), Some(_)) = (pending, user) else {
            return Err(AccessReason::LoginLinkExpired.into());
        };
        let cx = self.context(principal, Surface::Rest);
        let expires_at = now + BROWSER_LIFE;
        let secret = self.browser_key(&cx, expires_at).await?;
        Ok((secret, expires_at))
    }

    /// Signs the calling browser out.
    pub async fn logout(&self, cx: &OpContext) -> Result<()> {
        let operation = Operation::Logout;
        self.change(cx, operation, Facts::new(), async {
            cx.authorize(operation)?;
            let Credential::Browser { key } = cx.principal.credential else {
                return Err(AccessReason::NotABrowser.into());
            };
            let reach = cx.principal.reach();
            let whole = IdRef::parse(&key.to_string())?;
            let found = self.store.key_find(reach, &whole).await?;
            let commit = cx.commit(operation, key.into(), Facts::new(), vec![]);
            let _applied = self.store.key_revoke(key, cx.now, commit).await?;
            for key in found {
                self.principals.forget(&key.hash);
            }
            Ok(())
        })
        .await
    }

    /// Returns who is calling.
    pub async fn whoami(&self, cx: &OpContext) -> Result<(Principal, wh_domain::User)> {
        let operation = Operation::WhoAmI;
        self.read(cx, operation, Facts::new(), async {
            cx.authorize(operation)?;
            let user = self.store.user_by_id(cx.principal.user).await?;
            let user = user.ok_or_else(|| AppError::not_found(Resource::User))?;
            Ok((principal_of(&user, cx.principal.credential.clone()), user))
        })
        .await
    }
}
