//! Keeps sessions alive: one keeper for each session that something is to be done about, and none for the others.
//!
//! Requests record what is wanted (a prompt waits, a stop is asked for, an approval is answered) and call
//! [`App::wake`]. The session's keeper looks at what is recorded, compares it with the session's process, and does the
//! next thing: starts a run, hands a prompt over, tells an answer, stops. What the process says comes back through its
//! journal and is stored before it is acknowledged. Nothing of this lives in memory alone, so a server that is killed at
//! any point goes on from the rows and the journals.

mod act;
mod answers;
mod containment;
mod context;
mod echo;
mod files;
mod home_links;
mod image;
mod keeper;
mod launch;
mod link;
mod project_config;
mod sandbox;
mod stderr;
mod story;
mod sweep;
mod turns;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use wh_domain::SessionId;
use wh_runner::cgroup::Cgroups;

pub use self::containment::{ContainmentConfig, HIDDEN_IN_HOME, HIDDEN_IN_SYSTEM, no_engine};
pub use self::echo::EchoWorktree;
use self::keeper::Keeper;
pub(crate) use self::story::action_of;
use crate::App;

/// How often everything is looked at, whether or not somebody woke us.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Where runs live and what their agents are told.
#[derive(Clone, Debug)]
pub struct RunsConfig {
    /// This program, which is also the runner and the built-in agent.
    pub program: PathBuf,
    /// Holds a directory for each run.
    pub runs: PathBuf,
    /// Holds a directory for each session that works nowhere else.
    pub scratch: PathBuf,
    /// Tells runners where the server is now.
    pub server_file: PathBuf,
    pub containment: ContainmentConfig,
    /// The cgroup below which each run gets its own. Absent: the runners watch the limits.
    pub cgroups: Option<Cgroups>,
}

/// Who waits to be looked at, and who looks.
#[derive(Default)]
pub(crate) struct Keepers {
    woken: Mutex<HashSet<SessionId>>,
    bell: Notify,
}

impl Keepers {
    fn wake(&self, session: SessionId) {
        self.lock().insert(session);
        self.bell.notify_one();
    }

    fn take(&self) -> HashSet<SessionId> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<SessionId>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Has a session looked at now: something about it is wanted, or has changed.
    pub(crate) fn wake(&self, session: SessionId) {
        self.keepers.wake(session);
    }

    /// Starts to keep sessions alive on `tasks`; ends when the server stops, and leaves their processes at work.
    pub fn supervise(self: &Arc<Self>, tasks: &TaskTracker) {
        let (app, keepers) = (Arc::clone(self), tasks.clone());
        tasks.spawn(async move {
            let stop = app.shutdown.clone();
            stop.run_until_cancelled(supervise(app, keepers)).await;
        });
    }
}

async fn supervise(app: Arc<App>, tasks: TaskTracker) {
    if let Err(error) = sweep::sweep(&app).await {
        tracing::error!(%error, "what earlier runs left could not be looked through");
    }
    let mut bells: HashMap<SessionId, Arc<Notify>> = HashMap::new();
    loop {
        match app.store.work_list().await {
            Ok(sessions) => sessions.into_iter().for_each(|id| app.wake(id)),
            Err(error) => tracing::warn!(%error, "what is to be done could not be read"),
        }
        let again = tokio::time::Instant::now() + LOOK_EVERY;
        loop {
            for session in app.keepers.take() {
                // A keeper that has gone holds its bell no more.
                let bell = bells.entry(session).or_default();
                if Arc::strong_count(bell) == 1 {
                    let keeper = Keeper::new(Arc::clone(&app), session, Arc::clone(bell));
                    tasks.spawn(keeper.run());
                } else {
                    bell.notify_one();
                }
            }
            tokio::select! {
                () = app.keepers.bell.notified() => {}
                () = tokio::time::sleep_until(again) => break,
            }
        }
        bells.retain(|_, bell| Arc::strong_count(bell) > 1);
    }
}
