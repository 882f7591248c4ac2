//! Counts open connections, over all and per address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Limits, Peer};

/// Refused connections that are told why at the same time; further ones are just closed.
const REFUSALS_MAX: usize = 64;

/// Lets connections in while there is room.
#[derive(Debug)]
pub(super) struct Gate {
    connections_max: usize,
    per_ip_max: usize,
    count: Mutex<Count>,
    refusals: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Count {
    all: usize,
    by_ip: HashMap<IpAddr, usize>,
}

/// The gate's decision.
pub(super) enum Place {
    /// There is room until the permit is dropped.
    Granted(Permit),
    /// There is none. With a permit, the client may be told so.
    Full(Option<OwnedSemaphorePermit>),
}

impl Gate {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            connections_max: limits.connections_max,
            per_ip_max: limits.connections_per_ip_max,
            count: Mutex::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
        }
    }

    pub(super) fn enter(self: &Arc<Self>, peer: &Peer) -> Place {
        let ip = match peer {
            // An IPv4 client of a dual-stack socket is the same client.
            Peer::Tcp(address) => Some(address.ip().to_canonical()),
            Peer::Unix { .. } => None,
        };
        let mut count = self.lock();
        let from_ip = ip.map_or(0, |ip| count.by_ip.get(&ip).copied().unwrap_or(0));
        if count.all >= self.connections_max || (ip.is_some() && from_ip >= self.per_ip_max) {
            return Place::Full(self.refusals.clone().try_acquire_owned().ok());
        }
        count.all += 1;
        if let Some(ip) = ip {
            count.by_ip.insert(ip, from_ip + 1);
        }
        Place::Granted(Permit {
            gate: self.clone(),
            ip,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Count> {
        // Nothing between the steps of a change can panic, so the counts are whole.
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open connection's place.
#[derive(Debug)]
pub(super) struct Permit {
    gate: Arc<Gate>,
    ip: Option<IpAddr>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut count = self.gate.lock();
        count.all = count.all.saturating_sub(1);
        if let Some(ip) = self.ip
            && let Some(from_ip) = count.by_ip.get_mut(&ip)
        {
            *from_ip -= 1;
            if *from_ip == 0 {
                count.by_ip.remove(&ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(connections_max: usize, connections_per_ip_max: usize) -> Arc<Gate> {
        Arc::new(Gate::new(&Limits {
            connections_max,
            connections_per_ip_max,
            ..Limits::default()
        }))
    }

    fn tcp(last: u8) -> Peer {
        Peer::Tcp(([10, 0, 0, last], 1).into())
    }

    fn enter(gate: &Arc<Gate>, peer: &Peer) -> Option<Permit> {
        match gate.enter(peer) {
            Place::Granted(permit) => Some(permit),
            Place::Full(_) => None,
        }
    }

    #[test]
    fn one_address_cannot_take_every_place() {
        let gate = gate(3, 2);
        let first = enter(&gate, &tcp(1)).unwrap();
        let _second = enter(&gate, &tcp(1)).unwrap();
        assert!(enter(&gate, &tcp(1)).is_none());
        assert!(enter(&gate, &tcp(2)).is_some());
        drop(first);
        assert!(enter(&gate, &tcp(1)).is_some());
    }

    #[test]
    fn everybody_together_is_bounded_and_nothing_is_left_behind() {
        let gate = gate(2, 9);
        let places = [enter(&gate, &tcp(1)), enter(&gate, &tcp(2))];
        assert!(enter(&gate, &tcp(3)).is_none());
        assert!(enter(&gate, &Peer::Unix { uid: 0, pid: None }).is_none());
        drop(places);
        let count = gate.lock();
        assert_eq!(count.all, 0);
        assert!(count.by_ip.is_empty());
    }
}
