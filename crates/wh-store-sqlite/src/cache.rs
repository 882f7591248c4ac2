//! Boards in memory, never older than the last acknowledged write.
//!
//! A shard's generation is even while nothing of it is being committed and odd while something is. An entry remembers
//! the generation from before it was read and is valid only as long as that is still the current one. While the
//! generation is odd, everyone reads the database: so a reader can see neither an old board after a new one nor
//! anything older than a write that was answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use uuid::Uuid;
use wh_domain::Board;

/// Boards that are expected to be in use at a time.
const ITEMS_EXPECTED: usize = 4_096;

/// The most bytes of boards in memory, about.
const BYTES_MAX: u64 = 16 << 20;

/// Generations; a write to one board makes the others of its shard be read again, too.
const SHARDS: usize = 256;

/// Boards in memory.
pub(crate) struct BoardCache {
    entries: Cache<Uuid, Entry, Bytes>,
    generations: [AtomicU64; SHARDS],
}

#[derive(Clone)]
struct Entry {
    generation: u64,
    board: Arc<Board>,
}

/// Permission to put a board that is about to be read into the cache.
pub(crate) struct Fill {
    generation: u64,
}

/// What a lookup found.
pub(crate) enum Lookup {
    Hit(Arc<Board>),
    /// Read the database; keep the result if there is a permission.
    Miss(Option<Fill>),
}

impl BoardCache {
    pub(crate) fn new() -> Self {
        Self {
            entries: Cache::with_weighter(ITEMS_EXPECTED, BYTES_MAX, Bytes),
            generations: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Looks a board up. Must be called before the database is read.
    pub(crate) fn get(&self, id: Uuid) -> Lookup {
        let generation = self.generations[shard(id)].load(Ordering::SeqCst);
        if generation % 2 == 1 {
            return Lookup::Miss(None);
        }
        match self.entries.get(&id) {
            Some(entry) if entry.generation == generation => Lookup::Hit(entry.board),
            _ => Lookup::Miss(Some(Fill { generation })),
        }
    }

    /// Keeps a board that was read after [`Self::get`] gave the permission.
    pub(crate) fn put(&self, id: Uuid, fill: Fill, board: Arc<Board>) {
        let generation = fill.generation;
        self.entries.insert(id, Entry { generation, board });
    }

    /// Tells that boards are about to be committed. Only the writer calls it, and [`Self::commit_end`] afterwards.
    pub(crate) fn commit_begin(&self, boards: &[Uuid]) {
        self.step(boards);
    }

    /// Tells that the commit is over, whatever came of it.
    pub(crate) fn commit_end(&self, boards: &[Uuid]) {
        self.step(boards);
    }

    fn step(&self, boards: &[Uuid]) {
        let mut shards: Vec<usize> = boards.iter().copied().map(shard).collect();
        shards.sort_unstable();
        shards.dedup();
        for shard in shards {
            self.generations[shard].fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Returns the shard of a board: the last byte of its id is random.
fn shard(id: Uuid) -> usize {
    usize::from(id.as_bytes()[15])
}

/// Weighs a board by the memory it takes, about.
#[derive(Clone)]
struct Bytes;

impl Weighter<Uuid, Entry> for Bytes {
    fn weight(&self, _: &Uuid, entry: &Entry) -> u64 {
        let board = &entry.board;
        let template = |t: &wh_domain::PromptTemplate| t.as_str().len();
        let zones: usize = board
            .zones
            .iter()
            .map(|z| 200 + z.prompt_template.as_ref().map_or(0, template))
            .sum();
        let description = board.description.as_ref().map_or(0, |d| d.as_str().len());
        (500 + zones + description + board.placements.len() * 64) as u64
    }
}
