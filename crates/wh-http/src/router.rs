//! Puts everything together: public routes, the REST table, events, mounts, and the layers around them.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use http::{HeaderValue, header};
use tower::Layer;
use wh_app::App;

use crate::{
    DialectMount, HttpConfig, LineServer, Mounts,
    auth::{AuthLayer, Door},
    call, dashboard,
    edge::{Edge, MCP_PATH},
    error::ApiError,
    events,
    guard::GuardLayer,
    health, limit, lines, login, metrics,
    observe::ObserveLayer,
    openapi,
    panic::CatchLayer,
    routes,
    state::{Server, ServerState},
    table::{PREFIX, Route},
    well_known,
};

/// Makes the whole service, guard and authentication included; [`crate::serve::serve`] runs it.
///
/// Must be called within a tokio runtime: upkeep is spawned on `config.tasks` and ends with the application's shutdown
/// token.
pub fn router(app: Arc<App>, config: HttpConfig, mounts: Mounts) -> Edge {
    metrics::recorder();
    let guard = GuardLayer::new(&config.guard);
    let server = ServerState::new(app, config);
    server.config.tasks.spawn(metrics::upkeep(server.clone()));
    // Together, from the outside in: each call of `layer` on a router boxes every route once more.
    let around = |route| (ObserveLayer { route }, guard.clone(), CatchLayer);
    let auth = |door| AuthLayer::new(server.clone(), door);
    let mcp = mounts.mcp.map(|mcp| auth(Door::default()).layer(mcp));
    let by_parameter = mounts.dialects.iter().filter_map(|mount| {
        let endpoint = auth(door_of(mount)).layer(mount.endpoint.clone());
        Some((
            mount.token_parameter?,
            around(Some(MCP_PATH)).layer(endpoint),
        ))
    });
    Edge {
        by_parameter: by_parameter.collect(),
        mcp: mcp.map(|mcp| around(Some(MCP_PATH)).layer(mcp)),
        rest: public(&server)
            .merge(private(&server, mounts.lines))
            .merge(dialects(&server, mounts.dialects))
            .layer(around(None)),
    }
}

/// Routes that need no credential.
fn public(server: &Server) -> Router {
    // A link that is only looked at, as previews do with HEAD, must not be used up.
    let login = get(login::login).head(no_such_method);
    let mut router = Router::new().route(dashboard::FILES, get(dashboard::file));
    for page in dashboard::PAGES {
        router = router.route(page, get(dashboard::page));
    }
    router
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/login", login)
        .route("/openapi.json", get(openapi_json()))
        .route(well_known::PATH, get(well_known::protected_resource))
        .route(well_known::PATH_OF_MCP, get(well_known::protected_resource))
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(server.clone(), limit::time))
        .layer(from_fn_with_state(
            server.config.limits.body_bytes_max,
            limit::body,
        ))
        .with_state(server.clone())
}

/// Routes that need one, and every path that leads nowhere.
fn private(server: &Server, lines: Option<Arc<dyn LineServer>>) -> Router {
    let mut router = Router::new().route("/metrics", get(metrics::show));
    for route in routes::all() {
        router = add(router, server, route);
    }
    router
        .merge(mounted(server, "/mcp/stdio", lines))
        .fallback(no_such_path)
        .method_not_allowed_fallback(no_such_method)
        .layer(AuthLayer::new(server.clone(), Door::default()))
}

/// MCP as lines.
fn mounted(server: &Server, path: &str, lines: Option<Arc<dyn LineServer>>) -> Router {
    let mut router = Router::new();
    if let Some(lines) = lines {
        let server = server.clone();
        let upgrade = move |request| lines::upgrade(server.clone(), lines.clone(), request);
        router = router.route(path, get(upgrade));
    }
    router
}

/// MCP in other systems' words. Like `/mcp` these have limits of their own.
fn dialects(server: &Server, mounts: Vec<DialectMount>) -> Router {
    let mut router = Router::new();
    for mount in mounts {
        let auth = AuthLayer::new(server.clone(), door_of(&mount));
        let path = format!("{MCP_PATH}/{}/stdio", mount.dialect.as_str());
        let lines = mounted(server, &path, mount.lines);
        router = router.merge(lines.layer(auth.clone()));
        let endpoint = auth.layer(mount.endpoint);
        for address in mount.addresses {
            router = router.route_service(address, endpoint.clone());
        }
    }
    router
}

fn door_of(mount: &DialectMount) -> Door {
    Door {
        dialect: Some(mount.dialect),
        token_parameter: mount.token_parameter,
    }
}

fn add(router: Router, server: &Server, route: Route) -> Router {
    let path = format!("{PREFIX}{}", route.path);
    let filter = MethodFilter::try_from(route.method.clone()).expect("a method of the table");
    let body_bytes_max = (route.body_bytes_max)(&server.config.limits);
    let limited = from_fn_with_state(body_bytes_max, limit::body);
    let (server, route) = (server.clone(), Arc::new(route));
    let handler = move |request: Request| {
        let (server, route) = (server.clone(), route.clone());
        async move {
            if route.streams {
                events::call(server, &route, request).await
            } else {
                call::call(server, &route, request).await
            }
        }
    };
    router.route(&path, on(filter, handler).layer(limited))
}

fn openapi_json() -> impl Fn() -> std::future::Ready<Response> + Clone {
    let document = bytes::Bytes::from(openapi::document().to_string());
    move || {
        let json = HeaderValue::from_static("application/json");
        let response = ([(header::CONTENT_TYPE, json)], document.clone()).into_response();
        std::future::ready(response)
    }
}

async fn no_such_path() -> ApiError {
    ApiError::no_such_path()
}

async fn no_such_method() -> ApiError {
    ApiError::no_such_method()
}
