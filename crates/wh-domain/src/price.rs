//! Prices of models, for agents that report tokens and no money.

use crate::Usage;

/// What a million tokens of a model cost, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    pub input: u64,
    /// Input that the provider had cached.
    pub cached: u64,
    pub output: u64,
}

impl Price {
    /// Returns what the tokens of `usage` cost, rounded up.
    pub fn estimate(self, usage: Usage) -> u64 {
        let parts = [
            (usage.input_tokens, self.input),
            (usage.cached_tokens, self.cached),
            (usage.output_tokens, self.output),
        ];
        let parts = parts.map(|(tokens, price)| u128::from(tokens) * u128::from(price));
        let sum: u128 = parts.iter().sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// Returns the higher price in every respect.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            cached: self.cached.max(other.cached),
            output: self.output.max(other.output),
        }
    }
}

/// The price of the models whose names match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceRule {
    /// A model's name, or the beginning of names with `*` behind it.
    pub model: String,
    pub price: Price,
}

impl PriceRule {
    /// Returns how many characters of a model's name the rule fixes, if it matches.
    fn matched(&self, model: &str) -> Option<usize> {
        match self.model.strip_suffix('*') {
            Some(start) => model.starts_with(start).then_some(start.len()),
            None => (self.model == model).then_some(usize::MAX),
        }
    }
}

/// Prices by model. Configured rules are looked at before those that are shipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceList {
    pub configured: Vec<PriceRule>,
    pub shipped: Vec<PriceRule>,
}

impl PriceList {
    /// Returns the price of a model: that of the rule that fixes most of its name.
    ///
    /// Providers before the name (`openrouter/openai/gpt-5`) are left out when no rule names them.
    pub fn find(&self, model: &str) -> Option<Price> {
        let found = |model: &str| {
            let best = |rules: &[PriceRule]| {
                let matches = rules
                    .iter()
                    .filter_map(|rule| Some((rule.matched(model)?, rule)));
                matches
                    .max_by_key(|(length, _)| *length)
                    .map(|(_, rule)| rule.price)
            };
            best(&self.configured).or_else(|| best(&self.shipped))
        };
        let mut names = std::iter::successors(Some(model), |name| Some(name.split_once('/')?.1));
        names.find_map(found)
    }

    /// Returns what a turn cost by these prices. A model that has no price costs nothing, unless money is limited: then it counts
    /// as the most expensive one, so that a limit holds.
    pub fn estimate(&self, model: Option<&str>, usage: Usage, is_limited: bool) -> u64 {
        let known = model.and_then(|model| self.find(model));
        let price = known.or_else(|| self.highest().filter(|_| is_limited));
        price.map_or(0, |price| price.estimate(usage))
    }

    fn highest(&self) -> Option<Price> {
        let rules = self.configured.iter().chain(&self.shipped);
        rules.map(|rule| rule.price).reduce(Price::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(model: &str, input: u64) -> PriceRule {
        PriceRule {
            model: model.to_owned(),
            price: Price {
                input,
                cached: 1,
                output: 10,
            },
        }
    }

    fn list() -> PriceList {
        PriceList {
            configured: vec![rule("gpt-5-codex", 7)],
            shipped: vec![rule("gpt-*", 1), rule("gpt-5*", 2), rule("gpt-5-codex", 3)],
        }
    }

    #[test]
    fn the_rule_that_fixes_most_of_a_name_wins_and_configured_ones_come_first() {
        for (model, input) in [
            ("gpt-4o", Some(1)),
            ("gpt-5", Some(2)),
            ("gpt-5-mini", Some(2)),
            ("gpt-5-codex", Some(7)),
            ("openai/gpt-5", Some(2)),
            ("llama", None),
            ("", None),
        ] {
            assert_eq!(
                list().find(model).map(|price| price.input),
                input,
                "{model}"
            );
        }
    }

    #[test]
    fn an_unknown_model_is_the_most_expensive_one_only_where_money_is_limited() {
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            ..Usage::default()
        };
        assert_eq!(list().estimate(Some("gpt-5"), usage, true), 2 + 1);
        assert_eq!(list().estimate(Some("llama"), usage, false), 0);
        assert_eq!(list().estimate(Some("llama"), usage, true), 7 + 1);
        assert_eq!(list().estimate(None, usage, true), 7 + 1);
        assert_eq!(PriceList::default().estimate(None, usage, true), 0);
    }

    #[test]
    fn estimates_round_up_and_do_not_overflow() {
        let price = rule("x", u64::MAX).price;
        let usage = |tokens| Usage {
            input_tokens: tokens,
            ..Usage::default()
        };
        assert_eq!(price.estimate(usage(u64::MAX)), u64::MAX);
        assert_eq!(rule("x", 1).price.estimate(usage(1)), 1);
        assert_eq!(rule("x", 1).price.estimate(usage(0)), 0);
    }
}
