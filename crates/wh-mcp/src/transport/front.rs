//! Stands before a handler and makes its answers complete, for every transport.
//!
//! - Results for 2026-07-28 carry `_meta["io.modelcontextprotocol/serverInfo"]`; rmcp adds it to two of them only.
//! - A known method with parameters of the wrong shape is `-32602`; rmcp takes it for an unknown method.
//! - An unknown method is refused in words.
//! - Only the revisions this project supports are offered.

#![expect(
    deprecated,
    reason = "legacy clients still set log levels and subscribe per resource"
)]

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CancelledNotificationParam, CompleteRequestParams, CompleteResult, CreateTaskResult,
        CustomNotification, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult,
        InitializeRequestParams, InitializeResult, InputRequiredResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig,
        SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::Value;

use super::mend;

/// The key under which a result names the server that made it.
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Oldest first, as rmcp lists them. 2024-11-05 is left out: it has another transport.
const SUPPORTED: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// Methods of every revision. One that arrives as a custom request had parameters rmcp could not read.
const LASTING_METHODS: &[&str] = &[
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];

/// Methods that 2026-07-28 removed.
const LEGACY_METHODS: &[&str] = &[
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// Methods that 2026-07-28 introduced.
const MODERN_METHODS: &[&str] = &[
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
];

/// A handler whose answers are completed on the way out.
#[derive(Debug, Clone)]
pub(super) struct Front<H> {
    handler: H,
    /// Serialized once: the stamp is part of every answer.
    server_info: Arc<Value>,
}

impl<H: ServerHandler> Front<H> {
    pub(super) fn new(handler: H) -> Self {
        let info = serde_json::to_value(handler.get_info().server_info).unwrap_or_default();
        Self {
            handler,
            server_info: Arc::new(info),
        }
    }

    pub(super) fn server_info(&self) -> &Arc<Value> {
        &self.server_info
    }

    fn stamp(&self, meta: &mut Option<MetaObject>) {
        stamp(&self.server_info, meta);
    }

    fn completed<T: HasMeta>(
        &self,
        is_modern: bool,
        result: Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let mut result = result.map_err(readable)?;
        if is_modern && let Some(meta) = result.meta() {
            self.stamp(meta);
        }
        Ok(result)
    }
}

/// Names the server that made a result.
pub(super) fn stamp(server_info: &Value, meta: &mut Option<MetaObject>) {
    meta.get_or_insert_default()
        .entry(SERVER_INFO)
        .or_insert_with(|| server_info.clone());
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Gives "method not found" a message for people.
pub(super) fn readable(mut error: ErrorData) -> ErrorData {
    if error.code == ErrorCode::METHOD_NOT_FOUND && mend::is_bare_method(&error.message) {
        error.message = mend::method_not_found(&error.message).into();
    }
    error
}

/// Whether a revision has a method.
fn is_known(method: &str, is_modern: bool) -> bool {
    let of_era = if is_modern {
        MODERN_METHODS
    } else {
        LEGACY_METHODS
    };
    LASTING_METHODS.contains(&method) || of_era.contains(&method)
}

/// Returns the method that a modern message's headers name, if 2026-07-28 removed it.
pub(super) fn removed_method(headers: &http::HeaderMap) -> Option<&'static str> {
    let named = headers.get("mcp-method")?.as_bytes();
    let mut removed = LEGACY_METHODS.iter().copied();
    removed.find(|method| method.as_bytes() == named)
}

fn not_in_this_revision(method: &str) -> ErrorData {
    ErrorData::new(
        ErrorCode::METHOD_NOT_FOUND,
        mend::method_not_found(method),
        None,
    )
}

/// Methods whose result is stamped.
macro_rules! stamped {
    ($($method:ident($params:ty) -> $result:ty;)*) => {$(
        async fn $method(
            &self,
            params: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let is_modern = is_modern(&context);
            self.completed(is_modern, self.handler.$method(params, context).await)
        }
    )*};
}

/// Methods that answer with nothing, so that only their errors are touched.
macro_rules! passed {
    ($($method:ident($params:ty);)*) => {$(
        async fn $method(
            &self,
            params: $params,
            context: RequestContext<RoleServer>,
        ) -> Result<(), ErrorData> {
            self.handler.$method(params, context).await.map_err(readable)
        }
    )*};
}

/// Notifications with parameters.
macro_rules! told {
    ($($method:ident($params:ty);)*) => {$(
        async fn $method(&self, params: $params, context: NotificationContext<RoleServer>) {
            self.handler.$method(params, context).await;
        }
    )*};
}

impl<H: ServerHandler> ServerHandler for Front<H> {
    stamped! {
        complete(CompleteRequestParams) -> CompleteResult;
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_prompts(Option<PaginatedRequestParams>) -> ListPromptsResult;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        call_tool(CallToolRequestParams) -> CallToolResponse;
        list_tools(Option<PaginatedRequestParams>) -> ListToolsResult;
        get_task(GetTaskParams) -> GetTaskResult;
    }

    passed! {
        subscribe(SubscribeRequestParams);
        unsubscribe(UnsubscribeRequestParams);
        update_task(UpdateTaskParams);
        cancel_task(CancelTaskParams);
    }

    told! {
        on_cancelled(CancelledNotificationParam);
        on_progress(ProgressNotificationParam);
        on_custom_notification(CustomNotification);
    }

    /// rmcp forgets that 2026-07-28 removed this one.
    async fn set_level(
        &self,
        params: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_modern(&context) {
            return Err(not_in_this_revision("logging/setLevel"));
        }
        self.handler
            .set_level(params, context)
            .await
            .map_err(readable)
    }

    async fn ping(&self, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.handler.ping(context).await.map_err(readable)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.handler.initialize(request, context).await?;
        if !SUPPORTED.contains(&result.protocol_version) {
            result.protocol_version = ProtocolVersion::V_2025_11_25;
        }
        Ok(result)
    }

    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        self.handler.negotiate_initialize(request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let offered = self.handler.supported_protocol_versions();
        if SUPPORTED.iter().all(|version| offered.contains(version)) {
            return Cow::Borrowed(SUPPORTED);
        }
        SUPPORTED
            .iter()
            .filter(|version| offered.contains(version))
            .cloned()
            .collect()
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.handler.discover(context).await.map_err(readable)?;
        result
            .supported_versions
            .retain(|version| SUPPORTED.contains(version));
        self.stamp(&mut result.meta);
        Ok(result)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let is_modern = is_modern(&context);
        let method = request.method.as_str();
        if is_known(method, is_modern) {
            return Err(ErrorData::invalid_params(
                format!(
                    "Invalid params: they do not have the shape that {} takes",
                    request.method
                ),
                None,
            ));
        }
        if LEGACY_METHODS.contains(&method) || MODERN_METHODS.contains(&method) {
            return Err(not_in_this_revision(method));
        }
        let mut result = self
            .handler
            .on_custom_request(request, context)
            .await
            .map_err(readable)?;
        if is_modern
            && let Some(object) = result.0.as_object_mut()
            && let Some(meta) = object
                .entry("_meta")
                .or_insert_with(|| Value::Object(serde_json::Map::new()))
                .as_object_mut()
        {
            meta.entry(SERVER_INFO)
                .or_insert_with(|| Value::clone(&self.server_info));
        }
        Ok(result)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_initialized(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.handler.on_roots_list_changed(context).await;
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.handler.listen(context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }
}

/// A result with a place for metadata.
trait HasMeta {
    /// Returns that place, or `None` for a variant this project does not know yet.
    fn meta(&mut self) -> Option<&mut Option<MetaObject>>;
}

macro_rules! has_meta {
    ($($result:ty),* $(,)?) => {$(
        impl HasMeta for $result {
            fn meta(&mut self) -> Option<&mut Option<MetaObject>> {
                Some(&mut self.meta)
            }
        }
    )*};
}

has_meta!(
    CallToolResult,
    CompleteResult,
    CreateTaskResult,
    GetPromptResult,
    GetTaskResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
);

impl HasMeta for CallToolResponse {
    fn meta(&mut self) -> Option<&mut Option<MetaObject>> {
        match self {
            Self::Complete(result) => result.meta(),
            Self::InputRequired(result) => result.meta(),
            Self::Task(result) => result.meta(),
            _ => None,
        }
    }
}

impl HasMeta for GetPromptResponse {
    fn meta(&mut self) -> Option<&mut Option<MetaObject>> {
        match self {
            Self::Complete(result) => result.meta(),
            Self::InputRequired(result) => result.meta(),
            _ => None,
        }
    }
}

impl HasMeta for ReadResourceResponse {
    fn meta(&mut self) -> Option<&mut Option<MetaObject>> {
        match self {
            Self::Complete(result) => result.meta(),
            Self::InputRequired(result) => result.meta(),
            _ => None,
        }
    }
}
