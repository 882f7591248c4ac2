//! Signs of life during long calls, for callers that ask for them.

use std::{pin::pin, time::Duration};

use rmcp::{RoleServer, model::ProgressNotificationParam, service::RequestContext};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// How often a caller is told that its call goes on.
const EVERY: Duration = Duration::from_secs(5);

/// Runs a call and tells, every few seconds, how long it has been at it.
pub(crate) async fn told<T>(
    context: &RequestContext<RoleServer>,
    call: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else {
        return call.await;
    };
    let begun = Instant::now();
    let mut signs = interval_at(begun + EVERY, EVERY);
    signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut call = pin!(call);
    loop {
        tokio::select! {
            done = &mut call => return done,
            _ = signs.tick() => {
                let seconds = begun.elapsed().as_secs();
                let sign = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64())
                    .with_message(format!("at work for {seconds} s"));
                // Who does not listen any more is not told.
                context.peer.notify_progress(sign).await.ok();
            }
        }
    }
}
