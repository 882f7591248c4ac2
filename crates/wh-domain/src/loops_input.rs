//! What callers ask of loops, and what they are told.

use crate::{
    AgentName, BranchName, Budget, Iteration, Loop, LoopIteration, LoopSpec, McpDialect, ModelName,
    Policy, PromptTemplate, Reference, Task, TaskInput, Title, Usage, WorktreeBase,
};

/// A loop to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopInput {
    pub spec: LoopSpec,
    pub agent: AgentName,
    /// Made of the specification unless given.
    pub title: Option<Title>,
    pub repo: Reference,
    /// One that exists is checked out; otherwise it is made. Named after the loop unless given.
    pub branch: Option<BranchName>,
    /// Where a new branch begins; at the repository's own head unless given.
    pub base: Option<WorktreeBase>,
    pub board: Option<Reference>,
    pub template: Option<PromptTemplate>,
    pub tasks: Vec<TaskInput>,
    pub iterations_max: u32,
    pub budget: Budget,
    pub policy: Policy,
    pub mode: Option<String>,
    pub model: Option<ModelName>,
    /// The tools that the agent is given; those that its repository or the agent is configured with unless given.
    pub mcp_dialect: Option<McpDialect>,
}

/// A loop and how its work stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDetail {
    pub of: Loop,
    pub branch: BranchName,
    /// How many tasks of each status there are, in the order of [`crate::TaskStatus::ALL`].
    pub counts: [u64; 5],
    /// What is being worked on.
    pub task: Option<Task>,
    /// What all iterations have used until now, the one under way included.
    pub usage: Usage,
    /// Whether the session that is at work waits for an answer.
    pub is_waiting: bool,
    /// The latest iterations, the last one first.
    pub iterations: Vec<LoopIteration>,
    /// What the latest of them said that they came to.
    pub summaries: Vec<Iteration>,
}
