//! `wheelhouse serve`: puts store, application and surfaces together, and takes them apart again.
//!
//! [`Server::start`] returns once the server answers; [`Server::stop`] lets open requests finish, writes out what is
//! buffered and removes what told others where to find it. `wheelhouse mcp` uses the same two when no server runs.

mod banner;
mod cgroups;
mod clock;
mod containment;
mod data_dir;
mod endpoint;
mod kill_all;
mod model;
mod open_files;
mod refusal;
mod server_file;

use std::{io::Write, net::SocketAddr, path::PathBuf, pin::pin, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use tokio::{
    net::{TcpListener, TcpSocket, UnixListener},
    signal::unix::{SignalKind, signal},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_agents::{AGENTS_DIR, Agents, ConfiguredAgents};
use wh_api::{ServerFile, StartValueView};
use wh_app::{App, AppParts, LoginLink, RandomIds, RunsConfig, StartValue};
use wh_domain::{Agent, LoopHooks, RepoRules, Surface, UserName, WebhookRules};
use wh_http::{HttpConfig, guard::GuardConfig, serve::Listener};
use wh_runner::cgroup::Cgroups;
use wh_store::Store;
use wh_store_sqlite::{OpenOptions, SqliteStore};

use self::{clock::SystemClock, refusal::CannotListen, server_file::ServerFileGuard};
pub(crate) use self::{
    containment::{find_engine, turn_namespaces_off},
    data_dir::DataDir,
    kill_all::kill_all,
    refusal::{elsewhere, refusal},
    server_file::server_file,
};
use crate::config::{ContainmentSetting, ModelSetting};

/// How a server is started.
#[derive(Clone, Debug)]
pub(crate) struct ServeOptions {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    /// The database, when it is not `wheelhouse.db` in the data directory.
    pub(crate) database: Option<PathBuf>,
    /// Allow an address that other machines can reach.
    pub(crate) allow_remote: bool,
    /// Names besides the loopback ones under which the server may be addressed.
    pub(crate) hosts: Vec<String>,
    /// Origins besides its own from which browsers may call.
    pub(crate) origins: Vec<String>,
    /// Listen on the local socket, whose clients need no key.
    pub(crate) local_admin: bool,
    /// How long an MCP tool call may take.
    pub(crate) tool_timeout: Duration,
    /// What the configuration says about agents.
    pub(crate) agents: ConfiguredAgents,
    /// The model that writes summaries.
    pub(crate) model: Option<ModelSetting>,
    /// The directories that every member may use.
    pub(crate) local_roots: Vec<String>,
    /// What the configuration says about repositories.
    pub(crate) repos: RepoRules,
    /// What the configuration says about webhooks.
    pub(crate) webhooks: WebhookRules,
    /// What the configuration says about hooks of loops.
    pub(crate) hooks: LoopHooks,
    /// What the configuration says about containment.
    pub(crate) containment: ContainmentSetting,
    /// The configuration file, which may hold secrets.
    pub(crate) config_file: Option<PathBuf>,
    /// Every value that was read at the start, as administrators are told.
    pub(crate) start_values: Vec<StartValueView>,
}

impl ServeOptions {
    fn database_in(&self, data_dir: &DataDir) -> PathBuf {
        let named = self.database.clone();
        named.unwrap_or_else(|| data_dir.database())
    }
}

/// A server that answers.
pub(crate) struct Server {
    pub(crate) about: ServerFile,
    app: Arc<App>,
    store: Arc<dyn Store>,
    shutdown: CancellationToken,
    tasks: TaskTracker,
    _file: ServerFileGuard,
}

impl Server {
    /// Starts a server and returns once it answers.
    pub(crate) async fn start(options: &ServeOptions) -> Result<Self> {
        if !options.listen.ip().is_loopback() && !options.allow_remote {
            bail!(
                "{} can be reached from other machines; pass --allow-remote if that is meant",
                options.listen
            );
        }
        let data_dir = DataDir::prepare(&options.data_dir)?;
        let shutdown = CancellationToken::new();
        let cgroups = cgroups::prepare(&options.containment.cgroup).await?;
        let (store, app) = open(options, &data_dir, &shutdown, cgroups).await?;

        let address = options.listen;
        let tcp = listen(address).map_err(|source| CannotListen { address, source })?;
        let bound = tcp.local_addr()?;
        let mut listeners = vec![Listener::Tcp(tcp)];
        // The database's lock is ours, so whoever left a socket here is gone.
        remove_socket(&data_dir)?;
        if options.local_admin {
            listeners.push(Listener::Unix(bind_socket(&data_dir)?));
        }
        let about = server_file::describe(bound);
        let guard = GuardConfig::for_address(bound)
            .with_hosts(options.hosts.iter().cloned())
            .with_origins(options.origins.iter().cloned());
        let config = HttpConfig::new(about.url.clone(), guard);
        let tasks = config.tasks.clone();
        app.reconcile(&tasks);
        let mounts = endpoint::mounts(Arc::clone(&app), options.tool_timeout, shutdown.clone());
        let service = wh_http::router(Arc::clone(&app), config, mounts);
        let serving = wh_http::serve::serve(
            listeners,
            service,
            open_files::connection_limits(),
            shutdown.clone(),
        );
        tasks.spawn(async move {
            let drained = serving.await;
            if drained.cut > 0 {
                tracing::warn!(
                    cut = drained.cut,
                    "some connections were still busy and were cut"
                );
            }
        });
        let file = ServerFileGuard::write(&data_dir, &about)?;
        app.supervise(&tasks);
        Ok(Self {
            about,
            app,
            store,
            shutdown,
            tasks,
            _file: file,
        })
    }

    /// Makes a link that signs a browser in, once.
    pub(crate) async fn login_link(&self) -> Result<LoginLink> {
        let principal = self.app.local_principal().await?;
        let cx = self.app.context(principal, Surface::Server);
        Ok(self.app.login_link_create(&cx, None).await?)
    }

    /// Returns every agent, also those that something is missing for.
    async fn agents(&self) -> Result<Vec<Agent>> {
        let principal = self.app.local_principal().await?;
        let cx = self.app.context(principal, Surface::Server);
        Ok(self.app.agent_list(&cx).await?)
    }

    /// Lets open requests finish, then closes the store.
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.app.drain().await;
        self.store.close().await;
    }
}

/// Takes the database and makes the application on it.
async fn open(
    options: &ServeOptions,
    data_dir: &DataDir,
    shutdown: &CancellationToken,
    cgroups: Option<Cgroups>,
) -> Result<(Arc<dyn Store>, Arc<App>)> {
    let database = options.database_in(data_dir);
    let containment = containment::prepare(options, data_dir, database.clone());
    let opened = SqliteStore::open(OpenOptions::new(database));
    let (opened, containment) = tokio::join!(opened, containment);
    let store: Arc<dyn Store> = Arc::new(opened?);
    let app = Arc::new(App::new(AppParts {
        store: Arc::clone(&store),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        agents: Agents::new(
            std::env::var_os("PATH").unwrap_or_default(),
            options.agents.clone(),
        )
        .with_installed(data_dir.path().join(AGENTS_DIR)),
        webhooks: options.webhooks,
        hooks: options.hooks.clone(),
        runs: RunsConfig {
            program: std::env::current_exe().context("cannot tell where this program is")?,
            runs: data_dir.runs(),
            scratch: data_dir.scratch(),
            server_file: data_dir.server_file(),
            containment,
            cgroups,
        },
        model: options.model.as_ref().map(model::prepare).transpose()?,
        data_dir: data_dir.path().to_owned(),
        repos: options.repos.clone(),
        local_roots: resolved(&options.local_roots),
        start_values: options.start_values.iter().map(start_value).collect(),
        shutdown: shutdown.clone(),
    }));
    app.user_bootstrap(admin_name()).await?;
    Ok((store, app))
}

fn start_value(view: &StartValueView) -> StartValue {
    StartValue {
        key: view.key.clone(),
        value: view.value.clone(),
        source: view.source.clone(),
        about: view.about.clone(),
    }
}

/// Follows the links of configured directories. One that does not exist yet is compared as it is written.
fn resolved(roots: &[String]) -> Vec<PathBuf> {
    let resolve = |root: &String| {
        let path = PathBuf::from(root);
        path.canonicalize().unwrap_or(path)
    };
    roots.iter().map(resolve).collect()
}

/// Runs a server until it is told to stop.
pub(crate) async fn run(options: ServeOptions) -> Result<()> {
    let server = Server::start(&options).await?;
    let link = server.login_link().await?;
    // Whoever started us may have gone away and closed our output; that is no reason to stop.
    let _written =
        std::io::stdout().write_all(banner::banner(&server.about, &link, &options).as_bytes());
    let mut stopped = pin!(wait_for_signal());
    // Some agents take a second to say their version; whoever waits for the address does not wait for them.
    tokio::select! {
        ended = &mut stopped => ended?,
        agents = server.agents() => {
            let _written = std::io::stdout().write_all(banner::agents(&agents?).as_bytes());
            stopped.await?;
        }
    }
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

async fn wait_for_signal() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Connections that may wait to be accepted. With the usual 128 a burst of them costs every client a second or more, after which its
/// system tries again.
const BACKLOG: u32 = 4096;

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn remove_socket(data_dir: &DataDir) -> Result<()> {
    let path = data_dir.socket();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove the old socket {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn bind_socket(data_dir: &DataDir) -> Result<UnixListener> {
    let path = data_dir.socket();
    UnixListener::bind(&path).with_context(|| {
        let hint = "a socket's path may have about 100 characters; choose a shorter --data-dir";
        format!("cannot make the socket {} ({hint})", path.display())
    })
}

/// Returns what the first administrator is called: the person who starts the server, if the name can be used.
fn admin_name() -> UserName {
    let user = std::env::var("USER").unwrap_or_default();
    UserName::parse(&user)
        .or_else(|_| UserName::parse("admin"))
        .expect("admin is a user name")
}
