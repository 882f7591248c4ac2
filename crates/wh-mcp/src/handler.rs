//! Answers MCP requests for whoever is calling.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams,
        CompleteRequestParams, CompleteResult, ContentBlock, DiscoverResult,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
        InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use wh_app::{App, AppError, OpContext, RequestReason, ServerReason};
use wh_domain::{Principal, Surface};

use crate::{
    complete,
    error::{Refused, error_view, tool_error},
    idempotency::{idempotency, repeat_mark},
    progress, prompts, resources,
    subscribe::{self, Connection, Gate},
    tasks,
    tools::{self, Answer, CATALOGUE, Tool},
    toolset::Toolsets,
    transport::{PlainCalls, caller_extensions, structured},
};

/// How long a client may keep a list, in milliseconds: lists change only with the server's version.
pub(crate) const LIST_TTL_MS: u64 = 60_000;

/// Serves the canonical tools, resources and prompts.
///
/// A clone is a new connection: it shares the application and nothing else, so that a legacy client's subscriptions
/// end with its session.
pub(crate) struct Handler {
    app: Arc<App>,
    version: &'static str,
    call_time_max: Duration,
    gate: Arc<Gate>,
    connection: Connection,
}

impl Clone for Handler {
    fn clone(&self) -> Self {
        Self {
            app: Arc::clone(&self.app),
            version: self.version,
            call_time_max: self.call_time_max,
            gate: Arc::clone(&self.gate),
            connection: Connection::default(),
        }
    }
}

impl Handler {
    pub(crate) fn new(app: Arc<App>, version: &'static str, call_time_max: Duration) -> Self {
        Self {
            app,
            version,
            call_time_max,
            gate: Arc::default(),
            connection: Connection::default(),
        }
    }

    /// Returns the circumstances of a call.
    fn context(&self, context: &RequestContext<RoleServer>) -> Result<OpContext, ErrorData> {
        Ok(self.app.context(principal(context)?.clone(), Surface::Mcp))
    }

    /// Calls a tool and shows what came of it.
    async fn called(
        &self,
        tool: &Tool,
        principal: &Principal,
        arguments: JsonObject,
        version: Option<&ProtocolVersion>,
        parts: &Parts,
    ) -> CallToolResult {
        let mut cx = self.app.context(principal.clone(), Surface::Mcp);
        let called = async {
            let runners = repeat_mark(principal, &parts.headers);
            match idempotency(tool.name(), &arguments, runners) {
                Ok(mark) => cx.idempotency = mark,
                Err(error) => {
                    tool.record_refusal(&self.app, &cx, &error).await;
                    return Err(error);
                }
            }
            tool.call(Arc::clone(&self.app), cx, arguments).await
        };
        match tokio::time::timeout(self.call_time_max, called).await {
            Ok(Ok(answer)) => tool_answer(answer, principal, version, &parts.extensions),
            Ok(Err(error)) => tool_error(&error),
            Err(_) => tool_error(&took_too_long(self.call_time_max)),
        }
    }

    /// Returns what the caller should know before its first call.
    async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        let mut text = "Wheelhouse runs coding agents in git worktrees. Ids may be shortened to their last 8 digits. \
            Lists are paged: pass next_cursor as cursor. tool_search finds tools that are not listed; tool_call calls them."
            .to_owned();
        let Ok(cx) = self.context(context) else {
            return text;
        };
        if cx.principal.credential.session().is_some()
            && let Ok(session) = self.app.session_current(&cx).await
        {
            let place = |what: &str, id: Option<String>| {
                id.map(|id| format!(", {what} {id}")).unwrap_or_default()
            };
            let seen = match cx.principal.leads() {
                true => {
                    "You see and direct everything that your user owns; what you create is limited as you are."
                }
                false => "You see your own session and its descendants.",
            };
            text.push_str(&format!(
                " You are session {} ({:?}), role {}{}{}. {seen}",
                session.id,
                session.title.as_str(),
                session.role.as_str(),
                place("on board", session.board.map(|id| id.to_string())),
                place("in worktree", session.worktree.map(|id| id.to_string())),
            ));
        }
        text
    }
}

/// Returns who is calling, as the layer in front established it.
pub(crate) fn principal(context: &RequestContext<RoleServer>) -> Result<&Principal, ErrorData> {
    let found = caller_extensions(context).and_then(|extensions| extensions.get::<Principal>());
    found.ok_or_else(not_authenticated)
}

pub(crate) fn not_authenticated() -> ErrorData {
    ErrorData::internal_error("the request was not authenticated", None)
}

/// Returns which tools the caller asked to be shown: on the address over HTTP, at start over lines.
fn toolsets(context: &RequestContext<RoleServer>) -> Result<Toolsets, ErrorData> {
    let parts = context.extensions.get::<Parts>();
    if let Some(given) = parts.and_then(|parts| parts.extensions.get::<Toolsets>()) {
        return Ok(given.clone());
    }
    // Messages of a line connection carry the address that it was opened with.
    let address = parts.map(|parts| parts.extensions.get().unwrap_or(&parts.uri));
    let query = address.and_then(http::Uri::query);
    Toolsets::from_query(query).map_err(|message| ErrorData::invalid_params(message, None))
}

/// Tells whether the caller can be given a task instead of an answer.
fn knows_tasks(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    capabilities.is_some_and(|it| it.supports_tasks())
}

pub(crate) fn took_too_long(limit: Duration) -> AppError {
    let seconds = limit.as_secs();
    RequestReason::TimedOut { seconds }.into()
}

