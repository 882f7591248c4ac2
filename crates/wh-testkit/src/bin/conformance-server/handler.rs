//! Sends each request to the file that holds its fixtures.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
        CompleteResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        RequestStateCodec, ServerCapabilities, ServerConfig, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
        UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
    task_manager::TaskManager,
};

use crate::{ask, input_required, prompts, resources, tasks, tools};

/// How long clients may keep the lists; any value above zero satisfies the suite.
pub(crate) const CACHE_TTL_MS: u64 = 60_000;

/// The handler: the little state that some fixtures need.
#[derive(Clone)]
pub(crate) struct Fixtures {
    pub(crate) tasks: TaskManager,
    pub(crate) states: RequestStateCodec,
    listeners: Arc<Listeners>,
}

#[derive(Default)]
struct Listeners {
    sinks: Mutex<HashMap<u64, SubscriptionSink>>,
    next: AtomicU64,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self {
            tasks: TaskManager::new(),
            // Guards nothing of value, so it may be known.
            states: RequestStateCodec::new_unchecked(
                b"wheelhouse conformance fixtures: not a secret".as_slice(),
            ),
            listeners: Arc::default(),
        }
    }
}

impl Fixtures {
    /// Returns every open subscription.
    pub(crate) fn sinks(&self) -> Vec<SubscriptionSink> {
        self.listeners.lock().values().cloned().collect()
    }
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, SubscriptionSink>> {
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tasks()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(
                "wheelhouse-conformance",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_instructions("Fixtures of the MCP conformance suite.")
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        all_tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(all_tools())
            .with_ttl_ms(CACHE_TTL_MS)
            .with_cache_scope(rmcp::model::CacheScope::Public))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(answer) = tasks::call(self, &call, &context).await {
            return answer;
        }
        if let Some(answer) = input_required::call(self, &call, &context) {
            return answer;
        }
        if let Some(answer) = ask::call(&call, &context).await {
            return answer.map(Into::into);
        }
        tools::call(self, &call, &context).await.map(Into::into)
    }

    async fn get_task(
        &self,
        task: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&task.task_id)?))
    }

    async fn update_task(
        &self,
        task: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update_task(&task.task_id, task.input_responses)
    }

    async fn cancel_task(
        &self,
        task: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&task.task_id)
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        resource: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&resource.uri).map(Into::into)
    }

    async fn subscribe(
        &self,
        _resource: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _resource: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        prompt: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&prompt)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        prompts::complete(&request)
    }

    async fn set_level(
        &self,
        _level: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.listeners.next.fetch_add(1, Ordering::Relaxed);
        self.listeners
            .lock()
            .insert(key, subscription.sink().clone());
        subscription.cancelled().await;
        self.listeners.lock().remove(&key);
        Ok(())
    }
}

fn all_tools() -> Vec<Tool> {
    let mut tools = tools::list();
    tools.extend(ask::list());
    tools.extend(input_required::list());
    tools.extend(tasks::list());
    tools
}
