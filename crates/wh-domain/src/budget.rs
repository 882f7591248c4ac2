//! What a session may use, and what it has used.

/// How much may be used; what is absent is not limited here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub cost_micros: Option<u64>,
    pub wall_seconds: Option<u64>,
    pub turns: Option<u64>,
}

impl Budget {
    /// Returns the tighter of two budgets in every respect.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self {
            tokens: tighter(self.tokens, other.tokens),
            cost_micros: tighter(self.cost_micros, other.cost_micros),
            wall_seconds: tighter(self.wall_seconds, other.wall_seconds),
            turns: tighter(self.turns, other.turns),
        }
    }

    /// Tells whether `self` allows no more than `other` in any respect.
    pub fn is_within(self, other: Self) -> bool {
        self.intersect(other) == self
    }

    /// Returns what is left of it after `usage`.
    #[must_use]
    pub fn less(self, usage: Usage) -> Self {
        let left = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used));
        Self {
            tokens: left(self.tokens, usage.tokens()),
            cost_micros: left(self.cost_micros, usage.cost_micros),
            wall_seconds: left(self.wall_seconds, usage.wall_seconds),
            turns: left(self.turns, usage.turns),
        }
    }

    /// Returns the budget after a change.
    #[must_use]
    pub fn changed(self, by: BudgetPatch) -> Self {
        Self {
            tokens: by.tokens.unwrap_or(self.tokens),
            cost_micros: by.cost_micros.unwrap_or(self.cost_micros),
            wall_seconds: by.wall_seconds.unwrap_or(self.wall_seconds),
            turns: by.turns.unwrap_or(self.turns),
        }
    }

    /// Tells whether something of it is used up.
    pub fn is_spent(self) -> bool {
        self.used_up().is_some()
    }

    /// Says which part of what a session has left is used up.
    pub fn spent_words(self) -> Option<String> {
        let spent = self.used_up()?;
        Some(format!("the session's budget of {spent} is used up"))
    }

    /// Returns which part of it is used up.
    pub fn used_up(self) -> Option<&'static str> {
        let parts = [
            (self.tokens, "tokens"),
            (self.cost_micros, "money"),
            (self.wall_seconds, "time"),
            (self.turns, "turns"),
        ];
        let spent = parts.into_iter().find(|(left, _)| *left == Some(0));
        spent.map(|(_, what)| what)
    }
}

/// A change to a budget: limits that are absent stay, `Some(None)` removes a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetPatch {
    pub tokens: Option<Option<u64>>,
    pub cost_micros: Option<Option<u64>>,
    pub wall_seconds: Option<Option<u64>>,
    pub turns: Option<Option<u64>>,
}

impl BudgetPatch {
    /// Returns whether it changes nothing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the limits that it sets; those that it keeps or removes are absent.
    pub fn limits(self) -> Budget {
        Budget::default().changed(self)
    }

    /// Returns whether the patch exceeds no limit of `server`. Removing a limit that `server` has exceeds it.
    pub fn is_within(self, server: Budget) -> bool {
        server.changed(self).is_within(server)
    }

    /// Returns the change that sets every limit of `budget` and keeps the others.
    pub fn setting(budget: Budget) -> Self {
        Self {
            tokens: budget.tokens.map(Some),
            cost_micros: budget.cost_micros.map(Some),
            wall_seconds: budget.wall_seconds.map(Some),
            turns: budget.turns.map(Some),
        }
    }
}

fn tighter(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What was used, normalised over agents: `input_tokens` never includes cached ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a US dollar.
    pub cost_micros: u64,
    /// How much of the cost is an estimate: computed from tokens and a price list, because the agent reported no money.
    pub estimated_micros: u64,
    pub wall_seconds: u64,
    pub turns: u64,
}

impl Usage {
    /// Adds what one turn used.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            estimated_micros: self.estimated_micros.saturating_add(other.estimated_micros),
            wall_seconds: self.wall_seconds.saturating_add(other.wall_seconds),
            turns: self.turns.saturating_add(other.turns),
        }
    }

    /// Returns what was used after `earlier`, which is an earlier state of the same count.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_sub(earlier.input_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(earlier.cached_tokens),
            output_tokens: self.output_tokens.saturating_sub(earlier.output_tokens),
            cost_micros: self.cost_micros.saturating_sub(earlier.cost_micros),
            estimated_micros: self
                .estimated_micros
                .saturating_sub(earlier.estimated_micros),
            wall_seconds: self.wall_seconds.saturating_sub(earlier.wall_seconds),
            turns: self.turns.saturating_sub(earlier.turns),
        }
    }

    /// Returns what a turn used, with the cost that the agent reported for it or, if it reported none, an estimate.
    #[must_use]
    pub fn costing(self, reported_micros: u64, estimate_micros: u64) -> Self {
        let estimated_micros = match reported_micros {
            0 => estimate_micros,
            _ => 0,
        };
        Self {
            cost_micros: reported_micros.saturating_add(estimated_micros),
            estimated_micros,
            ..self
        }
    }

    /// Returns every token that counts against a budget.
    pub fn tokens(self) -> u64 {
        self.input_tokens
            .saturating_add(self.cached_tokens)
            .saturating_add(self.output_tokens)
    }
}
