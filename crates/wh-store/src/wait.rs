//! Waits that outlive the call that began them.

use async_trait::async_trait;
use wh_domain::{Wait, WaitEnd, WaitId};

use crate::Result;

/// Keeps waits for a while after they ended.
#[async_trait]
pub trait WaitStore {
    /// Begins a wait; [`crate::StoreError::Limit`] when its owner has `open_max` that are not over.
    async fn wait_begin(&self, wait: &Wait, open_max: u32) -> Result<()>;

    /// Ends a wait, and tells followers of its first session; false when it was over, and then it stays as it ended.
    async fn wait_end(&self, id: WaitId, end: &WaitEnd) -> Result<bool>;

    /// Returns a wait.
    async fn wait_get(&self, id: WaitId) -> Result<Option<Wait>>;

    /// Returns the waits that are not over, oldest first.
    async fn wait_open(&self) -> Result<Vec<Wait>>;
}
