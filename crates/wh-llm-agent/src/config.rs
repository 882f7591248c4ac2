//! Which model is called, and where.

use std::time::Duration;

use url::{Host, Url};
use wh_domain::SecretText;

/// The most characters of a model's name.
const NAME_CHARS_MAX: usize = 200;

/// The longest a call may be allowed to take.
const TIME_MAX: Duration = Duration::from_secs(120);

/// The protocols that models speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Chat Completions, as many servers offer them.
    OpenAi,
    Anthropic,
    Gemini,
}

impl Provider {
    /// Every protocol.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// Returns the name as configured and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Returns where the company that made the protocol serves it.
    fn home(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
        }
    }
}

/// A model that can be called.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    pub(crate) provider: Provider,
    pub(crate) base_url: Url,
    pub(crate) model: String,
    pub(crate) key: Option<SecretText>,
    pub(crate) time_max: Duration,
}

/// Why a model cannot be used; completes the sentence "the model …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelConfigError {
    #[error("needs a name of at most {NAME_CHARS_MAX} characters without blanks")]
    Name,
    #[error(
        "needs a `base_url` like {} without user, query or fragment",
        Provider::OpenAi.home()
    )]
    BaseUrl,
    #[error("would be sent its key unencrypted: use https, or an address of this machine")]
    KeyInTheClear,
    #[error("needs a `timeout` of at most {} s", TIME_MAX.as_secs())]
    Time,
}

impl ModelConfig {
    /// Checks what is asked for. Without a base URL the protocol's home is called.
    pub fn new(
        provider: Provider,
        base_url: Option<&str>,
        model: &str,
        key: Option<SecretText>,
        time_max: Duration,
    ) -> Result<Self, ModelConfigError> {
        let blank = |c: char| c.is_whitespace() || c.is_control();
        if model.is_empty() || model.contains(blank) || model.chars().count() > NAME_CHARS_MAX {
            return Err(ModelConfigError::Name);
        }
        if time_max.is_zero() || time_max > TIME_MAX {
            return Err(ModelConfigError::Time);
        }
        let base_url = base(base_url.unwrap_or(provider.home()))?;
        if key.is_some() && base_url.scheme() == "http" && !is_here(&base_url) {
            return Err(ModelConfigError::KeyInTheClear);
        }
        Ok(Self {
            provider,
            base_url,
            model: model.to_owned(),
            key,
            time_max,
        })
    }

    /// Returns the protocol and the model's name.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.as_str(), self.model)
    }

    /// Returns where it is called.
    pub fn base_url(&self) -> &str {
        self.base_url.as_str()
    }

    /// Returns how long a call may take.
    pub fn time_max(&self) -> Duration {
        self.time_max
    }
}

fn base(text: &str) -> Result<Url, ModelConfigError> {
    let mut url = Url::parse(text).map_err(|_| ModelConfigError::BaseUrl)?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !is_plain {
        return Err(ModelConfigError::BaseUrl);
    }
    // What is called lies below it.
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(
        base_url: Option<&str>,
        model: &str,
        key: Option<&str>,
    ) -> Result<ModelConfig, ModelConfigError> {
        let key = key.map(|key| SecretText::new(key.to_owned()));
        let time = Duration::from_secs(20);
        ModelConfig::new(Provider::OpenAi, base_url, model, key, time)
    }

    #[test]
    fn what_is_called_lies_below_the_base() {
        let here = config(Some("http://127.0.0.1:11434/v1"), "m", Some("k")).unwrap();
        assert_eq!(here.base_url(), "http://127.0.0.1:11434/v1/");
        let home = config(None, "m", None).unwrap();
        assert_eq!(home.base_url(), Provider::OpenAi.home());
        assert_eq!(home.name(), "openai/m");
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for bad in [
            "",
            "api.example/v1",
            "ftp://api.example/",
            "https://u:p@api.example/",
            "https://api.example/?key=x",
        ] {
            let refused = config(Some(bad), "m", None).unwrap_err();
            assert_eq!(refused, ModelConfigError::BaseUrl, "{bad}");
        }
        let far = config(Some("http://api.example/v1"), "m", Some("k"));
        assert_eq!(far.unwrap_err(), ModelConfigError::KeyInTheClear);
        assert!(config(Some("http://api.example/v1"), "m", None).is_ok());
        for bad in ["", "a b", "a\n", &"x".repeat(201)] {
            assert_eq!(config(None, bad, None).unwrap_err(), ModelConfigError::Name);
        }
        let long = Duration::from_secs(121);
        let slow = ModelConfig::new(Provider::Gemini, None, "m", None, long);
        assert_eq!(slow.unwrap_err(), ModelConfigError::Time);
    }

    #[test]
    fn a_key_does_not_print() {
        let config = config(None, "m", Some("sk-hidden")).unwrap();
        assert!(!format!("{config:?}").contains("hidden"));
    }
}
