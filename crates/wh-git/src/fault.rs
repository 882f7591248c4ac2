//! Named points at which a test can pretend that the server died.
//!
//! Compiled into debug builds only; in a release build `point` is nothing.

/// The failure that a test asked for.
#[derive(Debug, thiserror::Error)]
#[error("a test stopped the work at {0}")]
pub struct Fault(pub &'static str);

#[cfg(debug_assertions)]
tokio::task_local! {
    static LEFT: std::cell::Cell<u32>;
}

/// Runs `work` and lets it fail at its `steps`-th point, counted from 0.
#[cfg(debug_assertions)]
pub async fn fail_after<T>(steps: u32, work: impl Future<Output = T>) -> T {
    LEFT.scope(std::cell::Cell::new(steps), work).await
}

/// Goes on, unless a test wants the work to end here.
#[cfg(debug_assertions)]
pub(crate) fn point(name: &'static str) -> Result<(), Fault> {
    let left = LEFT.try_with(|left| left.replace(left.get().wrapping_sub(1)));
    if left == Ok(0) {
        Err(Fault(name))
    } else {
        Ok(())
    }
}

#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "the debug build can fail here")]
pub(crate) fn point(_name: &'static str) -> Result<(), Fault> {
    Ok(())
}
