//! The catalogue of tools: what each is called, takes, returns and does, and who is shown it.

mod admin;
mod agent;
mod approval;
mod board;
mod discovery;
mod host_credential;
mod loops;
mod message;
mod repo;
mod run;
mod session;
mod session_life;
mod task;
mod usage;
mod webhook;
mod worktree;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    future::Future,
    sync::{Arc, LazyLock},
};

use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as ToolModel, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use wh_app::{App, AppError, OpContext, RequestReason, Result, ServerReason};
use wh_domain::{Credential, Effect, Operation, Principal, SessionRole};

pub(crate) use self::session_life::prompt_of;
use crate::{
    schema::{answer_schema_of, schema_of},
    summary::Summary,
    toolset::{Toolset, Toolsets},
};

/// What a tool call came to: data, and one line about it.
pub(crate) struct Answer {
    pub(crate) line: String,
    /// JSON.
    pub(crate) data: String,
}

type Handler = Box<
    dyn Fn(Arc<App>, OpContext, JsonObject) -> BoxFuture<'static, Result<Answer>> + Send + Sync,
>;

/// One tool.
pub(crate) struct Tool {
    /// The operation it translates; the discovery tools have none.
    operation: Option<Operation>,
    set: Toolset,
    /// Whether people's and programs' keys are shown it by default.
    common_for_keys: bool,
    /// Whether agents' session tokens are shown it by default.
    common_for_sessions: bool,
    /// Whether sessions that lead are shown it by default, besides what all sessions are shown.
    common_for_leads: bool,
    /// Whether the agents of loops, which do nothing else, are shown it by default.
    common_for_workers: bool,
    model: ToolModel,
    /// The definition for agents, if it has fewer fields.
    model_for_agents: Option<ToolModel>,
    handler: Handler,
}

impl Tool {
    /// Defines a tool that translates `operation`.
    fn new<Req, Res, Fut>(
        set: Toolset,
        operation: Operation,
        description: &'static str,
        handler: fn(Arc<App>, OpContext, Req) -> Fut,
    ) -> Self
    where
        Req: DeserializeOwned + JsonSchema + 'static,
        Res: Serialize + JsonSchema + Summary + 'static,
        Fut: Future<Output = Result<Res>> + Send + 'static,
    {
        let model = ToolModel::new(operation.name(), description, schema_of::<Req>())
            .with_raw_output_schema(answer_schema_of::<Res>())
            .with_annotations(annotations(operation.rule().effect));
        Self {
            operation: Some(operation),
            set,
            common_for_keys: false,
            common_for_sessions: false,
            common_for_leads: false,
            common_for_workers: false,
            model,
            model_for_agents: None,
            handler: Box::new(
                move |app, cx, arguments| match read_arguments::<Req>(arguments) {
                    Ok(request) => Box::pin(answer(handler(app, cx, request))),
                    Err(error) => Box::pin(std::future::ready(Err(error))),
                },
            ),
        }
    }

    /// Leaves a field out of what is shown; it is taken all the same.
    fn unlisted(mut self, field: &str) -> Self {
        remove_field(&mut self.model, field);
        self
    }

    /// Leaves out of what agents are shown what they may not use: a field, which is refused with a reason if it is given.
    fn unlisted_for_agents(mut self, field: &str) -> Self {
        let model = self
            .model_for_agents
            .get_or_insert_with(|| self.model.clone());
        remove_field(model, field);
        self
    }

    /// Shows the tool to keys by default.
    fn for_keys(mut self) -> Self {
        self.common_for_keys = true;
        self
    }

    /// Shows the tool to session tokens by default.
    fn for_sessions(mut self) -> Self {
        self.common_for_sessions = true;
        self
    }

    /// Shows the tool to sessions that lead by default.
    fn for_leads(mut self) -> Self {
        self.common_for_leads = true;
        self
    }

    /// Shows the tool to the agents of loops by default.
    fn for_workers(mut self) -> Self {
        self.common_for_workers = true;
        self
    }

    /// Returns the name.
    pub(crate) fn name(&self) -> &str {
        &self.model.name
    }

    /// Returns the operation it translates, if there is one.
    pub(crate) fn operation(&self) -> Option<Operation> {
        self.operation
    }

    /// Returns the definition that clients see.
    pub(crate) fn model(&self) -> &ToolModel {
        &self.model
    }

