//! Agents.

use wh_api::{AgentGetRequest, AgentListRequest, AgentListView, AgentView};
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/agents",
            Operation::AgentList,
            "Lists the agents on the server's machine",
            |server, cx, _: AgentListRequest| async move {
                let agents = server.app.agent_list(&cx).await?;
                Ok(AgentListView {
                    agents: agents.into_iter().map(AgentView::from).collect(),
                })
            },
        ),
        get(
            "/agents/{agent}",
            Operation::AgentGet,
            "Shows an agent and what is missing for it",
            |server, cx, request: AgentGetRequest| async move {
                let (agent, models) = server.app.agent_get(&cx, &request.agent()?).await?;
                Ok(AgentView::from(agent).with_models(&models))
            },
        ),
    ]
}
