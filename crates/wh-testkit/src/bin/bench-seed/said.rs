//! What a conversation with a coding agent consists of: prompts, answers in markdown, thoughts, calls with output and changes.

use serde_json::{Value, json};
use wh_domain::MessageKind;

/// Makes so many messages, of every kind, no two with the same words.
pub(crate) fn mixed(count: usize) -> Vec<(MessageKind, String, Value)> {
    (1..=count).map(message).collect()
}

fn message(number: usize) -> (MessageKind, String, Value) {
    let told = |kind, text: String| (kind, text, json!({}));
    match number % 10 {
        1 => told(
            MessageKind::Prompt,
            format!("Please look at part {number} next, and say what you find."),
        ),
        2 => told(
            MessageKind::Thought,
            format!("Part {number} depends on the one before it. I should read both."),
        ),
        3 | 6 => command(number),
        4 | 8 => change(number),
        9 => told(MessageKind::Agent, report(number)),
        _ => told(
            MessageKind::Agent,
            format!(
                "Message {number}: this is what was said about **part {number}**, in `src/part.rs`."
            ),
        ),
    }
}

/// An answer with everything that markdown has.
fn report(number: usize) -> String {
    format!(
        "## Part {number}\n\nThis is what was said, with [a link](https://example.org/{number}):\n\n\
         - the first thing is *done*\n- the second has `{number}` cases\n  - one of them is new\n- [x] and tested\n\n\
         | file | lines |\n|---|---|\n| `src/a.rs` | {number} |\n| `src/b.rs` | 12 |\n\n\
         ```rust\nfn part() -> usize {{\n    // The number of this part.\n    {number}\n}}\n```\n\n> Nothing else changed.\n"
    )
}

fn command(number: usize) -> (MessageKind, String, Value) {
    let output: Vec<_> = (0..40)
        .map(|line| format!("\u{1b}[32mtest\u{1b}[0m part_{number}::case_{line} ... ok"))
        .collect();
    let title = format!("cargo test part_{number}");
    let detail = json!({
        "title": title,
        "kind": "execute",
        "status": "completed",
        "input": {"command": title},
        "content": [{"type": "text", "text": output.join("\n")}],
    });
    (MessageKind::ToolCall, title, detail)
}

fn change(number: usize) -> (MessageKind, String, Value) {
    let lines = |word: &str| -> String {
        (0..60)
            .map(|line| format!("    let {word}_{line} = {number};\n"))
            .collect()
    };
    let title = format!("Edit src/part_{number}.rs");
    let path = format!("src/part_{number}.rs");
    let detail = json!({
        "title": title,
        "kind": "edit",
        "status": "completed",
        "content": [{"type": "diff", "path": path, "old": lines("before"), "new": lines("after")}],
        "locations": [{"path": path}],
    });
    (MessageKind::ToolCall, title, detail)
}
