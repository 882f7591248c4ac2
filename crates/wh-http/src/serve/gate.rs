//! Counts open connections, over all and per address, and decides which one ends when there is no room.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{Limits, Peer};

/// Refused connections that are told why at the same time; further ones are just closed.
const REFUSALS_MAX: usize = 64;
/// Between two lines in the log about connections that had to make room.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// Admits connections while there is room.
///
/// Opening a connection costs a client nothing, so one on which nobody has authenticated yet holds its slot only until
/// somebody else needs it: the oldest of them is closed for the next connection. Connections with an authenticated request keep
/// their slots. The order is that of arrival, whatever is sent later, so that a newcomer is never the next to go.
#[derive(Debug)]
pub(super) struct Gate {
    connections_max: usize,
    per_ip_max: usize,
    slots: Mutex<Slots>,
    refusals: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Slots {
    all: usize,
    by_ip: HashMap<IpAddr, OfAddress>,
    /// Connections without an authenticated request, by their number: the oldest first.
    unauthenticated: BTreeMap<u64, Unauthenticated>,
    next_number: u64,
    warned_at: Option<Instant>,
}

#[derive(Debug, Default)]
struct OfAddress {
    open: usize,
    unauthenticated: BTreeSet<u64>,
}

#[derive(Debug)]
struct Unauthenticated {
    ip: Option<IpAddr>,
    evicted: CancellationToken,
}

/// The gate's decision.
pub(super) enum Admission {
    /// There is room until the slot is dropped.
    Granted(ConnectionSlot),
    /// There is none. With a permit, the client may be told so.
    Full(Option<OwnedSemaphorePermit>),
}

impl Gate {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            connections_max: limits.connections_max,
            per_ip_max: limits.connections_per_ip_max,
            slots: Mutex::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
        }
    }

    pub(super) fn enter(self: &Arc<Self>, peer: &Peer) -> Admission {
        let ip = match peer {
            // An IPv4 client of a dual-stack socket is the same client.
            Peer::Tcp(address) => Some(address.ip().to_canonical()),
            Peer::Unix { .. } => None,
        };
        let mut slots = self.lock();
        let is_full = slots.open_from(ip) >= self.per_ip_max && !slots.evict_oldest_of(ip)
            || slots.all >= self.connections_max && !slots.evict_oldest();
        if is_full {
            return Admission::Full(self.refusals.clone().try_acquire_owned().ok());
        }
        let slot = Slot {
            gate: self.clone(),
            ip,
            number: slots.next_number,
            evicted: CancellationToken::new(),
            is_authenticated: AtomicBool::new(false),
        };
        slots.add(&slot);
        Admission::Granted(ConnectionSlot(Arc::new(slot)))
    }

    /// Closes up to `count` connections without an authenticated request, for want of file descriptors.
    pub(super) fn make_room(&self, count: usize) {
        let mut slots = self.lock();
        for _ in 0..count {
            if !slots.evict_oldest() {
                break;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        // Nothing between the steps of a change can panic, so the counts are whole.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn open_from(&self, ip: Option<IpAddr>) -> usize {
        let found = ip.and_then(|ip| self.by_ip.get(&ip));
        found.map_or(0, |found| found.open)
    }

    fn add(&mut self, slot: &Slot) {
        self.next_number += 1;
        self.all += 1;
        let waiting = Unauthenticated {
            ip: slot.ip,
            evicted: slot.evicted.clone(),
        };
        self.unauthenticated.insert(slot.number, waiting);
        if let Some(ip) = slot.ip {
            let from_ip = self.by_ip.entry(ip).or_default();
            from_ip.open += 1;
            from_ip.unauthenticated.insert(slot.number);
        }
    }

    /// Closes the oldest connection of an address on which nobody has authenticated; false if there is none.
    fn evict_oldest_of(&mut self, ip: Option<IpAddr>) -> bool {
        let found = ip.and_then(|ip| self.by_ip.get(&ip));
        let oldest = found.and_then(|found| found.unauthenticated.first().copied());
        oldest.is_some_and(|number| self.evict(number))
    }

    /// The same, of all addresses and the Unix socket.
    fn evict_oldest(&mut self) -> bool {
        let oldest = self.unauthenticated.keys().next().copied();
        oldest.is_some_and(|number| self.evict(number))
    }

    fn evict(&mut self, number: u64) -> bool {
        let Some(found) = self.settle(number) else {
            return false;
        };
        self.free(found.ip);
        found.evicted.cancel();
        let is_quiet = |at: Instant| at.elapsed() < WARN_EVERY;
        if !self.warned_at.is_some_and(is_quiet) {
            self.warned_at = Some(Instant::now());
            tracing::warn!(
                open = self.all,
                "too many connections are open: closing the oldest on which nobody has authenticated"
            );
        }
        true
    }

    /// Takes a connection out of those that may be evicted.
    fn settle(&mut self, number: u64) -> Option<Unauthenticated> {
        let found = self.unauthenticated.remove(&number)?;
        if let Some(from_ip) = found.ip.and_then(|ip| self.by_ip.get_mut(&ip)) {
            from_ip.unauthenticated.remove(&number);
        }
        Some(found)
    }

    fn free(&mut self, ip: Option<IpAddr>) {
        self.all = self.all.saturating_sub(1);
        if let Some(ip) = ip
            && let Some(from_ip) = self.by_ip.get_mut(&ip)
        {
            from_ip.open -= 1;
            if from_ip.open == 0 {
                self.by_ip.remove(&ip);
            }
        }
    }
}

/// The slot of an open connection; an extension of every request on it. It is given back when the last copy is dropped.
#[derive(Debug, Clone)]
pub struct ConnectionSlot(Arc<Slot>);

#[derive(Debug)]
struct Slot {
    gate: Arc<Gate>,
    ip: Option<IpAddr>,
    number: u64,
    evicted: CancellationToken,
    is_authenticated: AtomicBool,
}

impl ConnectionSlot {
    /// Notes that a request on this connection was authenticated: from now on it keeps its slot.
    pub fn set_authenticated(&self) {
        let slot = &self.0;
        if !slot.is_authenticated.load(Ordering::Relaxed) {
            let settled = slot.gate.lock().settle(slot.number);
            // Otherwise it was evicted a moment ago, and its place is taken.
            slot.is_authenticated
                .store(settled.is_some(), Ordering::Relaxed);
        }
    }

    /// Waits until somebody else needs the slot.
    pub(super) async fn evicted(&self) {
        self.0.evicted.cancelled().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut slots = self.gate.lock();
        let is_open = slots.settle(self.number).is_some() || *self.is_authenticated.get_mut();
        if is_open {
            slots.free(self.ip);
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

    fn enter(gate: &Arc<Gate>, peer: &Peer) -> Option<ConnectionSlot> {
        match gate.enter(peer) {
            Admission::Granted(slot) => Some(slot),
            Admission::Full(_) => None,
        }
    }

    fn authenticated(gate: &Arc<Gate>, peer: &Peer) -> Option<ConnectionSlot> {
        enter(gate, peer).inspect(ConnectionSlot::set_authenticated)
    }

    fn is_evicted(slot: &ConnectionSlot) -> bool {
        slot.0.evicted.is_cancelled()
    }

    #[test]
    fn one_address_cannot_take_every_place() {
        let gate = gate(3, 2);
        let first = authenticated(&gate, &tcp(1)).unwrap();
        let _second = authenticated(&gate, &tcp(1)).unwrap();
        assert!(enter(&gate, &tcp(1)).is_none());
        assert!(enter(&gate, &tcp(2)).is_some());
        drop(first);
        assert!(enter(&gate, &tcp(1)).is_some());
    }

    #[test]
    fn everybody_together_is_bounded_and_nothing_is_left_behind() {
        let gate = gate(2, 9);
        let places = [authenticated(&gate, &tcp(1)), authenticated(&gate, &tcp(2))];
        assert!(enter(&gate, &tcp(3)).is_none());
        assert!(enter(&gate, &Peer::Unix { uid: 0, pid: None }).is_none());
        drop(places);
        let slots = gate.lock();
        assert_eq!(slots.all, 0);
        assert!(slots.by_ip.is_empty() && slots.unauthenticated.is_empty());
    }

    #[test]
    fn the_oldest_without_an_authenticated_request_makes_room() {
        let gate = gate(4, 3);
        let kept = authenticated(&gate, &tcp(1)).unwrap();
        let oldest = enter(&gate, &tcp(1)).unwrap();
        let second = enter(&gate, &tcp(1)).unwrap();
        // Its address is full.
        let third = enter(&gate, &tcp(1)).unwrap();
        assert!(is_evicted(&oldest) && !is_evicted(&second) && !is_evicted(&third));
        // An evicted connection gives nothing back, and cannot become one that stays.
        oldest.set_authenticated();
        drop(oldest);
        assert_eq!(gate.lock().all, 3);
        // Everything is full.
        let other = enter(&gate, &tcp(2)).unwrap();
        let local = enter(&gate, &Peer::Unix { uid: 0, pid: None }).unwrap();
        assert!(is_evicted(&second) && !is_evicted(&third));
        assert!(!is_evicted(&kept) && !is_evicted(&other));
        drop((kept, second, third, other, local));
        let slots = gate.lock();
        assert_eq!(slots.all, 0);
        assert!(slots.by_ip.is_empty() && slots.unauthenticated.is_empty());
    }
}
