//! Signatures, as Standard Webhooks has them.

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wh_domain::SecretText;

/// What every secret begins with.
const PREFIX: &str = "whsec_";

/// Writes a secret as receivers' libraries take it.
pub fn secret_text(bytes: &[u8]) -> SecretText {
    SecretText::new(format!("{PREFIX}{}", STANDARD.encode(bytes)))
}

/// Signs a delivery; nothing when the secret is not one of ours.
pub fn signature(secret: &SecretText, id: &str, timestamp: i64, body: &str) -> Option<String> {
    let key = STANDARD
        .decode(secret.expose().strip_prefix(PREFIX)?)
        .ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    Some(format!(
        "v1,{}",
        STANDARD.encode(mac.finalize().into_bytes())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn the_published_example_is_signed_the_same() {
        let secret = SecretText::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned());
        let signed = signature(
            &secret,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(
            signed.as_deref(),
            Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        );
        assert_eq!(
            signature(&SecretText::new("plain".to_owned()), "a", 1, "b"),
            None
        );
    }
}
