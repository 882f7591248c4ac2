//! Answers MCP requests in a contract's words.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, DiscoverResult, GetPromptRequestParams, GetPromptResponse,
        Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
};
use wh_app::{App, OpContext};
use wh_domain::{Operation, Principal, Surface};

use super::{
    Contract,
    hint::Terms,
    shape::Shown,
    tool::{Call, DialectTool},
};
use crate::{
    complete,
    error::Refused,
    handler::{
        LIST_TTL_MS, knows_structure, not_authenticated, principal, took_too_long, unknown_tool,
    },
    idempotency::{IDEMPOTENCY_ARGUMENT, IDEMPOTENCY_META, forwarded_mark, idempotency},
    prompts, resources,
    transport::PlainCalls,
};

/// Serves one contract. A clone shares everything.
#[derive(Clone)]
pub(crate) struct DialectHandler {
    app: Arc<App>,
    contract: &'static Contract,
    tools: Arc<Vec<DialectTool>>,
    version: &'static str,
    call_time_max: Duration,
}

impl DialectHandler {
    pub(crate) fn new(
        app: Arc<App>,
        contract: &'static Contract,
        version: &'static str,
        call_time_max: Duration,
    ) -> Self {
        Self {
            app,
            contract,
            tools: Arc::new((contract.tools)()),
            version,
            call_time_max,
        }
    }

    /// Returns the circumstances of a request that is not a call.
    fn context(&self, context: &RequestContext<RoleServer>) -> Result<OpContext, ErrorData> {
        Ok(self.app.context(principal(context)?.clone(), Surface::Mcp))
    }

    fn tool(&self, name: &str) -> Option<&DialectTool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Calls a tool and shows what came of it.
    async fn called(
        &self,
        tool: &DialectTool,
        principal: &Principal,
        arguments: JsonObject,
        version: Option<&ProtocolVersion>,
        parts: &Parts,
        mark: Option<&str>,
    ) -> CallToolResult {
        let cx = self.app.context(principal.clone(), Surface::Mcp);
        let cx = cx.within_tool(tool.name());
        let mark = mark.or_else(|| forwarded_mark(&parts.headers));
        let mut call = Call {
            app: Arc::clone(&self.app),
            cx: cx.clone(),
            query: query_of(parts),
        };
        let called = async {
            let mut arguments = arguments;
            call.cx.idempotency = idempotency(tool.name(), &arguments, mark)?;
            arguments.remove(IDEMPOTENCY_ARGUMENT);
            tool.call(call, arguments).await
        };
        let error = match tokio::time::timeout(self.call_time_max, called).await {
            Ok(Ok(written)) => {
                self.app.tool_called(&cx, tool.operation(), None).await;
                let shown = Shown {
                    knows_structure: knows_structure(version),
                    extensions: &parts.extensions,
                };
                return (self.contract.answer)(written, shown);
            }
            Ok(Err(error)) => error,
            Err(_) => took_too_long(self.call_time_max),
        };
        let operation = tool.operation();
        self.app.tool_called(&cx, operation, Some(&error)).await;
        let terms = Terms {
            tools: &self.tools,
            principal,
            called: Some(tool),
        };
        (self.contract.refusal)(terms.view(&error), knows_structure(version))
    }

    /// Shows a refusal of a request that is not a call in the terms of the contract.
    fn shown(&self, cx: &OpContext, refused: Refused) -> ErrorData {
        let terms = Terms {
            tools: &self.tools,
            principal: &cx.principal,
            called: None,
        };
        refused.into_data(|error| terms.view(error))
    }

    /// Puts the names of the contract's tools in place of ours in the text of a prompt, and says where a tool is that the contract has
    /// not.
    fn translated(&self, text: &str) -> String {
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(of_a_name) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|c| !of_a_name(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            told.push_str(before);
            told.push_str(word_of(&self.tools, word).as_deref().unwrap_or(word));
            rest = after;
        }
        told + rest
    }
}

