//! Text from repositories in Markdown, where nothing in it means anything.

use crate::report::paint::{Line, columns, split_at_columns};
use crate::sanitize;

/// The longest repository text outside code blocks, in columns.
pub(super) const LONGEST_SPAN: usize = 200;

/// Text in a code span, where nothing in it means anything to Markdown.
pub fn span(text: &str) -> String {
    let text = shortened(text);
    if text.is_empty() {
        return "``  ``".to_owned();
    }
    let marks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    [&marks, pad, &text, pad, &marks].concat()
}

/// Text in a code span of a table cell. A bar ends a cell even inside a code span, and parsers disagree on escaping it.
pub(super) fn cell(text: &str) -> String {
    if text.is_empty() { String::new() } else { span(&text.replace('|', "│")) }
}

pub(super) fn html(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            '`' => shown.push_str("&#96;"),
            c => shown.push(c),
        }
    }
    shown
}

/// Lines in a code block whose fence is longer than anything in it that looks like one.
pub(super) fn fenced(lines: &[Line]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| sanitize::without_workflow_commands(line.plain().trim_end()).into_owned()).collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}diff\n{}\n{fence}\n", lines.join("\n"))
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// One visible line of bounded length that commands no runner.
pub(super) fn shortened(text: &str) -> String {
    let text = sanitize::inline(text);
    let text = if columns(&text) > LONGEST_SPAN {
        format!("{}…", split_at_columns(&text, LONGEST_SPAN).0)
    } else {
        text.into_owned()
    };
    text.replace("##[", "##\\[")
}

/// A link to a line of a file, if it is known where files are shown.
pub(super) fn link(base: Option<&str>, text: &str, file: &str, line: Option<usize>) -> String {
    let Some(base) = base else { return span(text) };
    let line = line.map(|line| format!("#L{line}")).unwrap_or_default();
    format!("[{}]({}/{}{line})", span(text), base.trim_end_matches('/'), encoded(file))
}

/// A path in an address: everything but plain characters in percent signs.
pub(in crate::report) fn encoded(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => shown.push(char::from(byte)),
            byte => shown.push_str(&format!("%{byte:02X}")),
        }
    }
    shown
}
