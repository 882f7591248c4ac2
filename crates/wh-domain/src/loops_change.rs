//! Changes that people make to loops: pause, stop, and resume with or without new limits.

use std::fmt;

use crate::{
    Budget, BudgetPatch, Loop, LoopOutcome, LoopState, LoopWish, Principal, Usage, UserRole,
};

/// New limits for a loop; what is absent stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopTerms {
    pub budget: BudgetPatch,
    pub iterations_max: Option<u32>,
}

impl LoopTerms {
    /// Returns whether it changes nothing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Checks that the caller may set these limits: no agent may, and a member only up to the limits of the server.
    pub fn check_set_by(self, caller: &Principal, server: Budget) -> Result<(), LoopRefusal> {
        if self.is_empty() {
            return Ok(());
        }
        if caller.credential.session().is_some() {
            return Err(LoopRefusal::ByAgent);
        }
        match caller.role == UserRole::Admin || self.budget.is_within(server) {
            true => Ok(()),
            false => Err(LoopRefusal::AboveServer),
        }
    }
}

/// A limit of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopLimit {
    Tokens,
    Money,
    Time,
    Turns,
    Iterations,
}

impl LoopLimit {
    /// Every limit.
    pub const ALL: [Self; 5] = [
        Self::Tokens,
        Self::Money,
        Self::Time,
        Self::Turns,
        Self::Iterations,
    ];

    /// Returns the limit of a loop; `None` if it has none.
    pub fn of(self, it: &Loop) -> Option<u64> {
        match self {
            Self::Tokens => it.budget.tokens,
            Self::Money => it.budget.cost_micros,
            Self::Time => it.budget.wall_seconds,
            Self::Turns => it.budget.turns,
            Self::Iterations => Some(it.iterations_max.into()),
        }
    }

    fn used(self, usage: Usage, iterations: u32) -> u64 {
        match self {
            Self::Tokens => usage.tokens(),
            Self::Money => usage.cost_micros,
            Self::Time => usage.wall_seconds,
            Self::Turns => usage.turns,
            Self::Iterations => iterations.into(),
        }
    }

    /// Returns the name of what it limits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
            Self::Turns => "turns",
            Self::Iterations => "iterations",
        }
    }

    /// Returns an amount with its unit.
    pub fn words(self, amount: u64) -> String {
        match self {
            Self::Tokens => format!("{amount} tokens"),
            Self::Money => format!("${:.2}", amount as f64 / 1e6),
            Self::Time => format!("{amount} seconds"),
            Self::Turns => format!("{amount} turns"),
            Self::Iterations => format!("{amount} iterations"),
        }
    }
}

/// A limit that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpentLimit {
    pub limit: LoopLimit,
    pub max: u64,
    pub used: u64,
}

impl fmt::Display for SpentLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = match self.limit {
            LoopLimit::Money => self.limit.words(self.used),
            _ => self.used.to_string(),
        };
        write!(f, "{used} of at most {}", self.limit.words(self.max))
    }
}

/// Why a loop cannot be paused or resumed, or not with these limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoopRefusal {
    #[error("agents cannot change the limits of a loop")]
    ByAgent,
    #[error("the loop's budget exceeds the server's limits for a session")]
    AboveServer,
    #[error("the loop has ended: {}", .outcome.reason())]
    Ended { outcome: LoopOutcome },
    #[error(
        "the loop is {}; its limits can be changed when it is paused or has ended",
        .state
    )]
    AtWork { state: &'static str },
    #[error("the loop cannot continue: it has used {}", list(.spent))]
    NoRoom { spent: Vec<SpentLimit> },
    #[error("the {part} budget of the session that started the loop is used up")]
    StarterSpent { part: &'static str },
}

fn list(spent: &[SpentLimit]) -> String {
    let spent: Vec<_> = spent.iter().map(SpentLimit::to_string).collect();
    spent.join(", ")
}

impl Loop {
    /// Returns the loop after somebody asked to pause or stop it; `None` if that changes nothing.
    pub fn paused_or_stopped(&self, wish: LoopWish) -> Result<Option<Self>, LoopRefusal> {
        match (&self.state, wish) {
            (LoopState::Ended { .. }, LoopWish::Stop)
            | (LoopState::Paused { .. }, LoopWish::Pause) => Ok(None),
            (LoopState::Ended { outcome, .. }, _) => Err(LoopRefusal::Ended {
                outcome: outcome.clone(),
            }),
            _ => {
                let wished = Self {
                    wish,
                    ..self.clone()
                };
                Ok((wished != *self).then_some(wished))
            }
        }
    }

    /// Returns the loop after it was resumed with these limits; `None` if that changes nothing. `above` is what is left of the budget
    /// of the session that started it. A loop that has ended can be resumed if it ended because a limit was reached, and like one that is
    /// paused only if its limits leave room for another iteration.
    pub fn resumed(&self, terms: LoopTerms, above: Budget) -> Result<Option<Self>, LoopRefusal> {
        let mut after = Self {
            wish: LoopWish::Run,
            budget: self.budget.changed(terms.budget),
            iterations_max: terms.iterations_max.unwrap_or(self.iterations_max),
            ..self.clone()
        };
        let last = match &self.state {
            LoopState::Beginning { .. } | LoopState::Running { .. } => {
                if !after.changed_limits(self).is_empty() {
                    let state = self.state.name();
                    return Err(LoopRefusal::AtWork { state });
                }
                return Ok((after != *self).then_some(after));
            }
            LoopState::Paused { after } => *after,
            LoopState::Ended { after, outcome } => match outcome {
                LoopOutcome::Budget { .. } | LoopOutcome::Limit => *after,
                LoopOutcome::Completed
                | LoopOutcome::Stalled
                | LoopOutcome::Stopped
                | LoopOutcome::Failed { .. } => {
                    let outcome = outcome.clone();
                    return Err(LoopRefusal::Ended { outcome });
                }
            },
        };
        let spent = after.spent_limits(last);
        if !spent.is_empty() {
            return Err(LoopRefusal::NoRoom { spent });
        }
        if let Some(part) = above.used_up() {
            return Err(LoopRefusal::StarterSpent { part });
        }
        after.state = LoopState::Beginning {
            iteration: last + 1,
        };
        after.idle = 0;
        Ok(Some(after))
    }

    /// Returns the limits that leave no room for an iteration after the one of this number.
    fn spent_limits(&self, last: u32) -> Vec<SpentLimit> {
        let spent = |limit: LoopLimit| {
            let (max, used) = (limit.of(self)?, limit.used(self.usage, last));
            (used >= max).then_some(SpentLimit { limit, max, used })
        };
        LoopLimit::ALL.into_iter().filter_map(spent).collect()
    }

    /// Returns the limits in which it differs from an earlier state of itself.
    pub fn changed_limits(&self, before: &Self) -> Vec<LoopLimit> {
        let differs = |limit: &LoopLimit| limit.of(self) != limit.of(before);
        LoopLimit::ALL.into_iter().filter(differs).collect()
    }
}

#[cfg(test)]
#[path = "loops_change_tests.rs"]
mod tests;
