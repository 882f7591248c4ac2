//! Finding the members of objects in JSON text that may hold comments and trailing commas.

use std::ops::Range;

/// How deep values may nest.
const DEPTH_MAX: usize = 200;

/// Where an object's parts are.
#[derive(Debug)]
pub(super) struct Object {
    /// Of `{`.
    pub(super) open: usize,
    /// Of `}`.
    pub(super) close: usize,
    pub(super) members: Vec<Member>,
    /// After the comma behind the last member.
    pub(super) trailing_comma: Option<usize>,
}

/// Where a member's parts are.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

impl Object {
    /// Finds a member. Of several with one name the last counts, as in every reader.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().rev().find(|member| member.name == name)
    }
}

type Scan<T> = Result<T, String>;

/// Walks over JSON text.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
        }
    }

    /// Scans the object that the whole text is.
    pub(super) fn root(&self) -> Scan<Object> {
        let start = if self.text.starts_with('\u{feff}') {
            3
        } else {
            0
        };
        let object = self.object(self.skip(start)?)?;
        match self.skip(object.close + 1)? {
            end if end == self.bytes.len() => Ok(object),
            end => Err(self.wrong(end, "something follows the object")),
        }
    }

    /// Scans the object that begins at `open`.
    pub(super) fn object(&self, open: usize) -> Scan<Object> {
        if self.at(open) != Some(b'{') {
            return Err(self.wrong(open, "an object should begin"));
        }
        let mut members = Vec::new();
        let mut trailing_comma = None;
        let mut at = self.skip(open + 1)?;
        while self.at(at) != Some(b'}') {
            let key = at..self.string(at)?;
            let name = serde_json::from_str(&self.text[key.clone()])
                .map_err(|_| self.wrong(key.start, "a name should stand"))?;
            let colon = self.skip(key.end)?;
            if self.at(colon) != Some(b':') {
                return Err(self.wrong(colon, "a colon should stand"));
            }
            let start = self.skip(colon + 1)?;
            let value = start..self.value(start, 0)?;
            at = self.skip(value.end)?;
            members.push(Member { name, key, value });
            trailing_comma = None;
            match self.at(at) {
                Some(b',') => {
                    trailing_comma = Some(at + 1);
                    at = self.skip(at + 1)?;
                }
                Some(b'}') => {}
                _ => return Err(self.wrong(at, "a comma or } should stand")),
            }
        }
        Ok(Object {
            open,
            close: at,
            members,
            trailing_comma,
        })
    }

    /// Returns where the value that begins at `start` ends.
    fn value(&self, start: usize, depth: usize) -> Scan<usize> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(start, "it nests too deeply"));
        }
        match self.at(start) {
            Some(b'"') => self.string(start),
            Some(open @ (b'{' | b'[')) => {
                let close = if open == b'{' { b'}' } else { b']' };
                let mut at = self.skip(start + 1)?;
                while self.at(at) != Some(close) {
                    at = match self.at(at) {
                        Some(b',' | b':') => at + 1,
                        _ => self.value(at, depth + 1)?,
                    };
                    at = self.skip(at)?;
                }
                Ok(at + 1)
            }
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                let rest = &self.bytes[start..];
                let is_end = |byte: &u8| {
                    !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
                };
                Ok(start + rest.iter().position(is_end).unwrap_or(rest.len()))
            }
            _ => Err(self.wrong(start, "a value should stand")),
        }
    }

    /// Returns where the string that begins at `start` ends.
    fn string(&self, start: usize) -> Scan<usize> {
        if self.at(start) != Some(b'"') {
            return Err(self.wrong(start, "a name in quotes should stand"));
        }
        let mut at = start + 1;
        loop {
            match self.at(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at += 2,
                Some(b'\n') | None => return Err(self.wrong(start, "a text does not end")),
                Some(_) => at += 1,
            }
        }
    }

    /// Skips white space and comments.
    fn skip(&self, mut at: usize) -> Scan<usize> {
        loop {
            let rest = &self.bytes[at.min(self.bytes.len())..];
            at += match rest {
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => {
                    let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                    end.ok_or_else(|| self.wrong(at, "a comment does not end"))? + 4
                }
                _ => return Ok(at),
            };
        }
    }

    fn at(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn wrong(&self, at: usize, what: &str) -> String {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("line {line}: {what} there")
    }
}

/// Returns the text of one value without comments and trailing commas, for a reader that knows neither.
pub(super) fn without_comments(text: &str) -> String {
    let scanner = Scanner::new(text);
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = scanner.skip(at).unwrap_or(text.len());
        if next > at {
            plain.push(b' ');
            at = next;
            continue;
        }
        match scanner.bytes[at] {
            b'"' => {
                let end = scanner.string(at).unwrap_or(text.len());
                plain.extend_from_slice(&scanner.bytes[at..end]);
                at = end;
            }
            byte => {
                if matches!(byte, b'}' | b']') {
                    while plain.last().is_some_and(u8::is_ascii_whitespace) {
                        plain.pop();
                    }
                    plain.pop_if(|last| *last == b',');
                }
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
