//! How much of everything there may be, with the defaults in one place.

/// Limits on the shape of a tree of sessions and on reviews. All are settings (`config_set`); all are counted in one
/// transaction with what they limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Levels below a root session.
    pub spawn_depth_max: u32,
    /// Live children of one session.
    pub spawn_children_max: u32,
    /// Sessions in a whole tree, ended ones included.
    pub spawn_tree_max: u32,
    /// Spawns in one tree within a minute.
    pub spawn_per_minute_max: u32,
    /// Prompts of one session to another within a minute.
    pub prompts_per_minute_max: u32,
    /// Live sessions of one user.
    pub live_sessions_max: u32,
    /// Rounds of review of one coding session.
    pub review_rounds_max: u32,
    /// Failed reviews, refused requests included, after which the work is given up.
    pub review_abandon_after: u32,
    /// Hours until a silent review is over.
    pub review_timeout_hours: u32,
}

impl Limits {
    /// What holds unless a setting says otherwise.
    pub const DEFAULT: Self = Self {
        spawn_depth_max: 3,
        spawn_children_max: 8,
        spawn_tree_max: 50,
        spawn_per_minute_max: 10,
        prompts_per_minute_max: 20,
        live_sessions_max: 100,
        review_rounds_max: 3,
        review_abandon_after: 5,
        review_timeout_hours: 24,
    };
}

/// How far a tree of sessions may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnLimits {
    pub depth_max: u32,
    /// Live children of the parent, the new one included.
    pub children_max: u32,
    /// Sessions in the tree, the new one included.
    pub tree_max: u32,
    /// Spawns in the tree within a minute, the new one included.
    pub per_minute_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
