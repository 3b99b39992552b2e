//! Files that are compared line by line, because what they mean cannot be: not YAML or JSON, and documents that do not parse.

use std::io;

use super::paint::{Line, Role, Screen};
use super::style::Style;
use super::unified::hunk_lines;
use crate::comparison::{TextContent, TextFile};
use crate::diff::text::hunks;

/// Lines around a change, as git has it.
const CONTEXT: usize = 3;

/// Writes a heading and the lines that differ for each file.
pub fn write(files: &[TextFile], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            screen.blank()?;
        }
        screen.line(heading(file))?;
        if let TextContent::Text { before, after } = &file.content {
            let shown = |text: &Option<String>| with_visible_tabs(text.as_deref().unwrap_or_default(), style);
            for hunk in hunks(&shown(before), &shown(after), CONTEXT) {
                hunk_lines(&hunk, "").iter().try_for_each(|line| screen.exact_line(line))?;
            }
        }
    }
    Ok(())
}

/// `~ Makefile  (not YAML or JSON: compared line by line)`.
fn heading(file: &TextFile) -> Line {
    let (symbol, role) = match &file.content {
        TextContent::Text { before: None, .. } => ("+ ", Role::Added),
        TextContent::Text { after: None, .. } => ("- ", Role::Removed),
        _ => ("~ ", Role::Changed),
    };
    let how = match &file.content {
        content if content.is_same() => "the text is the same",
        TextContent::Text { .. } => "compared line by line",
        TextContent::Binary => "the bytes differ",
        TextContent::Sensitive => "differs; not shown because it may contain secrets",
        TextContent::NotAFile => "differs",
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
    use crate::path::RepoPath;

    fn shown(content: TextContent) -> String {
        let path = RepoPath::new("a/Makefile").expect("a fine path");
        let mut out = Vec::new();
        let style = Style { in_ci: true, ..Style::default() };
        write(&[TextFile { path, reason: "not YAML or JSON", content }], &style, &mut out).expect("memory takes all");
        String::from_utf8(out).expect("it is text")
    }

    fn text(before: Option<&str>, after: Option<&str>) -> TextContent {
        TextContent::Text { before: before.map(str::to_owned), after: after.map(str::to_owned) }
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
        assert_eq!(shown(TextContent::Binary), "~ a/Makefile  (not YAML or JSON: the bytes differ)\n");
        assert!(shown(TextContent::Sensitive).contains("not shown because it may contain secrets"));
        assert!(shown(text(Some("a"), Some("a"))).contains("the text is the same"));
    }
}
