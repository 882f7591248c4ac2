//! The values that the server was started with.

use serde_json::Value;
use wh_domain::{Facts, Operation};

use crate::{App, OpContext, Result};

/// A value that was read when the server started, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct StartValue {
    pub key: String,
    /// A secret is only said to be there.
    pub value: Value,
    pub source: String,
    pub about: String,
}

impl App {
    /// Returns every value that the server was started with.
    pub async fn server_config_get(&self, cx: &OpContext) -> Result<Vec<StartValue>> {
        let operation = Operation::ServerConfigGet;
        self.read(cx, operation, Facts::new(), async {
            cx.authorize(operation)?;
            Ok(self.start_values.clone())
        })
        .await
    }
}
