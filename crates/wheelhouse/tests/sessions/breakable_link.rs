//! A link between server and runner that breaks on demand: it takes the place of the runner's socket and passes lines on.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};
use tokio_util::task::TaskTracker;

/// Where the next answer to an approval meets its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// The server has sent it; the runner never sees it, and the link is cut.
    BeforeRunner,
    /// The runner has confirmed it; the server never sees that, and the link is cut.
    BeforeReply,
    /// Nothing is cut; the test learns that the server has sent it.
    Sent,
    /// Nothing is cut; the test learns that the server was sent the confirmation.
    Confirmed,
}

/// The socket that the server connects to in place of the runner's.
pub(crate) struct BreakableLink(Arc<State>);

struct State {
    runner: PathBuf,
    armed: Mutex<Option<Break>>,
    open: watch::Sender<bool>,
    /// Counts the times that an armed break has happened.
    happened: watch::Sender<u64>,
    /// Counts the connections that follow the run.
    followed: watch::Sender<u64>,
    tasks: TaskTracker,
}

impl BreakableLink {
    /// Takes the place of the socket in a run's directory. Connections that are open stay as they are.
    pub(crate) fn take_over(dir: &Path) -> Self {
        let (socket, runner) = (dir.join("socket"), dir.join("socket.runner"));
        std::fs::rename(&socket, &runner).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let state = Arc::new(State {
            runner,
            armed: Mutex::default(),
            open: watch::channel(true).0,
            happened: watch::channel(0).0,
            followed: watch::channel(0).0,
            tasks: TaskTracker::new(),
        });
        let accepting = Arc::clone(&state);
        state.tasks.spawn(async move {
            while let Ok((server, _)) = listener.accept().await {
                let state = Arc::clone(&accepting);
                accepting.tasks.spawn(async move {
                    // However it ends, both ends are closed then.
                    state.carry(server).await.ok();
                });
            }
        });
        Self(state)
    }

    /// Waits until the server follows the run through this link.
    pub(crate) async fn wait_followed(&self) {
        let mut followed = self.0.followed.subscribe();
        followed.wait_for(|times| *times > 0).await.unwrap();
    }

    /// Arms a break for the next answer and returns what waits until it has happened.
    pub(crate) fn arm(&self, place: Break) -> impl Future<Output = ()> + use<> {
        let mut happened = self.0.happened.subscribe();
        let before = *happened.borrow();
        *self.0.armed.lock().unwrap() = Some(place);
        async move {
            happened.wait_for(|times| *times > before).await.unwrap();
        }
    }

    /// Cuts the link and refuses connections until [`Self::open`].
    pub(crate) fn close(&self) {
        self.0.open.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.0.open.send_replace(true);
    }
}

impl State {
    async fn carry(self: Arc<Self>, server: UnixStream) -> io::Result<()> {
        let mut open = self.open.subscribe();
        if !*open.borrow() {
            return Ok(());
        }
        let runner = UnixStream::connect(&self.runner).await?;
        let (from_server, to_server) = server.into_split();
        let (from_runner, to_runner) = runner.into_split();
        let (answer, answers) = watch::channel(None);
        tokio::select! {
            done = self.to_runner(from_server, to_runner, answer) => done,
            done = self.to_server(from_runner, to_server, answers) => done,
            _ = open.wait_for(|open| !open) => Ok(()),
        }
    }

    async fn to_runner(
        &self,
        from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        answer: watch::Sender<Option<String>>,
    ) -> io::Result<()> {
        let mut lines = BufReader::new(from).lines();
        while let Some(line) = lines.next_line().await? {
            let said: Value = serde_json::from_str(&line)?;
            if said.get("follow").is_some() {
                self.followed.send_modify(|times| *times += 1);
            }
            let action = &said["command"]["action"];
            let is_answer = action.get("answer_permission").is_some()
                || action.get("answer_question").is_some();
            if is_answer {
                if self.happens(Break::BeforeRunner) {
                    return Ok(());
                }
                answer.send_replace(said["command"]["id"].as_str().map(str::to_owned));
            }
            to.write_all(format!("{line}\n").as_bytes()).await?;
            if is_answer {
                self.happens(Break::Sent);
            }
        }
        Ok(())
    }

    async fn to_server(
        &self,
        from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        answers: watch::Receiver<Option<String>>,
    ) -> io::Result<()> {
        let mut lines = BufReader::new(from).lines();
        while let Some(line) = lines.next_line().await? {
            let said: Value = serde_json::from_str(&line)?;
            let id = said["reply"]["id"].as_str();
            let is_confirmation = id.is_some() && *answers.borrow() == id.map(str::to_owned);
            if is_confirmation && self.happens(Break::BeforeReply) {
                return Ok(());
            }
            to.write_all(format!("{line}\n").as_bytes()).await?;
            if is_confirmation {
                self.happens(Break::Confirmed);
            }
        }
        Ok(())
    }

    /// Tells whether the armed break is this one, which then has happened. What cuts the link keeps it closed.
    fn happens(&self, place: Break) -> bool {
        let taken = self.armed.lock().unwrap().take_if(|armed| *armed == place);
        if taken.is_none() {
            return false;
        }
        if matches!(place, Break::BeforeRunner | Break::BeforeReply) {
            self.open.send_replace(false);
        }
        self.happened.send_modify(|times| *times += 1);
        true
    }
}