/// Returns the parameters of the address. Messages of a line connection carry the address that it was opened with.
fn query_of(parts: &Parts) -> String {
    let address = parts.extensions.get().unwrap_or(&parts.uri);
    http::Uri::query(address).unwrap_or_default().to_owned()
}

/// Returns what to say in place of a word that names an operation of ours.
fn word_of(tools: &[DialectTool], word: &str) -> Option<String> {
    // Names of operations have two parts; a word that happens to be one, such as logout, is left alone.
    let operation = Operation::parse(word).filter(|_| word.contains('_'))?;
    let mut offered = tools.iter().filter(|tool| !tool.is_of_own_session());
    let theirs = offered.find(|tool| tool.operation() == operation);
    Some(theirs.map_or_else(|| format!("{word} at /mcp"), |tool| tool.name().to_owned()))
}

impl PlainCalls for DialectHandler {
    fn plain_call<'a>(
        &'a self,
        name: &str,
        arguments: JsonObject,
        parts: &'a Parts,
    ) -> Option<BoxFuture<'a, CallToolResult>> {
        let tool = self.tool(name)?;
        let principal = parts.extensions.get::<Principal>()?;
        let version = Some(&ProtocolVersion::V_2026_07_28);
        let called = self.called(tool, principal, arguments, version, parts, None);
        Some(Box::pin(called))
    }
}

impl ServerHandler for DialectHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let version = self.contract.server_version.unwrap_or(self.version);
        let implementation = Implementation::new(self.contract.server_name, version);
        let mut info = ServerConfig::new(capabilities).with_server_info(implementation);
        info.instructions = Some(self.contract.instructions.to_owned());
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let discovered = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(discovered.with_ttl_ms(LIST_TTL_MS))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let principal = principal(&context)?;
        let shown = self.tools.iter().filter(|tool| tool.is_listed(principal));
        let models = shown.map(|tool| tool.model().clone()).collect();
        let mut result = ListToolsResult::with_all_items(models);
        result.ttl_ms = Some(LIST_TTL_MS);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tool(&request.name) else {
            let told = self.contract.unknown_tool;
            let error = told.ok_or_else(|| unknown_tool(&request.name))?(&request.name);
            let knows_structure = knows_structure(context.protocol_version().as_ref());
            return Ok((self.contract.refusal)(error, knows_structure).into());
        };
        let parts = context.extensions.get::<Parts>();
        let parts = parts.ok_or_else(not_authenticated)?;
        let version = context.protocol_version();
        let mark = context.meta.get(IDEMPOTENCY_META);
        let mark = mark.and_then(serde_json::Value::as_str);
        let called = self.called(
            tool,
            principal(&context)?,
            request.arguments.unwrap_or_default(),
            version.as_ref(),
            parts,
            mark,
        );
        Ok(called.await.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let cx = self.context(&context)?;
        let listed = resources::list(&self.app, &cx, cursor);
        listed.await.map_err(|refused| self.shown(&cx, refused))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::templates();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let cx = self.context(&context)?;
        let read = resources::read(&self.app, &cx, &request.uri);
        let read = read.await.map_err(|refused| self.shown(&cx, refused));
        Ok(read?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let shown = prompts::list(principal(&context)?);
        Ok(ListPromptsResult::with_all_items(shown))
    }

    /// Returns a prompt that names the tools of the contract.
    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let cx = self.context(&context)?;
        let prompt = prompts::get(&self.app, &cx, &request.name, &arguments);
        let prompt = prompt.await.map_err(|refused| self.shown(&cx, refused));
        let mut prompt = prompt?;
        for message in &mut prompt.messages {
            if let ContentBlock::Text(text) = &mut message.content {
                text.text = self.translated(&text.text);
            }
        }
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let cx = self.context(&context)?;
        let completed = complete::complete(&self.app, &cx, &request);
        completed.await.map_err(|refused| self.shown(&cx, refused))
    }
}
