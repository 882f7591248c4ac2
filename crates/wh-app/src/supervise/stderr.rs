//! What an agent's program writes to its stderr, as it is stored: while it runs and when it has ended.

use wh_domain::RunEntry;

/// Returns the last of what an agent's program wrote to its stderr, without the secrets it was given.
pub(super) fn text(lines: &[String]) -> Option<String> {
    let text = lines.join("\n").replace('\0', "\u{fffd}");
    let text = wh_domain::redact(&text);
    let start = text.len().saturating_sub(RunEntry::STDERR_BYTES_MAX);
    let tail = &text[text.ceil_char_boundary(start)..];
    (!tail.trim().is_empty()).then(|| tail.to_owned())
}
