//! One question, one answer.

use std::time::Duration;

use futures::StreamExt;
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent},
    resolver::{AuthData, Endpoint},
};

use crate::{ModelConfig, Provider};

/// How long connecting may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// What the model is to do.
    pub system: &'a str,
    /// What it is to do that with.
    pub user: &'a str,
    /// The most tokens it may spend on its answer.
    pub tokens_max: u32,
    /// The most bytes of its answer that are read; a longer one is cut there.
    pub bytes_max: usize,
}

/// Why there is no answer; completes the sentence "the model …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("could not be reached")]
    Unreachable,
    #[error("refused the call with status {0}")]
    Refused(u16),
    #[error("did not answer in {} s", .0.as_secs())]
    Late(Duration),
    #[error("sent an answer that could not be read")]
    Unreadable,
    #[error("said nothing")]
    Silent,
}

/// The client for a model could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare calls of the model")]
pub struct ModelSetupError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// A model that answers.
pub struct Model {
    config: ModelConfig,
    client: Client,
}

impl Model {
    /// Prepares the client; nothing is called yet.
    pub fn new(config: ModelConfig) -> Result<Self, ModelSetupError> {
        // A provider that is already there is as good.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        // A redirect could take the key to somebody else.
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .redirect(reqwest::redirect::Policy::none());
        let builder = match config.base_url.scheme() {
            "https" => builder,
            // The system's certificates are read only when TLS is spoken: a machine may have none.
            _ => builder.tls_backend_preconfigured(
                rustls::ClientConfig::builder()
                    .with_root_certificates(rustls::RootCertStore::empty())
                    .with_no_client_auth(),
            ),
        };
        let web = builder
            .build()
            .map_err(|error| ModelSetupError(error.into()))?;
        let client = Client::builder().with_reqwest(web).build();
        let client = client.map_err(|error| ModelSetupError(error.into()))?;
        Ok(Self { config, client })
    }

    /// Returns what it was made of.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Asks, and returns the answer within the configured time. Dropping the future hangs up.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<String, ModelError> {
        let limit = self.config.time_max;
        let said = tokio::time::timeout(limit, self.answer(ask)).await;
        let said = said.map_err(|_| ModelError::Late(limit))??;
        match said.trim().is_empty() {
            true => Err(ModelError::Silent),
            false => Ok(said),
        }
    }

    async fn answer(&self, ask: Ask<'_>) -> Result<String, ModelError> {
        let request = ChatRequest::default()
            .with_system(ask.system)
            .append_message(ChatMessage::user(ask.user));
        let options = ChatOptions::default().with_max_tokens(ask.tokens_max);
        let asked = self
            .client
            .exec_chat_stream(self.target(), request, Some(&options));
        // Streamed, so that no more is held than may be returned.
        let mut events = asked.await.map_err(|error| failure(&error))?.stream;
        let mut said = String::new();
        while let Some(event) = events.next().await {
            match event.map_err(|error| failure(&error))? {
                ChatStreamEvent::Chunk(chunk) => said.push_str(&chunk.content),
                ChatStreamEvent::End(_) => break,
                _ => {}
            }
            if said.len() > ask.bytes_max {
                said.truncate(said.floor_char_boundary(ask.bytes_max));
                break;
            }
        }
        Ok(said)
    }

    fn target(&self) -> ServiceTarget {
        let kind = match self.config.provider {
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Gemini => AdapterKind::Gemini,
        };
        // A server on this machine often wants no key; the protocols want one to be there.
        let key = self.config.key.as_ref().map_or("none", |key| key.expose());
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.config.base_url.as_str()),
            auth: AuthData::from_single(key),
            model: ModelIden::new(kind, self.config.model.as_str()),
        }
    }
}

/// Says what went wrong in words of our own: the library's may hold what was sent.
fn failure(error: &genai::Error) -> ModelError {
    if let Some(status) = error.status() {
        return ModelError::Refused(status.as_u16());
    }
    let genai::Error::WebStream { error, .. } = error else {
        return ModelError::Unreadable;
    };
    if let Some(inner) = error.downcast_ref::<genai::Error>() {
        return failure(inner);
    }
    match error.downcast_ref::<reqwest::Error>() {
        Some(web) if web.is_decode() => ModelError::Unreadable,
        _ => ModelError::Unreachable,
    }
}
