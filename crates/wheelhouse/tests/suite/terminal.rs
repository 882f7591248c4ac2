//! A command at a pseudo-terminal, as a person has it: what is typed goes through the terminal's own line editing or the command's, and
//! Ctrl-C is a key.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::pty::openpty;
use rustix::termios::LocalModes;

const WITHIN: Duration = Duration::from_secs(60);

/// A command and its terminal. It ends with the test.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    shown: RefCell<Vec<u8>>,
    /// Up to here it was looked at.
    seen: Cell<usize>,
}

impl Terminal {
    /// Starts a command as the leader of a session whose terminal this is.
    #[expect(
        unsafe_code,
        reason = "what runs between fork and exec cannot be checked by a type"
    )]
    pub(crate) fn start(command: &mut Command) -> Self {
        let pair = openpty(None, None).unwrap();
        let end = File::from(pair.slave);
        command
            .stdin(end.try_clone().unwrap())
            .stdout(end.try_clone().unwrap())
            .stderr(end);
        // SAFETY: two system calls that take no lock and no memory.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                Ok(rustix::process::ioctl_tiocsctty(io::stdin())?)
            });
        }
        let child = command.spawn().unwrap();
        // The command holds our copies of the terminal's end; with them open the screen would never end.
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        let keyboard = File::from(pair.master);
        let mut screen = keyboard.try_clone().unwrap();
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal whose other end is closed is an error to read, not an end.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard,
            screen: receive,
            shown: RefCell::default(),
            seen: Cell::new(0),
        }
    }

    /// Waits until these words are shown behind what was waited for before, and returns what is shown up to their end.
    #[track_caller]
    pub(crate) fn until(&self, words: &str) -> String {
        let deadline = Instant::now() + WITHIN;
        loop {
            if let Some(at) = find(&self.shown.borrow()[self.seen.get()..], words) {
                let from = self.seen.replace(self.seen.get() + at + words.len());
                let shown = &self.shown.borrow()[from..self.seen.get()];
                return String::from_utf8_lossy(shown).into_owned();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.shown.borrow_mut().extend(bytes),
                Err(error) => panic!("{error}: no {words:?} in {:?}", self.shown()),
            }
        }
    }

    /// Types a line.
    pub(crate) fn line(&mut self, text: &str) {
        self.press(&format!("{text}\r"));
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&mut self) {
        self.press("\u{3}");
    }

    /// Presses Ctrl-D.
    pub(crate) fn close(&mut self) {
        self.press("\u{4}");
    }

    /// Presses keys, as the bytes that a terminal sends for them.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the command has ended and has given the terminal back; returns its exit code and everything that was shown.
    #[track_caller]
    pub(crate) fn wait(mut self) -> (i32, String) {
        let deadline = Instant::now() + WITHIN;
        while let Ok(bytes) = self
            .screen
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.shown.borrow_mut().extend(bytes);
        }
        assert!(Instant::now() < deadline, "it goes on: {:?}", self.shown());
        let modes = rustix::termios::tcgetattr(&self.keyboard).unwrap();
        let usual = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        let is_usual = modes.local_modes.contains(usual);
        assert!(
            is_usual,
            "the terminal is left as {modes:?}: {:?}",
            self.shown()
        );
        (self.child.wait().unwrap().code().unwrap(), self.shown())
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.borrow()).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn find(bytes: &[u8], words: &str) -> Option<usize> {
    let mut windows = bytes.windows(words.len());
    windows.position(|window| window == words.as_bytes())
}
