//! Tools about agents.

use std::sync::Arc;

use wh_api::{AgentGetRequest, AgentListRequest, AgentListView, AgentView};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Agent;
    vec![
        Tool::new(
            set,
            Operation::AgentList,
            "Lists the agents on the server's machine: which can be run, their versions, what is missing.",
            agent_list,
        )
        .for_keys()
        .for_leads(),
        Tool::new(
            set,
            Operation::AgentGet,
            "Shows one agent and, if it cannot be run, how to install what is missing.",
            agent_get,
        ),
    ]
}

async fn agent_list(
    app: Arc<App>,
    cx: OpContext,
    _request: AgentListRequest,
) -> Result<AgentListView> {
    let agents = app.agent_list(&cx).await?;
    Ok(AgentListView {
        agents: agents.into_iter().map(AgentView::from).collect(),
    })
}

async fn agent_get(app: Arc<App>, cx: OpContext, request: AgentGetRequest) -> Result<AgentView> {
    let (agent, models) = app.agent_get(&cx, &request.agent()?).await?;
    Ok(AgentView::from(agent).with_models(&models))
}
