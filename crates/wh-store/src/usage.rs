//! What was used, summed.

use async_trait::async_trait;
use wh_domain::{Reach, UsageSpan, UsageSums};

use crate::Result;

/// The most agents that are told one by one; there are rarely more than a handful.
pub const USAGE_AGENTS_MAX: u32 = 50;

/// Sums what turns have used.
#[async_trait]
pub trait UsageStore {
    /// Sums the turns that ended within a time, of the sessions within reach; `trees` says how many trees are told one by
    /// one. What a fork took over from another session is counted there alone.
    async fn usage_sums(&self, reach: Reach, span: UsageSpan, trees: u32) -> Result<UsageSums>;
}