/// Shows a refusal of a request that is not a call in the terms of our tools.
fn shown(refused: Refused) -> ErrorData {
    refused.into_data(error_view)
}

/// Tells whether a revision has structured answers.
pub(crate) fn knows_structure(version: Option<&ProtocolVersion>) -> bool {
    let since = ProtocolVersion::V_2025_06_18;
    version.is_none_or(|version| version.as_str() >= since.as_str())
}

pub(crate) fn unknown_tool(name: &str) -> ErrorData {
    let message = format!("Unknown tool: {}", wh_domain::redact(name));
    ErrorData::invalid_params(message, None)
}

/// Shows an answer: the data, and one line about it. The data as text goes to clients from before structured answers, and to
/// agents: some of them give their model nothing else.
fn tool_answer(
    answer: Answer,
    principal: &Principal,
    version: Option<&ProtocolVersion>,
    extensions: &http::Extensions,
) -> CallToolResult {
    if !knows_structure(version) {
        let text = ContentBlock::text(answer.data);
        return CallToolResult::success(vec![text]);
    }
    let by_agent = principal.credential.session().is_some();
    let text = match by_agent {
        true => answer.data.clone(),
        false => answer.line,
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    match structured(extensions, answer.data) {
        Ok(content) => result.structured_content = Some(content),
        Err(error) => return tool_error(&AppError::from(ServerReason::Defect).caused_by(error)),
    }
    result
}

impl PlainCalls for Handler {
    fn plain_call<'a>(
        &'a self,
        name: &str,
        arguments: JsonObject,
        parts: &'a Parts,
    ) -> Option<BoxFuture<'a, CallToolResult>> {
        let tool = CATALOGUE.get(name)?;
        let principal = parts.extensions.get::<Principal>()?;
        let version = Some(&ProtocolVersion::V_2026_07_28);
        Some(Box::pin(
            self.called(tool, principal, arguments, version, parts),
        ))
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_completions()
            .enable_tasks()
            .build();
        let implementation =
            Implementation::new("wheelhouse", self.version).with_title("Wheelhouse");
        ServerConfig::new(capabilities).with_server_info(implementation)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = Some(self.instructions(&context).await);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        info.instructions = Some(self.instructions(&context).await);
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info).with_ttl_ms(LIST_TTL_MS))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let toolsets = toolsets(&context)?;
        let principal = principal(&context)?;
        let shown = tools::shown(principal, &toolsets);
        let models = shown.map(|tool| tool.model_for(principal).clone());
        let mut result = ListToolsResult::with_all_items(models.collect());
        result.ttl_ms = Some(LIST_TTL_MS);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = CATALOGUE.get(&request.name);
        let tool = tool.ok_or_else(|| unknown_tool(&request.name))?;
        let parts = context.extensions.get::<Parts>();
        let parts = parts.ok_or_else(not_authenticated)?;
        let version = context.protocol_version();
        let principal = principal(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        if knows_tasks(&context)
            && let Some(operation) = tool.operation()
        {
            let mut cx = self.context(&context)?;
            let runners = repeat_mark(principal, &parts.headers);
            match idempotency(tool.name(), &arguments, runners) {
                Ok(mark) => cx.idempotency = mark,
                Err(error) => {
                    tool.record_refusal(&self.app, &cx, &error).await;
                    return Ok(tool_error(&error).into());
                }
            }
            match tasks::begin(&self.app, &cx, operation, &arguments).await {
                Some(Ok(task)) => return Ok(task.into()),
                Some(Err(error)) => {
                    tool.record_refusal(&self.app, &cx, &error).await;
                    return Ok(tool_error(&error).into());
                }
                None => {}
            }
        }
        let called = self.called(tool, principal, arguments, version.as_ref(), parts);
        Ok(progress::told(&context, called).await.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let cx = self.context(&context)?;
        let capabilities = context.client_capabilities();
        let elicits = capabilities.is_some_and(|it| it.elicitation.is_some());
        tasks::get(&self.app, &cx, &request.task_id, elicits).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let cx = self.context(&context)?;
        let UpdateTaskParams {
            task_id,
            input_responses,
            ..
        } = request;
        tasks::update(&self.app, &cx, &task_id, input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let cx = self.context(&context)?;
        tasks::cancel(&self.app, &cx, &request.task_id).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let cx = self.context(&context)?;
        let listed = resources::list(&self.app, &cx, cursor);
        listed.await.map_err(shown)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            resources::templates(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let cx = self.context(&context)?;
        let read = resources::read(&self.app, &cx, &request.uri);
        Ok(read.await.map_err(shown)?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let shown = prompts::list(principal(&context)?);
        Ok(ListPromptsResult::with_all_items(shown))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let cx = self.context(&context)?;
        let prompt = prompts::get(&self.app, &cx, &request.name, &arguments);
        Ok(prompt.await.map_err(shown)?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let cx = self.context(&context)?;
        let completed = complete::complete(&self.app, &cx, &request);
        completed.await.map_err(shown)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(subscribe::accepted(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let cx = self.context(subscription.request_context())?;
        subscribe::listen(&self.app, &self.gate, cx, subscription).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let cx = self.context(&context)?;
        subscribe::subscribe(
            &self.app,
            &self.gate,
            &self.connection,
            cx,
            request.uri,
            context,
        )
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.unsubscribe(&request.uri);
        Ok(())
    }
}
