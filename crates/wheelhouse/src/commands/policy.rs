//! Flags that say what an agent may do without asking.

use clap::Args;
use wh_api::PolicyInput;
use wh_domain::{Policy, PolicyWord};

use crate::exit::{CliError, CliResult};

/// What an agent may do, by kinds of actions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Permissions")]
pub(super) struct PolicyArgs {
    /// Allow these actions without asking: all, read, search, edit, move, delete, execute, fetch, think, switch_mode or other; KIND:PATH
    /// allows one below a path only
    #[arg(long, value_name = "KIND[:PATH]", value_delimiter = ',')]
    allow: Vec<PolicyWord>,
    /// Ask about these actions; whatever is neither allowed nor denied is asked about too
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    ask: Vec<PolicyWord>,
    /// Deny these actions without asking; a denial wins over an allowance
    #[arg(long, value_name = "KIND[:PATH]", value_delimiter = ',')]
    deny: Vec<PolicyWord>,
}

impl PolicyArgs {
    /// Returns the policy, if a flag describes one.
    pub(super) fn input(&self) -> CliResult<Option<PolicyInput>> {
        if self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty() {
            return Ok(None);
        }
        let policy = Policy::from_words(&self.allow, &self.ask, &self.deny)
            .map_err(|refusal| CliError::usage(refusal.to_string()))?;
        Ok(Some(PolicyInput::from(&policy)))
    }
}
