//! Joins the surfaces: REST and pages from `wh-http`, MCP from `wh-mcp`, behind one set of guards.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use wh_app::App;
use wh_http::{DialectMount, LineServer, LineStream, Mounts};
use wh_mcp::{DialectEndpoint, Endpoint, EndpointConfig, transport::TransportConfig};

/// Returns what is mounted beside REST: MCP over HTTP and over lines, and its dialects.
pub(super) fn mounts(
    app: Arc<App>,
    call_time_max: Duration,
    shutdown: CancellationToken,
) -> Mounts {
    let config = EndpointConfig {
        version: env!("CARGO_PKG_VERSION"),
        call_time_max,
        transport: TransportConfig {
            shutdown,
            ..TransportConfig::default()
        },
        lines: Default::default(),
    };
    let dialects = DialectEndpoint::all(&app, &config);
    let endpoint = Endpoint::new(app, config);
    Mounts {
        mcp: Some(wh_http::mount(endpoint.clone())),
        lines: Some(Arc::new(Lines(endpoint))),
        dialects: dialects.into_iter().map(dialect).collect(),
    }
}

fn dialect(endpoint: DialectEndpoint) -> DialectMount {
    DialectMount {
        lines: Some(Arc::new(DialectLines(endpoint.clone()))),
        dialect: endpoint.dialect(),
        addresses: endpoint.addresses(),
        token_parameter: endpoint.token_parameter(),
        endpoint: wh_http::mount(endpoint),
    }
}

/// Serves MCP as lines for `wheelhouse mcp`.
struct Lines(Endpoint);

/// Serves a dialect as lines for `wheelhouse mcp --dialect`.
struct DialectLines(DialectEndpoint);

macro_rules! line_server {
    ($server:ty) => {
        impl LineServer for $server {
            fn serve(
                &self,
                stream: LineStream,
                extensions: http::Extensions,
                ended: CancellationToken,
            ) -> BoxFuture<'static, ()> {
                let endpoint = self.0.clone();
                Box::pin(async move {
                    let (reader, writer) = tokio::io::split(stream);
                    let served = endpoint.serve_lines(reader, writer, extensions, ended);
                    if let Err(error) = served.await {
                        tracing::debug!(%error, "a line connection ended badly");
                    }
                })
            }
        }
    };
}

line_server!(Lines);
line_server!(DialectLines);
