//! Keeps secrets out of what is logged, shown and stored.
//!
//! Recognized are our own keys and the credentials of common services, by their shape. This protects against accidents, such as an
//! agent that prints its environment; whoever wants to hide a secret from it can.

use std::borrow::Cow;

use crate::key::key_tags;

/// Stands for what was removed.
const REMOVED: &str = "…";

/// What a secret looks like: a beginning, then a body of certain bytes.
struct Shape {
    beginning: &'static str,
    is_body: fn(u8) -> bool,
    /// Bytes of the body that may be shown.
    shown: usize,
    /// Shorter bodies are not secrets. Always enough more than `shown` that redacting makes nothing longer.
    body_min: usize,
    /// Text that every body has at this offset.
    fixed: Option<(usize, &'static str)>,
}

const fn shape(beginning: &'static str, is_body: fn(u8) -> bool, body_min: usize) -> Shape {
    Shape {
        beginning,
        is_body,
        shown: 0,
        body_min,
        fixed: None,
    }
}

/// A legacy OpenAI key. Its beginning alone is also the end of words such as `task-`, so the fixed text in the middle decides.
const OPENAI: Shape = Shape {
    fixed: Some((20, "T3BlbkFJ")),
    ..shape("sk-", is_alphanumeric, 48)
};

/// Credentials of services that agents use.
const SERVICES: &[Shape] = &[
    shape("sk-ant-", is_word_or_dash, 16),
    shape("sk-proj-", is_word_or_dash, 16),
    OPENAI,
    shape("AIza", is_word_or_dash, 35),
    shape("hf_", is_alphanumeric, 30),
    shape("npm_", is_alphanumeric, 36),
    shape("sk_live_", is_alphanumeric, 20),
    shape("rk_live_", is_alphanumeric, 20),
    shape("ghp_", is_alphanumeric, 20),
    shape("gho_", is_alphanumeric, 20),
    shape("ghu_", is_alphanumeric, 20),
    shape("ghs_", is_alphanumeric, 20),
    shape("ghr_", is_alphanumeric, 20),
    shape("github_pat_", is_word_or_dash, 20),
    shape("glpat-", is_word_or_dash, 16),
    shape("AKIA", is_upper_or_digit, 16),
    shape("ASIA", is_upper_or_digit, 16),
    shape("xoxa-", is_alphanumeric_or_dash, 10),
    shape("xoxb-", is_alphanumeric_or_dash, 10),
    shape("xoxp-", is_alphanumeric_or_dash, 10),
    shape("xoxr-", is_alphanumeric_or_dash, 10),
    shape("xoxs-", is_alphanumeric_or_dash, 10),
];

/// Digits of our own keys that lists show, and so may everybody.
const KEY_DIGITS_SHOWN: usize = 8;
const KEY_DIGITS_MIN: usize = KEY_DIGITS_SHOWN + REMOVED.len() + 1;

/// A private key in PEM: between two such lines, of which the first ends with [`PEM_KEY`].
const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_KEY: &str = "PRIVATE KEY-----";
const PEM_END: &str = "-----END ";
/// The longest beginning line, and the longest key.
const PEM_LINE_MAX: usize = 64;
const PEM_BYTES_MAX: usize = 16 << 10;

/// The longest body that is waited for when text comes in pieces; longer ones are redacted as far as they have come.
const BODY_MAX: usize = 512;

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_alphanumeric_or_dash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn is_word_or_dash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_upper_or_digit(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_hex_digit(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn shapes() -> impl Iterator<Item = Shape> {
    let own = key_tags().map(|beginning| Shape {
        beginning,
        is_body: is_hex_digit,
        shown: KEY_DIGITS_SHOWN,
        body_min: KEY_DIGITS_MIN,
        fixed: None,
    });
    own.chain(SERVICES.iter().map(|it| Shape { ..*it }))
}

/// Returns whether a secret can begin at `at`; all other places are passed over.
fn may_begin(bytes: &[u8], at: usize) -> bool {
    // These letters are frequent: the next one rules out most words.
    let second = match bytes[at] {
        b'w' | b'c' | b'i' | b's' | b'g' | b'A' | b'x' | b'-' => return true,
        b'h' => b'f',
        b'n' => b'p',
        b'r' => b'k',
        _ => return false,
    };
    bytes.get(at + 1).is_none_or(|next| *next == second)
}

/// What was found at a place in a text.
enum Found {
    /// A secret: up to where it is shown, and where it ends.
    Secret { shown: usize, end: usize },
    /// Something that may become one when more text follows.
    Unfinished,
}

/// Looks for a secret that begins at `at`.
fn find(text: &str, at: usize) -> Option<Found> {
    let rest = &text[at..];
    if rest.starts_with('-') {
        return find_pem(rest).map(|found| match found {
            Found::Secret { shown, end } => Found::Secret {
                shown: at + shown,
                end: at + end,
            },
            Found::Unfinished => Found::Unfinished,
        });
    }
    let mut is_unfinished = false;
    let first = rest.as_bytes().first();
    // Comparing the first byte rules out most shapes at low cost.
    let candidates = shapes().filter(|it| it.beginning.as_bytes().first() == first);
    for shape in candidates {
        let Some(body) = rest.strip_prefix(shape.beginning) else {
            is_unfinished |= shape.beginning.starts_with(rest);
            continue;
        };
        let length = body
            .bytes()
            .take_while(|byte| (shape.is_body)(*byte))
            .count();
        if let Some((offset, text)) = shape.fixed
            && let Some(found) = body[..length].get(offset..offset + text.len())
            && found != text
        {
            continue;
        }
        if length >= shape.body_min {
            let body_at = at + shape.beginning.len();
            return Some(Found::Secret {
                shown: body_at + shape.shown,
                end: body_at + length,
            });
        }
        is_unfinished |= length == body.len();
    }
    is_unfinished.then_some(Found::Unfinished)
}

fn find_pem(rest: &str) -> Option<Found> {
    let Some(line) = rest.strip_prefix(PEM_BEGIN) else {
        return PEM_BEGIN.starts_with(rest).then_some(Found::Unfinished);
    };
    let window = &line[..line.floor_char_boundary(PEM_LINE_MAX)];
    let Some(label) = window.find(PEM_KEY) else {
        let may_go_on = line.len() < PEM_LINE_MAX && !window.contains('\n');
        return may_go_on.then_some(Found::Unfinished);
    };
    let shown = PEM_BEGIN.len() + label + PEM_KEY.len();
    let body = &rest[shown..];
    let body = &body[..body.floor_char_boundary(PEM_BYTES_MAX)];
    let ending = body.find(PEM_END);
    let end = shown + ending.unwrap_or(body.len());
    match rest[shown..end].trim() {
        // Nothing of it has come yet, or it was removed already.
        "" | REMOVED => ending.is_none().then_some(Found::Unfinished),
        _ => Some(Found::Secret { shown, end }),
    }
}

/// Replaces the secret part of every word that looks like a credential with `…`, leaving the part that may be shown.
///
/// Takes time in proportion to the text, never makes it longer, and changes nothing when it is applied again.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if may_begin(bytes, at)
            && let Some(Found::Secret { shown, end }) = find(text, at)
        {
            out.push_str(&text[kept..shown]);
            out.push_str(REMOVED);
            (kept, at) = (end, end);
        } else {
            at += 1;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Redacts the text of a diff line by line, so that its lines stay as many as they are said to be.
pub fn redact_patch(patch: &str) -> String {
    let mut out = String::with_capacity(patch.len());
    let mut is_in_key = false;
    for line in patch.split_inclusive('\n') {
        let ends = line.contains(PEM_END) || line.starts_with("@@") || line.starts_with("diff ");
        is_in_key &= !ends;
        if is_in_key {
            // The sign of the line stays.
            out.extend(line.chars().next().filter(|sign| *sign != '\n'));
            out.push_str(REMOVED);
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
            continue;
        }
        let begins = line.contains(PEM_BEGIN) && line.contains(PEM_KEY);
        is_in_key = begins && !ends;
        out.push_str(&redact(line.trim_end_matches('\n')));
        out.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    out
}

/// Redacts text that arrives in pieces, also where a secret is spread over several of them.
#[derive(Clone, Debug, Default)]
pub struct RedactedText {
    /// What nothing that follows can change.
    settled: String,
    /// The end of the text as it came, from where a secret may go on.
    open: String,
}

impl RedactedText {
    /// Adds a piece.
    pub fn push(&mut self, piece: &str) {
        self.open.push_str(piece);
        let start = open_from(&self.open);
        self.settled.push_str(&redact(&self.open[..start]));
        self.open.drain(..start);
    }

    /// Returns all of it so far.
    pub fn text(&self) -> String {
        format!("{}{}", self.settled, redact(&self.open))
    }

    /// Returns how long it is, about.
    pub fn len(&self) -> usize {
        self.settled.len() + self.open.len()
    }

    /// Returns whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the end off from where a secret may go on, to begin another text with it.
    pub fn take_open(&mut self) -> Self {
        Self {
            settled: String::new(),
            open: std::mem::take(&mut self.open),
        }
    }
}

/// Returns from where on a text may be the beginning of a secret whose end is still to come.
fn open_from(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !may_begin(bytes, at) {
            at += 1;
            continue;
        }
        match find(text, at) {
            Some(Found::Unfinished) => return at,
            Some(Found::Secret { end, shown }) if end == bytes.len() => {
                let is_pem = bytes[at] == b'-';
                let length_max = if is_pem { PEM_BYTES_MAX } else { BODY_MAX };
                return if end - shown < length_max { at } else { end };
            }
            Some(Found::Secret { end, .. }) => at = end,
            None => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "wh_sess_0123456789abcdef0123456789abcdef";
    const PEM: &str =
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----";

    const OPENAI_KEY: &str = "sk-0123456789abcdefghijT3BlbkFJ0123456789ABCDEFGHIJ";

    #[test]
    fn only_the_secret_part_goes() {
        let key = "wh_full_0123456789abcdef0123456789abcdef";
        let text = format!("GET /mcp?sessionToken={key}&x=1 and {key}");
        assert_eq!(
            redact(&text),
            "GET /mcp?sessionToken=wh_full_01234567…&x=1 and wh_full_01234567…"
        );
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
        assert_eq!(redact("wh_sess_12"), "wh_sess_12");
        assert_eq!(redact("ca_sess_0123456789abcdef"), "ca_sess_01234567…");
    }

    #[test]
    fn credentials_of_services_are_known() {
        for (text, redacted) in [
            ("x=sk-ant-api03-AbC_dEf-0123456789;", "x=sk-ant-…;"),
            ("ghp_0123456789abcdefABCDEF0123456789abcd", "ghp_…"),
            ("github_pat_11ABCDEFG0abcdefghij_KLMNOP", "github_pat_…"),
            ("id AKIAIOSFODNN7EXAMPLE.", "id AKIA…."),
            ("xoxb-123456789012-abcDEF", "xoxb-…"),
            ("k=AIzaSyA0123456789-abcdefghijklmnop_QRST", "k=AIza…"),
            (OPENAI_KEY, "sk-…"),
            ("HF=hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", "HF=hf_…"),
            ("npm_0123456789abcdefABCDEF0123456789abcd", "npm_…"),
            ("sk_live_51ABCDEFGHabcdefgh012345", "sk_live_…"),
            ("rk_live_51ABCDEFGHabcdefgh012345", "rk_live_…"),
            (
                PEM,
                "-----BEGIN RSA PRIVATE KEY-----…-----END RSA PRIVATE KEY-----",
            ),
        ] {
            assert_eq!(redact(text), redacted);
            assert!(matches!(redact(redacted), Cow::Borrowed(_)), "{redacted}");
        }
        for text in [
            "sk-ant-eater",
            "ghp_short",
            "AKIA alone",
            "AIzawa and others",
            "task-0123456789abcdef0123456789abcdef0123456789abcdef",
            "disk-0123456789abcdefghijT3BlbkF",
            "ask-me-anything-about-the-long-way-home-and-back-again",
            "npm_config_registry npm_package_version npm_lifecycle_event",
            "hf_hub_download and hf_transfer_enabled",
            "sk_live_mode rk_live_check half nph_ rko",
            "----- BEGIN",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        ] {
            assert!(matches!(redact(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn many_beginnings_cost_no_more_than_their_length() {
        for piece in [
            "wh_full_",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ",
            "-",
            "sk-",
            "sk-0123456789abcdefghijT3BlbkFJ",
            "hf_",
        ] {
            let text = piece.repeat(200_000 / piece.len());
            drop(redact(&text));
            let mut pieces = RedactedText::default();
            text.as_bytes()
                .chunks(64)
                .for_each(|chunk| pieces.push(std::str::from_utf8(chunk).unwrap()));
        }
    }

    #[test]
    fn a_diff_keeps_its_lines() {
        let added = PEM.replace('\n', "\n+");
        let patch = format!("@@ -0,0 +1,6 @@\n+TOKEN={KEY}\n+{added}\n+end\n");
        assert_eq!(
            redact_patch(&patch),
            "@@ -0,0 +1,6 @@\n+TOKEN=wh_sess_01234567…\n+-----BEGIN RSA PRIVATE KEY-----\n+…\n+…\n\
             +-----END RSA PRIVATE KEY-----\n+end\n"
        );
        assert_eq!(redact_patch("a\n\nb"), "a\n\nb");
    }

    proptest! {
        #[test]
        fn pieces_come_to_the_same_as_the_whole(
            words in prop::collection::vec(prop::sample::select(vec![
                "a ", "wh_", "é", "AKIA", "-----", "\n", KEY, PEM, "sk-ant-api03-0123456789abcdef",
                OPENAI_KEY, "task-", "npm_0123456789abcdefABCDEF0123456789abcd", "hf_",
            ]), 0..12),
            cuts in prop::collection::vec(0..400usize, 0..20),
        ) {
            let text = words.concat();
            let mut pieces = RedactedText::default();
            let mut from = 0;
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
            cuts.sort_unstable();
            for cut in cuts {
                pieces.push(&text[from..cut]);
                prop_assert!(!pieces.text().contains(KEY));
                from = cut;
            }
            pieces.push(&text[from..]);
            prop_assert_eq!(pieces.text(), redact(&text).into_owned());
            prop_assert!(redact(&text).len() <= text.len());
            let again = redact(&text).into_owned();
            prop_assert_eq!(redact(&again), again.as_str());
        }
    }
}
