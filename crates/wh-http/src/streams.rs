//! Counts connections that stay open, so that no caller can hold too many.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use wh_domain::{ErrorCode, KeyId, Principal, UserId};

use crate::{RequestLimits, error::ApiError};

/// Who a stream counts for: the local socket's user, or one credential.
type Holder = (UserId, Option<KeyId>);

/// The streams that are open, by holder.
#[derive(Debug)]
pub(crate) struct Streams {
    open: Mutex<HashMap<Holder, usize>>,
    max: usize,
    per_principal_max: usize,
}

/// A place among the open streams, given back when dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    streams: Arc<Streams>,
    holder: Holder,
}

impl Streams {
    pub(crate) fn new(limits: &RequestLimits) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            max: limits.streams_max,
            per_principal_max: limits.streams_per_principal_max,
        })
    }

    /// Takes a place for `principal`, or says that there is none.
    pub(crate) fn enter(self: &Arc<Self>, principal: &Principal) -> Result<StreamPermit, ApiError> {
        let holder = (principal.user, principal.credential.key());
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        let total: usize = open.values().sum();
        let own = open.get(&holder).copied().unwrap_or(0);
        if own >= self.per_principal_max || total >= self.max {
            return Err(full());
        }
        open.insert(holder, own + 1);
        gauge(total + 1);
        Ok(StreamPermit {
            streams: Arc::clone(self),
            holder,
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(own) = open.get_mut(&self.holder) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.holder);
            }
        }
        gauge(open.values().sum());
    }
}

fn full() -> ApiError {
    ApiError::new(ErrorCode::LimitExceeded, "too many streams are open")
        .hint("close one, or read /api/v1/events a page at a time")
        .retry_after(5)
}

fn gauge(open: usize) {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    metrics::gauge!("wheelhouse_streams_open").set(open as f64);
}

#[cfg(test)]
mod tests {
    use newtype_uuid::GenericUuid;
    use wh_domain::{Credential, UserRole};

    use super::*;

    fn principal(key: u128) -> Principal {
        Principal {
            user: UserId::from_untyped_uuid(uuid::Uuid::from_u128(1)),
            role: UserRole::Member,
            credential: Credential::Full {
                key: KeyId::from_untyped_uuid(uuid::Uuid::from_u128(key)),
            },
        }
    }

    #[test]
    fn places_are_counted_per_principal_and_overall() {
        let streams = Streams::new(&RequestLimits {
            streams_max: 3,
            streams_per_principal_max: 2,
            ..RequestLimits::default()
        });
        let first = streams.enter(&principal(1)).unwrap();
        let _second = streams.enter(&principal(1)).unwrap();
        assert_eq!(streams.enter(&principal(1)).unwrap_err().status, 429);
        let _third = streams.enter(&principal(2)).unwrap();
        assert!(streams.enter(&principal(3)).is_err());
        drop(first);
        assert!(streams.enter(&principal(1)).is_ok());
    }
}
