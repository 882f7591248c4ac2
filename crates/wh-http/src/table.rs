//! One row of the REST table: method, path, operation, request, answer and the translation between them.

use std::{future::Future, sync::Arc, time::Duration};

use axum::{Json, response::IntoResponse, response::Response};
use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use wh_app::OpContext;
use wh_domain::Operation;

use crate::{
    RequestLimits,
    error::ApiError,
    input::{Fields, from_fields},
    limit,
    state::Server,
};

/// What every path of the table begins with.
pub(crate) const PREFIX: &str = "/api/v1";

/// A row of the table.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// Without the prefix, in axum's syntax: `/boards/{board}`.
    pub(crate) path: &'static str,
    pub(crate) operation: Operation,
    /// The name in `/openapi.json`; the operation's unless two routes share it.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    /// The status of success.
    pub(crate) status: StatusCode,
    /// Whether it can also be followed as a stream.
    pub(crate) streams: bool,
    pub(crate) fields: Fields,
    pub(crate) request: SchemaOf,
    pub(crate) request_schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) response: SchemaOf,
    pub(crate) time_max: fn(&RequestLimits) -> Duration,
    pub(crate) body_bytes_max: fn(&RequestLimits) -> usize,
    header: Option<(HeaderName, HeaderValue)>,
    handler: Arc<Handler>,
}

/// Returns a reference to a type's schema, adding it to the generator's definitions.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

type Handler = dyn Fn(Server, OpContext, Map<String, Value>) -> BoxFuture<'static, Result<Response, ApiError>>
    + Send
    + Sync;

/// Where something that was made can be found, without the prefix.
pub(crate) type Location<View> = fn(&View) -> Option<String>;

/// A route that reads.
pub(crate) fn get<Request, View, Work, Answer>(
    path: &'static str,
    operation: Operation,
    summary: &'static str,
    work: Work,
) -> Route
where
    Request: DeserializeOwned + JsonSchema + Send + 'static,
    View: Serialize + JsonSchema + 'static,
    Work: Fn(Server, OpContext, Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = wh_app::Result<View>> + Send + 'static,
{
    route(Method::GET, path, operation, summary, |_| None, work)
}

/// A route that changes something, with the method that says how.
pub(crate) fn change<Request, View, Work, Answer>(
    method: Method,
    path: &'static str,
    operation: Operation,
    summary: &'static str,
    work: Work,
) -> Route
where
    Request: DeserializeOwned + JsonSchema + Send + 'static,
    View: Serialize + JsonSchema + 'static,
    Work: Fn(Server, OpContext, Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = wh_app::Result<View>> + Send + 'static,
{
    route(method, path, operation, summary, |_| None, work)
}

/// A route that makes something: 201, and where it is.
pub(crate) fn create<Request, View, Work, Answer>(
    path: &'static str,
    operation: Operation,
    summary: &'static str,
    location: Location<View>,
    work: Work,
) -> Route
where
    Request: DeserializeOwned + JsonSchema + Send + 'static,
    View: Serialize + JsonSchema + 'static,
    Work: Fn(Server, OpContext, Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = wh_app::Result<View>> + Send + 'static,
{
    Route {
        status: StatusCode::CREATED,
        ..route(Method::POST, path, operation, summary, location, work)
    }
}

fn route<Request, View, Work, Answer>(
    method: Method,
    path: &'static str,
    operation: Operation,
    summary: &'static str,
    location: Location<View>,
    work: Work,
) -> Route
where
    Request: DeserializeOwned + JsonSchema + Send + 'static,
    View: Serialize + JsonSchema + 'static,
    Work: Fn(Server, OpContext, Request) -> Answer + Send + Sync + 'static,
    Answer: Future<Output = wh_app::Result<View>> + Send + 'static,
{
    let handler = move |server: Server, cx: OpContext, fields: Map<String, Value>| {
        let answer = from_fields(fields).map(|request: Request| work(server, cx, request));
        let answered: BoxFuture<'static, Result<Response, ApiError>> = Box::pin(async move {
            let view = answer?.await?;
            Ok(respond(&view, location(&view)))
        });
        answered
    };
    Route {
        method,
        path,
        operation,
        id: operation.name(),
        summary,
        status: StatusCode::OK,
        streams: false,
        fields: Fields::of::<Request>(),
        request: |generator| generator.subschema_for::<Request>(),
        request_schema: |generator| Request::json_schema(generator),
        response: |generator| generator.subschema_for::<View>(),
        time_max: |limits| limits.handler_time_max,
        body_bytes_max: |limits| limits.body_bytes_max,
        header: None,
        handler: Arc::new(handler),
    }
}

impl Route {
    /// Names the route in `/openapi.json`, where names are unique.
    pub(crate) fn named(self, id: &'static str) -> Self {
        Self { id, ..self }
    }

    /// Says that the route can also be followed as a stream.
    pub(crate) fn streams(self) -> Self {
        Self {
            streams: true,
            ..self
        }
    }

    /// Says that the route may take as long as the longest wait.
    pub(crate) fn waits(self) -> Self {
        self.time_max(|limits| limits.wait_time_max)
    }

    /// Says that files may come with a request.
    pub(crate) fn takes_files(self) -> Self {
        Self {
            body_bytes_max: |limits| limits.files_body_bytes_max,
            ..self
        }
    }

    /// Adds a header to the answer.
    pub(crate) fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self {
            header: Some((name, value)),
            ..self
        }
    }

    /// Gives the route its own time.
    pub(crate) fn time_max(self, time_max: fn(&RequestLimits) -> Duration) -> Self {
        Self { time_max, ..self }
    }

    /// Runs the translation.
    pub(crate) async fn run(
        &self,
        server: Server,
        cx: OpContext,
        fields: Map<String, Value>,
    ) -> Result<Response, ApiError> {
        let time_max = (self.time_max)(&server.config.limits);
        let work = (self.handler)(server, cx, fields);
        let mut response = limit::in_time(time_max, work).await??;
        *response.status_mut() = self.status;
        if let Some((name, value)) = self.header.clone() {
            response.headers_mut().insert(name, value);
        }
        Ok(response)
    }
}

fn respond<View: Serialize>(view: &View, location: Option<String>) -> Response {
    let mut response = Json(view).into_response();
    let location = location.map(|path| HeaderValue::try_from(format!("{PREFIX}{path}")));
    if let Some(Ok(location)) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
