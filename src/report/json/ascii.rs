//! JSON text that is exact and yet harmless where it is printed: hidden characters and marks of commands are escaped.
//!
//! Machine output ends up in terminals and in logs that a runner interprets. JSON can write every character as an escape, so
//! nothing is lost by escaping the dangerous ones.

use std::io;

use serde_json::ser::Formatter;

use crate::sanitize;

/// Compact JSON with visible strings.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, c) in fragment.char_indices() {
            let is_command = c == '[' && fragment[..at].ends_with("##");
            if !sanitize::is_hidden(c) && !is_command {
                continue;
            }
            writer.write_all(&fragment.as_bytes()[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }
}
