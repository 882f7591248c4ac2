//! Agents that can be run.

use wh_domain::{Agent, AgentName, Facts, Operation};

use crate::{App, AppError, OpContext, Result, context::facts};

impl App {
    /// Lists every agent, also those that something is missing for.
    pub async fn agent_list(&self, cx: &OpContext) -> Result<Vec<Agent>> {
        let operation = Operation::AgentList;
        self.read(cx, operation, Facts::new(), async {
            cx.authorize(operation)?;
            Ok(self.agents.list().await)
        })
        .await
    }

    /// Returns one agent and, if it cannot be run, what is missing.
    pub async fn agent_get(&self, cx: &OpContext, name: &AgentName) -> Result<Agent> {
        let operation = Operation::AgentGet;
        self.read(cx, operation, facts([("agent", name.as_str())]), async {
            cx.authorize(operation)?;
            let agent = self.agents.get(name).await;
            agent.ok_or_else(|| AppError::not_found("agent"))
        })
        .await
    }
}