    /// Returns the definition that `principal` is shown.
    pub(crate) fn model_for(&self, principal: &Principal) -> &ToolModel {
        let for_agents = self.model_for_agents.as_ref();
        let is_agent = principal.credential.session().is_some();
        for_agents.filter(|_| is_agent).unwrap_or(&self.model)
    }

    /// Tells whether `principal` could call it at all.
    pub(crate) fn is_allowed(&self, principal: &Principal) -> bool {
        self.operation
            .is_none_or(|operation| principal.authorize(operation).is_ok())
    }

    fn is_common(&self, principal: &Principal) -> bool {
        match &principal.credential {
            Credential::Session { role, .. } if *role == SessionRole::Worker => {
                self.common_for_workers
            }
            Credential::Session { .. } if principal.leads() => {
                self.common_for_sessions || self.common_for_leads
            }
            Credential::Session { .. } => self.common_for_sessions,
            _ => self.common_for_keys,
        }
    }

    /// Calls the tool.
    pub(crate) async fn call(
        &self,
        app: Arc<App>,
        cx: OpContext,
        arguments: JsonObject,
    ) -> Result<Answer> {
        let result = (self.handler)(Arc::clone(&app), cx.clone(), arguments).await;
        if let Err(error) = &result {
            self.record_refusal(&app, &cx, error).await;
        }
        result
    }

    /// Records a call that was refused before its operation began.
    pub(crate) async fn record_refusal(&self, app: &App, cx: &OpContext, error: &AppError) {
        if let Some(operation) = self.operation {
            app.record_refusal(cx, operation, error.code(), &error.to_string())
                .await;
        }
    }
}

fn remove_field(model: &mut ToolModel, field: &str) {
    let mut schema = (*model.input_schema).clone();
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.remove(field);
    }
    model.input_schema = Arc::new(schema);
}

async fn answer<Res: Serialize + Summary>(
    work: impl Future<Output = Result<Res>>,
) -> Result<Answer> {
    let view = work.await?;
    Ok(Answer {
        line: view.summary(),
        data: json(&view)?,
    })
}

fn json(view: &impl Serialize) -> Result<String> {
    serde_json::to_string(view)
        .map_err(|error| AppError::from(ServerReason::Defect).caused_by(error))
}

/// Reads a tool's arguments; a mistake is told in words that help to mend it.
pub(crate) fn read_arguments<Req: DeserializeOwned>(arguments: JsonObject) -> Result<Req> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let place = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!("{path}: "),
        };
        let problem = format!("{place}{}", error.inner());
        RequestReason::Arguments { problem }.into()
    })
}

pub(crate) fn annotations(effect: Effect) -> ToolAnnotations {
    let closed = ToolAnnotations::new().open_world(false);
    match effect {
        Effect::Read => closed.read_only(true),
        Effect::Write => closed.read_only(false).destructive(false).idempotent(false),
        Effect::Set => closed.read_only(false).destructive(false).idempotent(true),
        Effect::Destroy => closed.read_only(false).destructive(true).idempotent(true),
    }
}

/// Every tool, by name: the order of every list, the same on every call.
pub(crate) static CATALOGUE: LazyLock<BTreeMap<Cow<'static, str>, Tool>> = LazyLock::new(|| {
    let groups = [
        session::tools(),
        session_life::tools(),
        approval::tools(),
        board::tools(),
        repo::tools(),
        worktree::tools(),
        agent::tools(),
        message::tools(),
        task::tools(),
        loops::tools(),
        admin::tools(),
        run::tools(),
        usage::tools(),
        webhook::tools(),
        host_credential::tools(),
        discovery::tools(),
    ];
    let tools = groups.into_iter().flatten();
    tools.map(|tool| (tool.model.name.clone(), tool)).collect()
});

/// Returns the tools that `principal` is shown.
pub(crate) fn shown<'a>(
    principal: &'a Principal,
    toolsets: &'a Toolsets,
) -> impl Iterator<Item = &'static Tool> + 'a {
    CATALOGUE.values().filter(move |tool| {
        tool.is_allowed(principal) && toolsets.show(tool.set, tool.is_common(principal))
    })
}

/// Returns the names of all tools, in the order of lists.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    CATALOGUE.values().map(Tool::name)
}

#[cfg(test)]
mod tests;
