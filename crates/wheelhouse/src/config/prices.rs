//! What the configuration file says about prices of models: `[prices."NAME"]`.

use std::collections::BTreeMap;

use serde::Deserialize;
use wh_domain::{Price, PriceRule};

/// The highest price: more than any model costs, and far from what a sum can hold.
const USD_MAX: f64 = 1_000_000.0;

/// One table: US dollars for a million tokens. Cached input costs as much as other input unless given.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePrice {
    input: f64,
    cached: Option<f64>,
    output: f64,
}

/// Reads every price, or returns the model whose price is wrong.
pub(super) fn read(prices: &BTreeMap<String, FilePrice>) -> Result<Vec<PriceRule>, String> {
    let rule = |(model, price): (&String, &FilePrice)| {
        let micros = |usd: f64| match (0.0..=USD_MAX).contains(&usd) {
            true => Ok((usd * 1e6).round() as u64),
            false => Err(format!(
                "`prices.{model:?}` must be from 0 to {USD_MAX} US dollars for a million tokens"
            )),
        };
        Ok(PriceRule {
            model: model.clone(),
            price: Price {
                input: micros(price.input)?,
                cached: micros(price.cached.unwrap_or(price.input))?,
                output: micros(price.output)?,
            },
        })
    };
    prices.iter().map(rule).collect()
}
