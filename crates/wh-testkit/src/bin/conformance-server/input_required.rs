//! Tools of 2026-07-28 that answer "input required" until the client calls again with what they asked for.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CreateMessageRequest, CreateMessageRequestParams,
        ElicitRequest, ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult,
        InputResponses, ListRootsRequest, SamplingMessage, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::{
    handler::Fixtures,
    tools::{text, tool},
};

const TOOLS: &[(&str, &str)] = &[
    ("test_input_required_result_elicitation", "Needs a name."),
    ("test_input_required_result_sampling", "Needs a sample."),
    ("test_input_required_result_list_roots", "Needs the roots."),
    (
        "test_input_required_result_request_state",
        "Keeps its state with the client.",
    ),
    (
        "test_input_required_result_tampered_state",
        "Refuses a changed state.",
    ),
    (
        "test_input_required_result_multiple_inputs",
        "Needs three things.",
    ),
    (
        "test_input_required_result_multi_round",
        "Needs one thing, then another.",
    ),
    (
        "test_input_required_result_capabilities",
        "Needs what the client can give.",
    ),
    ("test_streaming_elicitation", "Needs a value."),
];

pub(crate) fn list() -> Vec<Tool> {
    TOOLS
        .iter()
        .map(|(name, description)| tool(name, description, json!({"type": "object"})))
        .collect()
}

/// Runs the tool if it is one of these.
pub(crate) fn call(
    fixtures: &Fixtures,
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let given = call.input_responses.as_ref();
    Some(match call.name.as_ref() {
        "test_input_required_result_elicitation" => {
            Ok(needs_one(given, "user_name", ask_name(), |given| {
                format!("Hello, {}!", content(given, "name"))
            }))
        }
        "test_input_required_result_sampling" => Ok(needs_one(
            given,
            "capital_question",
            sample("What is the capital of France?"),
            |given| format!("Sampling response: {}", content(given, "text")),
        )),
        "test_input_required_result_list_roots" => {
            Ok(needs_one(given, "client_roots", list_roots(), |given| {
                format!("Client roots: {}", given["roots"])
            }))
        }
        "test_streaming_elicitation" => Ok(needs_one(
            given,
            "value",
            elicit("Which value?", "value", "string"),
            |given| content(given, "value"),
        )),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => confirmed(fixtures, call),
        "test_input_required_result_multiple_inputs" => gathered(fixtures, call),
        "test_input_required_result_multi_round" => round(fixtures, call),
        "test_input_required_result_capabilities" => Ok(declared(given, context)),
        _ => return None,
    })
}

/// Returns an input the client has given. Whatever is not an object counts as missing and is asked for again.
pub(crate) fn response<'a>(given: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    given?.get(key).filter(|value| value.is_object())
}

/// Returns a field of what the user or the model answered.
pub(crate) fn content(response: &Value, field: &str) -> String {
    let value = &response["content"][field];
    value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Asks the user for one field.
pub(crate) fn elicit(message: &str, field: &str, kind: &str) -> InputRequest {
    let schema = json!({
        "type": "object",
        "properties": {field: {"type": kind}},
        "required": [field],
    });
    InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.into(),
            requested_schema: serde_json::from_value(schema).expect("the schema above is valid"),
        },
    ))
}

pub(crate) fn ask_name() -> InputRequest {
    elicit("What is your name?", "name", "string")
}

/// Asks for inputs, without keeping state.
pub(crate) fn asking<const N: usize>(requests: [(&str, InputRequest); N]) -> CallToolResponse {
    InputRequiredResult::from_input_requests(named(requests)).into()
}

fn named<'a>(requests: impl IntoIterator<Item = (&'a str, InputRequest)>) -> InputRequests {
    requests
        .into_iter()
        .map(|(name, request)| (name.to_owned(), request))
        .collect()
}

fn sample(prompt: &str) -> InputRequest {
    InputRequest::CreateMessage(CreateMessageRequest::new(CreateMessageRequestParams::new(
        vec![SamplingMessage::user_text(prompt)],
        100,
    )))
}

fn list_roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

fn needs_one(
    given: Option<&InputResponses>,
    key: &str,
    request: InputRequest,
    answer: impl FnOnce(&Value) -> String,
) -> CallToolResponse {
    match response(given, key) {
        Some(given) => text(answer(given)).into(),
        None => asking([(key, request)]),
    }
}

/// Asks, with a state that the client returns and cannot change.
fn asking_with_state<const N: usize>(
    fixtures: &Fixtures,
    requests: [(&str, InputRequest); N],
    state: &Value,
) -> Result<CallToolResponse, ErrorData> {
    let sealed = fixtures
        .states
        .seal_json(state)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(named(requests)), Some(sealed)).into())
}

/// Returns the state the client sent back, if it sent one and it is ours.
fn state(fixtures: &Fixtures, call: &CallToolRequestParams) -> Result<Option<Value>, ErrorData> {
    call.request_state
        .as_deref()
        .map(|sealed| fixtures.states.open_json(sealed))
        .transpose()
        .map_err(|_| ErrorData::invalid_params("requestState was not issued by this server", None))
}

fn confirmed(
    fixtures: &Fixtures,
    call: &CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    if state(fixtures, call)?.is_some() {
        return Ok(text("state-ok: confirmed").into());
    }
    let requests = [("confirm", elicit("Please confirm", "ok", "boolean"))];
    asking_with_state(fixtures, requests, &json!({"stage": "confirm"}))
}

fn gathered(
    fixtures: &Fixtures,
    call: &CallToolRequestParams,
) -> Result<CallToolResponse, ErrorData> {
    let given = call.input_responses.as_ref();
    let has_all = ["user_name", "greeting", "client_roots"]
        .iter()
        .all(|key| response(given, key).is_some());
    if state(fixtures, call)?.is_some() && has_all {
        return Ok(text("Received all three.").into());
    }
    let requests = [
        ("user_name", ask_name()),
        ("greeting", sample("Generate a greeting")),
        ("client_roots", list_roots()),
    ];
    asking_with_state(fixtures, requests, &json!({"stage": "gather"}))
}

fn round(fixtures: &Fixtures, call: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
    let state = state(fixtures, call)?;
    match state.and_then(|state| state["round"].as_u64()) {
        None => {
            let requests = [(
                "step1",
                elicit("Step 1: What is your name?", "name", "string"),
            )];
            asking_with_state(fixtures, requests, &json!({"round": 1}))
        }
        Some(1) => {
            let requests = [("step2", elicit("Step 2: Which color?", "color", "string"))];
            asking_with_state(fixtures, requests, &json!({"round": 2}))
        }
        Some(_) => Ok(text("Both rounds are complete.").into()),
    }
}

/// Asks only for what the client said it can give.
fn declared(
    given: Option<&InputResponses>,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let capabilities = context.meta.client_capabilities().unwrap_or_default();
    let mut requests = Vec::new();
    if capabilities.elicitation.is_some() {
        requests.push(("user_name", ask_name()));
    }
    if capabilities.sampling.is_some() {
        requests.push(("greeting", sample("Generate a greeting")));
    }
    if capabilities.roots.is_some() {
        requests.push(("client_roots", list_roots()));
    }
    if given.is_some() || requests.is_empty() {
        return text("Nothing more is needed.").into();
    }
    InputRequiredResult::from_input_requests(named(requests)).into()
}
