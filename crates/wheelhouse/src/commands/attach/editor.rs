//! The line editor of a person at a terminal: arrow keys, history, several lines, and output above what is typed.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::thread;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, Config, Editor, EventHandler, ExternalPrinter, Helper, KeyCode, KeyEvent, Modifiers,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::line::{COMMANDS, leaves};
use crate::exit::{CliError, CliResult};
use crate::ui::{AboveGuard, Ui, print_above};

/// The prompt of the line editor.
const PROMPT: &str = "› ";
/// Maximum number of lines read ahead.
const LINES_AHEAD_MAX: usize = 16;
/// Width used when the terminal does not report one.
const COLUMNS: u16 = 80;

/// An input event of the line editor.
#[derive(Debug)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Closed,
}

/// A line editor that runs on a thread of its own. Dropping it gives the terminal back as it was.
pub(super) struct LineEditor {
    typed: Receiver<Typed>,
    _above: AboveGuard,
    _terminal: TerminalModes,
}

impl LineEditor {
    /// Starts to edit lines, if there is a terminal for it, with earlier lines in the history.
    pub(super) fn start(ui: &Ui, history: Vec<String>) -> CliResult<Option<Self>> {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if ui.is_json() || is_dumb || !has_terminal {
            return Ok(None);
        }
        let failed = |error: &dyn std::error::Error| {
            CliError::failed(format!("cannot edit lines at this terminal: {error}"))
        };
        let terminal = TerminalModes::save().map_err(|error| failed(&error))?;
        let mut editor = editor(history).map_err(|error| failed(&error))?;
        let mut printer = editor
            .create_external_printer()
            .map_err(|error| failed(&error))?;
        let columns = match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 => size.ws_col,
            _ => COLUMNS,
        };
        // A terminal that is gone closes the input as well, which ends the conversation.
        let print = move |text| drop(printer.print(text));
        // A line that fills the last column leaves some terminals on the next one.
        let above = print_above(print, usize::from(columns) - 1);
        let (send, typed) = channel(LINES_AHEAD_MAX);
        thread::spawn(move || read_lines(editor, &send));
        Ok(Some(Self {
            typed,
            _above: above,
            _terminal: terminal,
        }))
    }

    /// Waits for a line or a key that means something.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was not returned is returned by the next call.
    pub(super) async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::Closed)
    }
}

fn editor(history: Vec<String>) -> rustyline::Result<Editor<Words, MemHistory>> {
    let config = Config::builder().auto_add_history(true).build();
    let recalled = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, recalled)?;
    editor.set_helper(Some(Words));
    // Terminals send either for Alt-Enter.
    for key in [
        KeyEvent::new('\r', Modifiers::ALT),
        KeyEvent(KeyCode::Enter, Modifiers::ALT),
    ] {
        editor.bind_sequence(key, EventHandler::Simple(Cmd::Newline));
    }
    for line in history {
        editor.add_history_entry(line)?;
    }
    Ok(editor)
}

/// Reads lines until one leaves or the input ends.
fn read_lines(mut editor: Editor<Words, MemHistory>, send: &Sender<Typed>) {
    loop {
        let typed = match editor.readline(PROMPT) {
            Ok(line) => Typed::Line(joined(&line)),
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::Closed,
        };
        let is_last = match &typed {
            Typed::Line(line) => leaves(line),
            Typed::Interrupted => false,
            Typed::Closed => true,
        };
        if send.blocking_send(typed).is_err() || is_last {
            return;
        }
    }
}

/// Takes the backslashes away that continued a line.
fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

/// Completes the words with a slash, and lets a backslash at the end continue a line.
struct Words;

impl Helper for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match context.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let typed = &line[..position];
        let fitting = COMMANDS.iter().filter(|_| typed.starts_with('/'));
        let fitting = fitting.filter(|command| command.starts_with(typed));
        Ok((0, fitting.map(|command| format!("{command} ")).collect()))
    }
}

/// The modes of the terminal before the editor changed them.
struct TerminalModes(Termios);

impl TerminalModes {
    fn save() -> io::Result<Self> {
        Ok(Self(tcgetattr(io::stdin())?))
    }
}

impl Drop for TerminalModes {
    fn drop(&mut self) {
        // The editor may be in the middle of a line: its prompt goes, and so does its mode for pasting.
        let clear = "\r\u{1b}[K\u{1b}[?2004l";
        rustix::io::write(io::stdout(), clear.as_bytes()).ok();
        tcsetattr(io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_continues_a_line() {
        assert_eq!(joined("one\\\ntwo\nthree"), "one\ntwo\nthree");
        assert_eq!(joined("a\\b"), "a\\b");
    }
}
