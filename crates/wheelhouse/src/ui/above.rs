//! Output above a line that is being edited.
//!
//! While somebody types, nothing may be written to the terminal directly: it would land in the middle of their line. Whatever is
//! printed goes through the line editor instead, in whole lines. A printer thread waits for the editor, so that nobody else has to.

use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long to wait until everything is printed.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);

/// Where output goes instead of the terminal.
static ABOVE: Mutex<Option<Above>> = Mutex::new(None);

struct Above {
    printer: Sender<Message>,
    /// The beginning of a line whose end was not printed yet.
    begun: String,
    columns: usize,
}

enum Message {
    Print(String),
    Drained(SyncSender<()>),
}

/// Ends the detour when dropped.
#[derive(Debug)]
pub(crate) struct AboveGuard(());

/// Sends output through `print`, which gets whole lines, until the guard is dropped. A line that has begun is broken at `columns`, so that long
/// text is seen while it grows.
pub(crate) fn print_above(
    mut print: impl FnMut(String) + Send + 'static,
    columns: usize,
) -> AboveGuard {
    let (printer, messages) = channel();
    std::thread::spawn(move || {
        for message in messages {
            match message {
                Message::Print(text) => print(text),
                // Whoever waited has given up when nobody takes this.
                Message::Drained(done) => drop(done.try_send(())),
            }
        }
    });
    *lock() = Some(Above {
        printer,
        begun: String::new(),
        columns: columns.max(20),
    });
    AboveGuard(())
}

impl Drop for AboveGuard {
    fn drop(&mut self) {
        let Some(mut above) = lock().take() else {
            return;
        };
        if !above.begun.is_empty() {
            let begun = std::mem::take(&mut above.begun);
            above.print(format!("{begun}\n"));
        }
        let (done, drained) = sync_channel(1);
        above.printer.send(Message::Drained(done)).ok();
        drained.recv_timeout(DRAIN_WITHIN).ok();
    }
}

/// Takes output that must not go to the terminal directly; returns whether it took it.
pub(super) fn take(text: &str) -> bool {
    let mut above = lock();
    let Some(above) = above.as_mut() else {
        return false;
    };
    if let Some(lines) = whole_lines(&mut above.begun, text, above.columns) {
        above.print(lines);
    }
    true
}

impl Above {
    fn print(&self, text: String) {
        // Without the thread there is no terminal either.
        self.printer.send(Message::Print(text)).ok();
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Above>> {
    ABOVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds text to what has begun, and returns the lines that are whole by now.
fn whole_lines(begun: &mut String, text: &str, columns: usize) -> Option<String> {
    begun.push_str(text);
    let end = begun.rfind('\n').map_or(0, |at| at + 1);
    let mut lines: String = begun.drain(..end).collect();
    while let Some((limit, next)) = begun.char_indices().nth(columns) {
        let within = &begun[..limit + next.len_utf8()];
        let at = within.rfind(' ').map_or(limit, |at| at + 1);
        let line: String = begun.drain(..at).collect();
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    (!lines.is_empty()).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_printed_when_they_are_whole() {
        let mut begun = String::new();
        let mut say = |text: &str| whole_lines(&mut begun, text, 10);
        assert_eq!(say("one "), None);
        assert_eq!(say("two\nthree"), Some("one two\n".to_owned()));
        assert_eq!(say(" four"), None);
        // Words that do not fit begin the next line.
        assert_eq!(say(" five"), Some("three four\n".to_owned()));
        assert_eq!(say("\n"), Some("five\n".to_owned()));
        // What has no spaces is cut.
        assert_eq!(say("éééééééééééé"), Some("éééééééééé\n".to_owned()));
        assert_eq!(say("\n"), Some("éé\n".to_owned()));
    }
}
