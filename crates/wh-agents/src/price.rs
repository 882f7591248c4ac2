//! List prices of models, for agents that report tokens and no money.

use wh_domain::{Price, PriceRule};

/// Model, and US dollars for a million tokens of input, cached input and output, times 1000. List prices as known at release, for
/// requests of usual length; whoever pays others configures them in `[prices]`.
const LIST: &[(&str, u64, u64, u64)] = &[
    // OpenAI
    ("gpt-5*", 1_250, 125, 10_000),
    ("gpt-5-mini*", 250, 25, 2_000),
    ("gpt-5-nano*", 50, 5, 400),
    ("gpt-5.4*", 2_500, 250, 15_000),
    ("gpt-5.4-mini*", 750, 75, 4_500),
    ("gpt-5.5*", 5_000, 500, 30_000),
    ("gpt-4.1*", 2_000, 500, 8_000),
    ("gpt-4o*", 2_500, 1_250, 10_000),
    ("o3*", 2_000, 500, 8_000),
    ("o4-mini*", 1_100, 275, 4_400),
    // Anthropic
    ("claude-fable-5*", 10_000, 1_000, 50_000),
    ("claude-opus-4*", 5_000, 500, 25_000),
    ("claude-opus-4-1*", 15_000, 1_500, 75_000),
    ("claude-opus-5*", 5_000, 500, 25_000),
    ("claude-sonnet-*", 3_000, 300, 15_000),
    ("claude-haiku-*", 1_000, 100, 5_000),
    // Google
    ("gemini-2.5-pro*", 1_250, 125, 10_000),
    ("gemini-2.5-flash*", 300, 30, 2_500),
    ("gemini-2.5-flash-lite*", 100, 10, 400),
    ("gemini-3*", 2_000, 200, 12_000),
    ("gemini-3-flash*", 500, 50, 3_000),
    ("gemini-3.1-flash-lite*", 250, 25, 1_500),
    // DeepSeek
    ("deepseek-v4-flash*", 140, 3, 280),
    // Built in
    ("echo-*", 0, 0, 0),
];

/// Returns the shipped prices.
pub fn shipped_prices() -> Vec<PriceRule> {
    let rule = |(model, input, cached, output): &(&str, u64, u64, u64)| PriceRule {
        model: (*model).to_owned(),
        price: Price {
            input: input * 1_000,
            cached: cached * 1_000,
            output: output * 1_000,
        },
    };
    LIST.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wh_domain::PriceList;

    #[test]
    fn the_more_exact_name_has_its_own_price() {
        let list = PriceList {
            shipped: shipped_prices(),
            ..PriceList::default()
        };
        for (model, input_micros) in [
            ("gpt-5-codex", 1_250_000),
            ("gpt-5-mini", 250_000),
            ("openai/gpt-5.5/high", 5_000_000),
            ("claude-opus-4-5", 5_000_000),
            ("claude-opus-4-1-20250805", 15_000_000),
            ("gemini-3-pro-preview", 2_000_000),
            ("echo-1", 0),
        ] {
            let found = list.find(model).map(|price| price.input);
            assert_eq!(found, Some(input_micros), "{model}");
        }
        assert_eq!(list.find("m1"), None);
    }
}
