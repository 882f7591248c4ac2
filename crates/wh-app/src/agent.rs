//! Agents that can be run.

use wh_domain::{Agent, AgentName, Facts, OfferedModel, Operation, Reach};

use crate::{App, AppError, OpContext, Resource, Result, context::facts};

impl App {
    /// Lists every agent, also those that something is missing for.
    pub async fn agent_list(&self, cx: &OpContext) -> Result<Vec<Agent>> {
        let operation = Operation::AgentList;
        self.read(cx, operation, Facts::new(), async {
            cx.authorize(operation)?;
            let agents = self.agents.list().await;
            Ok(agents.into_iter().map(|it| as_seen(cx, it)).collect())
        })
        .await
    }

    /// Returns one agent, the models that it offered last and, if it cannot be run, what is missing.
    pub async fn agent_get(
        &self,
        cx: &OpContext,
        name: &AgentName,
    ) -> Result<(Agent, Vec<OfferedModel>)> {
        let operation = Operation::AgentGet;
        self.read(cx, operation, facts([("agent", name.as_str())]), async {
            cx.authorize(operation)?;
            let agent = self.agents.get(name).await;
            let agent = agent.ok_or_else(|| AppError::not_found(Resource::Agent))?;
            let models = self.store.agent_models(name).await?;
            Ok((as_seen(cx, agent), models))
        })
        .await
    }
}

/// Returns an agent as the caller may see it: how it is started concerns administrators, and none of their agents.
fn as_seen(cx: &OpContext, agent: Agent) -> Agent {
    match cx.principal.reach() {
        Reach::All => agent,
        _ => agent.without_command(),
    }
}
