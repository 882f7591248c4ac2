//! One tool of a contract: its name and parameters, and the operation that it translates.

use std::{future::Future, sync::Arc};

use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool as ToolModel};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use wh_api::{NumberOrId, PageQuery};
use wh_app::{App, AppError, OpContext, Result, ServerReason};
use wh_domain::{InputRefusal, ModelName, Operation, PageLimit, Principal, Reference};

use crate::{
    schema::schema_of,
    tools::{annotations, read_arguments},
};

/// One call: who makes it, and at which address.
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) cx: OpContext,
    /// The query of the address that was called.
    pub(crate) query: String,
}

impl Call {
    /// Returns a parameter of the address, by which whoever configures a client says what its contract has no words for.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|it| it.split_once('='));
        let mut values = pairs.filter(|(key, _)| *key == name);
        values.next().map(|(_, value)| value)
    }

    /// Returns the `model` parameter of the URL, the model of new sessions.
    pub(crate) fn model(&self) -> Result<Option<ModelName>> {
        let named = self.text_parameter("model");
        let model = named.as_deref().map(ModelName::parse).transpose();
        field("model", model)
    }

    /// Returns the session that the address names: that of a caller whose key is not bound to one, such as a bridge in the terminal of a
    /// session.
    pub(crate) fn session_of_address(&self) -> Result<Option<Reference>> {
        if self.cx.principal.credential.session().is_some() {
            return Ok(None);
        }
        let named = self.text_parameter("sessionId");
        named
            .map(|named| reference("sessionId", &named))
            .transpose()
    }

    /// Returns a parameter of the address that may hold any text.
    pub(crate) fn text_parameter(&self, name: &str) -> Option<String> {
        self.parameter(name).map(decoded)
    }
}

/// What a call came to.
pub(crate) struct Reply<T> {
    pub(crate) view: T,
    /// What the contract's answer has no place for, such as that it is not all.
    pub(crate) note: Option<String>,
}

impl<T> From<T> for Reply<T> {
    fn from(view: T) -> Self {
        Self { view, note: None }
    }
}

/// A reply as JSON.
pub(crate) struct Written {
    pub(crate) json: String,
    pub(crate) note: Option<String>,
}

type Handler = Box<dyn Fn(Call, JsonObject) -> BoxFuture<'static, Result<Written>> + Send + Sync>;

/// One tool of a contract.
pub(crate) struct DialectTool {
    name: &'static str,
    operation: Operation,
    of_own_session: bool,
    is_alias: bool,
    model: ToolModel,
    handler: Handler,
}

impl DialectTool {
    /// Defines a tool that translates `operation`.
    pub(crate) fn new<Req, Res, Fut>(
        name: &'static str,
        operation: Operation,
        description: &'static str,
        handler: fn(Call, Req) -> Fut,
    ) -> Self
    where
        Req: DeserializeOwned + JsonSchema + 'static,
        Res: Serialize + 'static,
        Fut: Future<Output = Result<Reply<Res>>> + Send + 'static,
    {
        let model = ToolModel::new(name, description, schema_of::<Req>())
            .with_annotations(annotations(operation.rule().effect));
        Self {
            name,
            operation,
            of_own_session: false,
            is_alias: false,
            model,
            handler: Box::new(
                move |call, arguments| match read_arguments::<Req>(arguments) {
                    Ok(request) => Box::pin(written(handler(call, request))),
                    Err(error) => Box::pin(std::future::ready(Err(error))),
                },
            ),
        }
    }

    /// Offers the tool to credentials that are bound to a session, and to nobody else.
    pub(crate) fn of_own_session(mut self) -> Self {
        self.of_own_session = true;
        self
    }

    /// Takes calls without being listed: another name of what a tool does that is.
    pub(crate) fn alias(mut self) -> Self {
        self.is_alias = true;
        self
    }

    /// Tells whether `principal` finds it in the list of tools.
    pub(crate) fn is_listed(&self, principal: &Principal) -> bool {
        !self.is_alias && self.is_shown(principal)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn is_of_own_session(&self) -> bool {
        self.of_own_session
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    pub(crate) fn model(&self) -> &ToolModel {
        &self.model
    }

    /// Returns its parameter for an argument of ours: `boardId` for `board`, or one of the same name.
    pub(crate) fn parameter(&self, argument: &str) -> Option<&str> {
        let parameters = self.model.input_schema.get("properties")?.as_object()?;
        let fits = |parameter: &&String| {
            let name = parameter.strip_suffix("Id").unwrap_or(parameter);
            argument == *parameter || argument == name
        };
        parameters.keys().find(fits).map(String::as_str)
    }

    /// Tells whether `principal` is shown it: only what it could call.
    pub(crate) fn is_shown(&self, principal: &Principal) -> bool {
        let is_bound = principal.credential.session().is_some();
        principal.authorize(self.operation).is_ok() && (is_bound || !self.of_own_session)
    }

    pub(crate) async fn call(&self, call: Call, arguments: JsonObject) -> Result<Written> {
        (self.handler)(call, arguments).await
    }
}

/// Takes the escapes of an address out of a text.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads what a field of this name refers to.
pub(crate) fn reference(name: &str, text: &str) -> Result<Reference> {
    field(name, Reference::parse(text))
}

/// Returns a request for the largest page after a cursor.
pub(crate) fn largest_page(cursor: Option<&NumberOrId>) -> PageQuery {
    let given = cursor.filter(|it| !it.as_str().trim().is_empty());
    PageQuery::new(Some(PageLimit::MAX.get()), given)
}

/// Returns the note that tells how to read the next page.
pub(crate) fn more(
    shown: usize,
    total: Option<u64>,
    next: Option<impl ToString>,
) -> Option<String> {
    let next = next?.to_string();
    let of = total
        .map(|total| format!(" of {total}"))
        .unwrap_or_default();
    Some(format!(
        "showing {shown}{of}; pass cursor {next:?} for more"
    ))
}

/// Names the field that is refused.
pub(crate) fn field<T, E: ToString>(name: &str, result: Result<T, E>) -> Result<T> {
    result.map_err(|problem| InputRefusal::new(name, problem.to_string()).into())
}

async fn written<Res: Serialize>(
    work: impl Future<Output = Result<Reply<Res>>>,
) -> Result<Written> {
    let reply = work.await?;
    let json = serde_json::to_string(&reply.view)
        .map_err(|error| AppError::from(ServerReason::Defect).caused_by(error))?;
    Ok(Written {
        json,
        note: reply.note,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_of_an_address_are_read() {
        for (text, expected) in [
            ("plain", "plain"),
            ("my%20list+x", "my list x"),
            ("%C3%A4", "ä"),
            ("100%", "100%"),
            ("%zz%2", "%zz%2"),
        ] {
            assert_eq!(super::decoded(text), expected);
        }
    }
}
