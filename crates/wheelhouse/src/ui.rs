//! The only way to the terminal: tables, fields, notes and errors, in words or as JSON.
//!
//! What a server says is data. Control characters in it are shown, not obeyed, so that no board's name can move the
//! cursor, change colours or hide text. A reader that went away (`| head`) is not an error.

mod above;
mod table;
mod text;
mod time;
mod words;

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use self::words::hint_of;
use crate::exit::{CliError, CliResult};

pub(crate) use above::{AboveGuard, print_above};
pub(crate) use table::Table;
pub(crate) use text::{clean, clean_lines, cost, dollars, shortened};
pub(crate) use time::{age, clock, moment, moment_ago, now, span, utc_offset_minutes, when};

/// Set once a write found that nobody reads standard output any more.
static READER_GONE: AtomicBool = AtomicBool::new(false);
/// Set while a line of progress stands on the terminal.
static PROGRESS: AtomicBool = AtomicBool::new(false);
/// Goes to the beginning of the line and clears it.
const CLEAR_LINE: &str = "\r\u{1b}[K";
/// How much of a line of progress is shown: one that wraps cannot be cleared.
const PROGRESS_CHARS_MAX: usize = 72;

/// How this process talks to its user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    color: bool,
    color_errors: bool,
    progress: bool,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tone {
    Good,
    Doubtful,
    Bad,
    Dim,
    Strong,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Doubtful => "33",
            Self::Bad => "31",
            Self::Dim => "2",
            Self::Strong => "1",
        }
    }
}

impl Ui {
    /// Decides how to talk. Colours need a terminal and nobody who minds them.
    pub(crate) fn new(json: bool, quiet: bool, no_color: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let minded =
            no_color || std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || is_dumb;
        Self {
            json,
            quiet,
            color: !minded && !json && io::stdout().is_terminal(),
            color_errors: !minded && !json && io::stderr().is_terminal(),
            progress: !is_dumb && !json && !quiet && io::stderr().is_terminal(),
        }
    }

    /// Prints an answer: the view itself with `--json`, otherwise what `words` prints.
    pub(crate) fn answer<T: Serialize>(
        &self,
        view: &T,
        words: impl FnOnce(&Self) -> CliResult,
    ) -> CliResult {
        if !self.json {
            return words(self);
        }
        let text = serde_json::to_string_pretty(view)
            .map_err(|error| CliError::failed(format!("failed to write JSON: {error}")))?;
        self.raw(&format!("{}\n", text::json_clean(&text)))
    }

    /// Tells whether answers are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints one of several answers as a line of JSON.
    pub(crate) fn json_line<T: Serialize>(&self, view: &T) -> CliResult {
        let text = serde_json::to_string(view)
            .map_err(|error| CliError::failed(format!("failed to write JSON: {error}")))?;
        self.raw(&format!("{}\n", text::json_clean(&text)))
    }

    /// Prints a line.
    pub(crate) fn line(&self, line: &str) -> CliResult {
        self.raw(&format!("{}\n", clean(line)))
    }

    /// Prints a table, or `empty` when it has no rows.
    pub(crate) fn table(&self, table: &Table, empty: &str) -> CliResult {
        if table.is_empty() {
            return self.note(empty);
        }
        let heading = |text: &str| self.paint(Tone::Dim, text);
        self.raw(&table.render(heading))
    }

    /// Prints names and values, one pair on a line; a value that is absent is left out.
    pub(crate) fn fields(&self, fields: &[(&str, Option<String>)]) -> CliResult {
        let given = fields.iter().filter_map(|(n, v)| Some((n, v.as_ref()?)));
        let width = given.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, value) in given {
            let name = self.paint(Tone::Dim, &format!("{name:width$}"));
            text.push_str(&format!("{name}  {}\n", clean(value)));
        }
        self.raw(&text)
    }

    /// Says something that is not the answer, on stderr, unless told to be quiet.
    pub(crate) fn note(&self, text: &str) -> CliResult {
        if !self.quiet && !self.json {
            to_stderr(&format!("{}\n", clean(text)));
        }
        Ok(())
    }

    /// Tells whether progress is shown: to somebody at a terminal.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Shows what is waited for, on a line that whatever is said next takes the place of.
    pub(crate) fn progress(&self, text: &str) {
        if self.progress {
            to_stderr(&shortened(&clean(text), PROGRESS_CHARS_MAX));
            PROGRESS.store(true, Ordering::Relaxed);
        }
    }

    /// Takes the line of progress away, if there is one.
    pub(crate) fn progress_done(&self) {
        to_stderr("");
    }

    /// Says how much of a list was shown, if there is more.
    pub(crate) fn more(
        &self,
        shown: usize,
        total: Option<u64>,
        next_cursor: Option<&String>,
    ) -> CliResult {
        let Some(cursor) = next_cursor else {
            return Ok(());
        };
        let of = total.map_or(String::new(), |total| format!(" of {total}"));
        self.note(&format!(
            "Showing {shown}{of}; use `--cursor {cursor}` for more"
        ))
    }

    /// Tells why a command failed.
    pub(crate) fn error(&self, error: &CliError) {
        if self.json {
            let text = serde_json::to_string_pretty(&error.body).unwrap_or_default();
            return to_stderr(&format!("{}\n", text::json_clean(&text)));
        }
        let view = &error.body.error;
        let word = self.paint_error(Tone::Bad, "error:");
        let mut text = format!("{word} {}\n", clean(&view.message));
        let candidates = view.details.get("candidates").and_then(|it| it.as_array());
        for candidate in candidates
            .into_iter()
            .flatten()
            .filter_map(|it| it.as_str())
        {
            text.push_str(&format!("  {}\n", clean(candidate)));
        }
        if let Some(hint) = hint_of(view) {
            let word = self.paint_error(Tone::Strong, "hint:");
            text.push_str(&format!("{word} {}\n", clean(&hint)));
        }
        to_stderr(&text);
    }

    /// Colours text that goes to stdout.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        paint_if(self.color, tone, text)
    }

    /// Prints text as it is; the caller answers for what is in it.
    pub(crate) fn raw(&self, text: &str) -> CliResult {
        if above::take(text) {
            return Ok(());
        }
        self.progress_done();
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match written {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                READER_GONE.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => Err(CliError::failed(format!(
                "failed to write to standard output: {error}"
            ))),
        }
    }

    /// Tells whether somebody still reads what is printed; whoever goes on forever asks.
    pub(crate) fn is_heard(&self) -> bool {
        !READER_GONE.load(Ordering::Relaxed)
    }

    fn paint_error(&self, tone: Tone, text: &str) -> String {
        paint_if(self.color_errors, tone, text)
    }
}

fn paint_if(color: bool, tone: Tone, text: &str) -> String {
    match color {
        true => format!("\u{1b}[{}m{text}\u{1b}[0m", tone.code()),
        false => text.to_owned(),
    }
}

/// Asks whoever sits at the terminal and returns their line, if there is one.
pub(crate) fn ask(question: &str) -> Option<String> {
    to_stderr(question);
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).ok()?;
    (read > 0).then_some(line)
}

/// Writes to stderr, in the place of what progress was shown; when even that fails there is nobody left to tell.
fn to_stderr(text: &str) {
    if above::take(text) {
        return;
    }
    let mut err = io::stderr().lock();
    let clear = match PROGRESS.swap(false, Ordering::Relaxed) {
        true => CLEAR_LINE,
        false => "",
    };
    err.write_all(format!("{clear}{text}").as_bytes())
        .and_then(|()| err.flush())
        .ok();
}
