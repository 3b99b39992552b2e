//! Explains what JSON does not allow, with help.
//!
//! Messages never quote values: a file that does not parse may contain a secret.

use std::ops::Range;

use crate::finding::{self, Finding};

use super::JsonReader;

impl JsonReader<'_> {
    pub(super) fn refuse(&self, range: Range<usize>, message: &str, label: &str, help: &str) -> Box<Finding> {
        let finding = self.problems.finding(&finding::DOCUMENT_SYNTAX, range, message);
        Box::new(finding.labelled(label).help(help))
    }

    /// The range of the character at an offset; empty at the end of a line or of the text.
    pub(super) fn character(&self, at: usize) -> Range<usize> {
        let length = self.text[at..].chars().next().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
        at..at + length
    }

    pub(super) fn here(&self) -> Range<usize> {
        self.character(self.at)
    }

    /// The range of the word, number or other run of characters at an offset.
    pub(super) fn run(&self, at: usize) -> Range<usize> {
        let is_end = |c: char| c.is_ascii_whitespace() || ",:[]{}\"'/#".contains(c);
        let length = self.text[at..].find(is_end).unwrap_or(self.text.len() - at);
        if length == 0 { self.character(at) } else { at..at + length }
    }

    /// Errors that are possible anywhere: comments, single quotes, the end of the file.
    pub(super) fn foreign(&self) -> Option<Box<Finding>> {
        let rest = &self.text[self.at..];
        match rest.chars().next() {
            None => Some(self.unclosed()),
            Some('#') => Some(self.comment()),
            Some('/') if rest.starts_with("//") || rest.starts_with("/*") => Some(self.comment()),
            Some('\'') => Some(self.refuse(
                self.here(),
                "a string in single quotes",
                "this quote",
                "JSON strings use double quotes",
            )),
            Some('\u{feff}') => Some(self.refuse(
                self.here(),
                "a byte order mark inside the file",
                "invisible character",
                "remove it; joining files often leaves one behind",
            )),
            Some(_) => None,
        }
    }

    pub(super) fn comment(&self) -> Box<Finding> {
        let length = self.text[self.at..].find(['\n', '\r']).unwrap_or(self.text.len() - self.at);
        let help = "JSON has no comments; remove it, or give the file a name that does not end in `.json`";
        self.refuse(self.at..self.at + length, "a comment", "this comment", help)
    }

    pub(super) fn unclosed(&self) -> Box<Finding> {
        let Some(frame) = self.frames.last() else {
            let help = "an empty file is not JSON; `{}` and `null` are";
            return self.refuse(self.here(), "the file has no value", "", help);
        };
        let bracket = &self.text[frame.start..=frame.start];
        let message = format!("`{bracket}` is not closed");
        let finding = self.refuse(frame.start..frame.start + 1, &message, "opened here", "add the closing bracket");
        Box::new(finding.related(self.problems.span(self.at..self.at), "the file ends here"))
    }

    pub(super) fn no_value(&self) -> Box<Finding> {
        if let Some(finding) = self.foreign() {
            return finding;
        }
        let run = self.run(self.at);
        match &self.text[run.clone()] {
            "]" | "}" | "," | ":" => {
                self.refuse(run, "a value is missing", "expected a value before this", "write `null` if there is none")
            }
            "NaN" | "Infinity" | "nan" | "inf" | "undefined" | "None" | "True" | "False" | "TRUE" | "FALSE"
            | "NULL" => {
                self.refuse(run, "unknown word", "this word", "the words of JSON are `true`, `false` and `null`")
            }
            text if text.starts_with(['+', '.']) => self.not_a_number(self.at),
            _ => self.refuse(run, "a string without quotes", "not a JSON value", "put text between double quotes"),
        }
    }

    pub(super) fn no_key(&self) -> Box<Finding> {
        let before = self.text[..self.at].trim_ascii_end();
        if self.peek() == Some(b'}') && before.ends_with(',') {
            return self.trailing_comma(before.len() - 1);
        }
        let help = "put keys between double quotes";
        self.foreign().unwrap_or_else(|| self.refuse(self.run(self.at), "a key is expected here", "not a key", help))
    }

    pub(super) fn no_colon(&self) -> Box<Finding> {
        let help = "write `\"key\": value`";
        self.foreign()
            .unwrap_or_else(|| self.refuse(self.here(), "a colon is missing after a key", "expected `:`", help))
    }

    pub(super) fn trailing_comma(&self, comma: usize) -> Box<Finding> {
        let help = "JSON does not allow a comma after the last entry: remove it";
        self.refuse(comma..comma + 1, "a comma with nothing after it", "this comma", help)
    }

    pub(super) fn no_separator(&self, open: char, close: char) -> Box<Finding> {
        if let Some(finding) = self.foreign() {
            return finding;
        }
        let bracket = self.frames.last().map_or(self.at, |frame| frame.start);
        let bracket = self.problems.span(bracket..bracket + 1);
        let finding = match self.peek() {
            Some(b']' | b'}') => {
                let message = format!("`{open}` is closed by the wrong bracket");
                let help = format!("close it with `{close}`, in the order the brackets were opened");
                self.refuse(self.here(), &message, &format!("expected `,` or `{close}`"), &help)
            }
            _ => {
                let label = format!("expected `,` or `{close}` before this");
                self.refuse(self.run(self.at), "a comma is missing", &label, "put a comma between entries")
            }
        };
        Box::new(finding.related(bracket, "inside the bracket opened here"))
    }

    pub(super) fn more_than_one_value(&self) -> Box<Finding> {
        let help = "a JSON file holds one value; perhaps a bracket is closed too early";
        let refusal = || self.refuse(self.run(self.at), "text after the end of the value", "not part of it", help);
        self.foreign().unwrap_or_else(refusal)
    }

    pub(super) fn not_a_number(&self, start: usize) -> Box<Finding> {
        let help = "JSON numbers are decimal, without `+`, leading zeros or a bare point: `10`, `-0.5`, `1e3`";
        self.refuse(self.run(start), "not a JSON number", "this number", help)
    }

    pub(super) fn unclosed_string(&self, quote: usize) -> Box<Finding> {
        self.refuse(quote..quote + 1, "this string is not closed", "opened here", "add the closing quote")
    }

    pub(super) fn raw_control(&self) -> Box<Finding> {
        match self.peek() {
            Some(b'\n' | b'\r') => self.refuse(
                self.here(),
                "a line break inside quotes",
                "the string continues after this",
                "add the closing quote, or write the line break as `\\n`",
            ),
            Some(b'\t') => self.refuse(self.here(), "a tab inside quotes", "tab", "write it as `\\t`"),
            _ => self.refuse(
                self.here(),
                "a control character inside quotes",
                "invisible character",
                "remove it, or write it as `\\u` and four hexadecimal digits",
            ),
        }
    }

    pub(super) fn unknown_escape(&self, start: usize) -> Box<Finding> {
        let end = self.character(start + 1).end;
        let help = "write `\\\\` for a backslash; `\\u` takes four hexadecimal digits";
        self.refuse(start..end, "unknown escape", "this escape", help)
    }

    pub(super) fn lone_surrogate(&self, start: usize) -> Box<Finding> {
        let help = "write both halves (`\\ud83d\\ude00`), or the character itself";
        self.refuse(start..start + 6, "half of a surrogate pair is not a character", "this escape", help)
    }
}
