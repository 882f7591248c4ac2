//! One record: its frame, and the check that it is whole.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::event::AgentEvent;

/// Hex digits of the checksum and the space after it.
const HEAD_BYTES: usize = 9;

/// One numbered thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub seq: u64,
    /// Microseconds since 1970, by the runner's clock.
    pub at: u64,
    pub event: AgentEvent,
}

#[derive(Serialize)]
struct Borrowed<'a> {
    seq: u64,
    at: u64,
    event: &'a AgentEvent,
}

/// Appends the line of a record to `line`.
pub(super) fn encode(seq: u64, at: u64, event: &AgentEvent, line: &mut Vec<u8>) -> io::Result<()> {
    line.extend_from_slice(&[b' '; HEAD_BYTES]);
    serde_json::to_writer(&mut *line, &Borrowed { seq, at, event })?;
    let sum = crc32(&line[HEAD_BYTES..]);
    write!(&mut line[..HEAD_BYTES - 1], "{sum:08x}")?;
    line.push(b'\n');
    Ok(())
}

/// Reads a line with its newline. `None` means that it is not whole.
pub(super) fn decode(line: &[u8]) -> Option<Record> {
    let line = line.strip_suffix(b"\n")?;
    let (head, json) = line.split_at_checked(HEAD_BYTES)?;
    let sum = std::str::from_utf8(&head[..HEAD_BYTES - 1]).ok()?;
    let sum = u32::from_str_radix(sum, 16).ok()?;
    if head[HEAD_BYTES - 1] != b' ' || crc32(json) != sum {
        return None;
    }
    serde_json::from_slice(json).ok()
}

/// The CRC-32 of Ethernet and zip; small enough to have here.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = table();
    !bytes.iter().fold(!0, |sum, byte| {
        TABLE[((sum ^ u32::from(*byte)) & 0xff) as usize] ^ (sum >> 8)
    })
}

const fn table() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 {
                0xedb8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
