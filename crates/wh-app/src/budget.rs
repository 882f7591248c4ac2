//! Budgets that settings give: of every session, and of all sessions of a user in a day.

use wh_domain::{Budget, BudgetPatch, Facts, SettingKey, UserId};
use wh_store::SessionWork;

use crate::{App, Result, SessionReason};

impl App {
    /// Returns what a session may use unless less is asked for.
    pub(crate) async fn budget_default(&self) -> Result<Budget> {
        self.budget_of([
            SettingKey::BudgetSessionTokens,
            SettingKey::BudgetSessionCostMicros,
            SettingKey::BudgetSessionWallSeconds,
            SettingKey::BudgetSessionTurns,
        ])
        .await
    }

    /// Returns what all sessions of a user together may use in a day.
    async fn budget_of_day(&self) -> Result<Budget> {
        self.budget_of([
            SettingKey::BudgetUserDayTokens,
            SettingKey::BudgetUserDayCostMicros,
            SettingKey::BudgetUserDayWallSeconds,
            SettingKey::BudgetUserDayTurns,
        ])
        .await
    }

    async fn budget_of(&self, [tokens, cost, seconds, turns]: [SettingKey; 4]) -> Result<Budget> {
        let settings = self.settings().await?;
        let limit = |key| {
            let found = settings.iter().find(|setting| setting.key == key)?;
            u64::try_from(found.value.0?).ok()
        };
        Ok(Budget {
            tokens: limit(tokens),
            cost_micros: limit(cost),
            wall_seconds: limit(seconds),
            turns: limit(turns),
        })
    }

    /// Returns why a session must not go on: its budget, one above it, or its owner's budget of today is used up.
    pub(crate) async fn spent(&self, work: &SessionWork) -> Result<Option<String>> {
        match work.budget_left.spent_words() {
            Some(reason) => Ok(Some(reason)),
            None => {
                let spent = self.spent_today(work.session.owner.user).await?;
                Ok(spent.map(|reason| reason.to_string()))
            }
        }
    }

    /// Returns the refusal if a part of a user's budget of today is used up.
    pub(crate) async fn spent_today(&self, user: UserId) -> Result<Option<SessionReason>> {
        let budget = self.budget_of_day().await?;
        if budget == Budget::default() {
            return Ok(None);
        }
        let used = self.store.usage_of_day(user, self.clock.now()).await?;
        let part = budget.less(used).used_up();
        Ok(part.map(|part| SessionReason::DayBudgetSpent { part }))
    }

    /// Returns whether money is limited for a session, by its budget, one above it, or its owner's day.
    pub(crate) async fn is_money_limited(&self, work: &SessionWork) -> Result<bool> {
        let own = work.budget_left.cost_micros.is_some();
        Ok(own || self.budget_of_day().await?.cost_micros.is_some())
    }

    /// Refuses more work for a user whose budget of today is used up.
    pub(crate) async fn refuse_spent_day(&self, user: UserId) -> Result<()> {
        match self.spent_today(user).await? {
            Some(reason) => Err(reason.into()),
            None => Ok(()),
        }
    }
}

/// Returns the limits that a change sets or removes, for the audit log.
pub(crate) fn budget_facts(patch: BudgetPatch) -> Facts {
    let limits = [
        ("budget_tokens", patch.tokens),
        ("budget_cost_micros", patch.cost_micros),
        ("budget_wall_seconds", patch.wall_seconds),
        ("budget_turns", patch.turns),
    ];
    let shown = |limit: Option<u64>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    let limits = limits
        .into_iter()
        .filter_map(|(name, limit)| Some((name.to_owned(), shown(limit?))));
    limits.collect()
}
