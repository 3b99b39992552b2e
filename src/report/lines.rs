//! Files that are compared line by line, because what they mean cannot be: not YAML or JSON, and documents that do not parse.

use std::io;

use super::paint::{Line, Role, Screen};
use super::style::Style;
use super::unified::hunk_lines;
use crate::diff::text::hunks;
use crate::path::RepoPath;

/// A file that differs and is not compared by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainFile {
    /// Its path.
    pub path: RepoPath,
    /// Why it is not compared by value.
    pub reason: &'static str,
    /// Its content on both sides.
    pub content: PlainContent,
}

/// What is known of both sides of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainContent {
    /// Text on both sides; a side that does not have the file has none.
    Text {
        /// The older text.
        before: Option<String>,
        /// The newer text.
        after: Option<String>,
    },
    /// Something that is not text, on at least one side.
    Binary,
    /// Text that may contain secrets, so that no line of it is shown.
    Sensitive,
    /// Not a file on at least one side.
    NotAFile,
}

impl PlainContent {
    /// Whether the texts of both sides are equal.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Text { before, after } if before == after)
    }
}

/// Lines around a change, as git has it.
const CONTEXT: usize = 3;

/// Writes a heading and the lines that differ for each file.
pub fn write(files: &[PlainFile], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            screen.blank()?;
        }
        screen.line(heading(file))?;
        if let PlainContent::Text { before, after } = &file.content {
            let shown = |text: &Option<String>| with_visible_tabs(text.as_deref().unwrap_or_default(), style);
            for hunk in hunks(&shown(before), &shown(after), CONTEXT) {
                hunk_lines(&hunk, "").iter().try_for_each(|line| screen.exact_line(line))?;
            }
        }
    }
    Ok(())
}

/// `~ Makefile  (not YAML or JSON: compared line by line)`.
fn heading(file: &PlainFile) -> Line {
    let (symbol, role) = match &file.content {
        PlainContent::Text { before: None, .. } => ("+ ", Role::Added),
        PlainContent::Text { after: None, .. } => ("- ", Role::Removed),
        _ => ("~ ", Role::Changed),
    };
    let how = match &file.content {
        content if content.is_same() => "the text is the same",
        PlainContent::Text { .. } => "compared line by line",
        PlainContent::Binary => "the bytes differ",
        PlainContent::Sensitive => "differs; not shown because it may contain secrets",
        PlainContent::NotAFile => "differs",
    };
    let note = format!("  ({}: {how})", file.reason);
    Line::default().with(role, symbol).with(Role::Heading, &file.path.to_string()).with(Role::Dim, &note)
}

/// A tab cannot go to a terminal as it is, and must not look like blanks: that may be all that changed.
fn with_visible_tabs(text: &str, style: &Style) -> String {
    text.replace('\t', &format!("{:<4}", style.symbols().arrow))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(content: PlainContent) -> String {
        let path = RepoPath::new("a/Makefile").expect("a fine path");
        let mut out = Vec::new();
        let style = Style { in_ci: true, ..Style::default() };
        write(&[PlainFile { path, reason: "not YAML or JSON", content }], &style, &mut out).expect("memory takes all");
        String::from_utf8(out).expect("it is text")
    }

    fn text(before: Option<&str>, after: Option<&str>) -> PlainContent {
        PlainContent::Text { before: before.map(str::to_owned), after: after.map(str::to_owned) }
    }

    #[test]
    fn lines_are_shown_as_git_shows_them() {
        let found = shown(text(Some("all:\n\tcc\nend\n"), Some("all:\n\tgcc\nend")));
        let expected = "~ a/Makefile  (not YAML or JSON: compared line by line)\n@@ -1,3 +1,3 @@\n all:\n-→   cc\n-end\n+→   gcc\n+end\n\
                        \\ No newline at end of file\n";
        assert_eq!(found, expected);
        let added = shown(text(None, Some("x\n")));
        assert_eq!(added, "+ a/Makefile  (not YAML or JSON: compared line by line)\n@@ -0,0 +1 @@\n+x\n");
    }

    #[test]
    fn hostile_lines_do_nothing() {
        let found = shown(text(Some(""), Some("\x1b[31m::error::x\r\n##[error]y\n")));
        assert!(found.contains("+\\e[31m::error::x\\r\n+##\\[error]y\n"), "{found}");
    }

    #[test]
    fn what_is_not_shown_is_said() {
        assert_eq!(shown(PlainContent::Binary), "~ a/Makefile  (not YAML or JSON: the bytes differ)\n");
        assert!(shown(PlainContent::Sensitive).contains("not shown because it may contain secrets"));
        assert!(shown(text(Some("a"), Some("a"))).contains("the text is the same"));
    }
}
