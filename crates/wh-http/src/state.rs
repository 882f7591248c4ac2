//! What every handler shares.

use std::sync::Arc;

use wh_app::App;

use crate::{HttpConfig, fair::FairShare, streams::Streams};

/// The application and how it is served; cheap to clone.
pub(crate) type Server = Arc<ServerState>;

pub(crate) struct ServerState {
    pub(crate) app: Arc<App>,
    pub(crate) config: HttpConfig,
    pub(crate) streams: Arc<Streams>,
    pub(crate) fair: Arc<FairShare>,
}

impl ServerState {
    pub(crate) fn new(app: Arc<App>, config: HttpConfig) -> Server {
        let streams = Streams::new(&config.limits);
        Arc::new(Self {
            app,
            config,
            streams,
            fair: Arc::default(),
        })
    }
}
