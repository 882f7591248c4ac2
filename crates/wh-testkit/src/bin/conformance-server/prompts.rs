//! Prompts, and completion of their arguments.

use rmcp::{
    ErrorData,
    model::{
        CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, ImageContent,
        InputRequiredResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
    },
};

use crate::{
    handler::CACHE_TTL_MS,
    input_required::{content, elicit, response},
    tools::PNG,
};

pub(crate) fn list() -> ListPromptsResult {
    let argument = |name: &str| {
        PromptArgument::new(name)
            .with_description("Any text.")
            .with_required(true)
    };
    let arguments = vec![argument("arg1"), argument("arg2")];
    ListPromptsResult::with_all_items(vec![
        Prompt::new("test_simple_prompt", Some("Text."), None),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("Text with its arguments."),
            Some(arguments),
        ),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some("Text and a resource."),
            Some(vec![argument("resourceUri")]),
        ),
        Prompt::new("test_prompt_with_image", Some("Text and an image."), None),
        Prompt::new(
            "test_input_required_result_prompt",
            Some("Needs the user's answer first."),
            None,
        ),
    ])
    .with_ttl_ms(CACHE_TTL_MS)
    .with_cache_scope(CacheScope::Public)
}

pub(crate) fn get(prompt: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = prompt.arguments.as_ref().and_then(|all| all.get(name));
        value.and_then(|value| value.as_str()).unwrap_or_default()
    };
    let messages = match prompt.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![said(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            PromptMessage::new_resource(
                Role::User,
                argument("resourceUri").into(),
                Some("text/plain".into()),
                Some("Embedded resource content for testing.".into()),
                None,
                None,
                None,
            ),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            PromptMessage::new(
                Role::User,
                ContentBlock::Image(ImageContent::new(PNG, "image/png")),
            ),
            said("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let Some(given) = response(prompt.input_responses.as_ref(), "user_context") else {
                let question = elicit("Which context?", "context", "string");
                let requests = [("user_context".to_owned(), question)];
                return Ok(InputRequiredResult::from_input_requests(
                    requests.into_iter().collect(),
                )
                .into());
            };
            vec![said(format!(
                "In the context {}",
                content(given, "context")
            ))]
        }
        unknown => {
            return Err(ErrorData::invalid_params(
                format!("there is no prompt {unknown:?}"),
                None,
            ));
        }
    };
    Ok(GetPromptResult::new(messages).into())
}

pub(crate) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let values = ["paris", "park", "party"]
        .into_iter()
        .filter(|value| value.starts_with(&request.argument.value))
        .map(ToOwned::to_owned)
        .collect();
    let info =
        CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn said(text: impl Into<String>) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}
