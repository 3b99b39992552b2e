//! Files that are compared line by line, because what they mean cannot be: not YAML or JSON, and documents that do not parse.

use std::io;
use std::ops::Range;

use super::paint::{Line, Role, Screen};
use super::style::Style;
use super::summary_counts::plural;
use super::{TextCause, TextContent, TextFile};
use crate::diff::text::{Hunk, hunks};

/// Lines around a change, as git has it.
const CONTEXT: usize = 3;

/// Lines of one file that a terminal shows without `-v`.
const MOST_LINES: usize = 60;

/// Writes a heading and the lines that differ for each file.
pub fn write(files: &[TextFile], style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    show(files, style, &mut Screen::new(out, style))
}

/// Shows files with a blank line between them.
pub(super) fn show(files: &[TextFile], style: &Style, screen: &mut Screen<'_>) -> io::Result<()> {
    for (at, file) in files.iter().enumerate() {
        if at > 0 {
            screen.blank()?;
        }
        heading(file, style.columns()).into_iter().try_for_each(|line| screen.line(line))?;
        let lines = hunks_of(file, style);
        let most = if style.is_limited() { MOST_LINES } else { lines.len() };
        lines.iter().take(most).try_for_each(|line| screen.exact_line(line))?;
        if lines.len() > most {
            let more = plural(lines.len() - most, "more line");
            let phrase = format!("{} {more} (-v shows all)", style.symbols().ellipsis);
            screen.line(Line::default().with(Role::Dim, &phrase))?;
        }
    }
    Ok(())
}

/// The lines of a file that differ, in hunks; none if they are not to be shown.
pub(super) fn hunks_of(file: &TextFile, style: &Style) -> Vec<Line> {
    let TextContent::Text { before, after } = &file.content else { return Vec::new() };
    let shown = |text: &Option<String>| with_visible_tabs(text.as_deref().unwrap_or_default(), style);
    hunks(&shown(before), &shown(after), CONTEXT).iter().flat_map(|hunk| hunk_lines(hunk, "")).collect()
}

/// The resource is named where git shows the function of a hunk.
pub(super) fn hunk_lines(hunk: &Hunk<'_>, identity: &str) -> Vec<Line> {
    let range = |range: &Range<usize>| match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    };
    let ranges = format!("@@ -{} +{} @@", range(&hunk.before), range(&hunk.after));
    let identity = if identity.is_empty() { String::new() } else { format!(" {identity}") };
    let mut lines = vec![Line::default().with(Role::Moved, &ranges).with(Role::Plain, &identity)];
    for line in &hunk.lines {
        lines.push(match (line.before, line.after) {
            (Some(_), None) => Line::default().with(Role::Removed, &format!("-{}", line.text)),
            (None, _) => Line::default().with(Role::Added, &format!("+{}", line.text)),
            _ => Line::default().with(Role::Plain, &format!(" {}", line.text)),
        });
        if !line.has_line_feed {
            lines.push(Line::default().with(Role::Dim, "\\ No newline at end of file"));
        }
    }
    lines
}

/// The number of added and removed lines, as far as they are known.
pub(super) fn extent(file: &TextFile) -> (usize, usize) {
    let TextContent::Text { before, after } = &file.content else { return (0, 0) };
    let hunks = hunks(before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default(), 0);
    let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
    (lines().filter(|line| line.before.is_none()).count(), lines().filter(|line| line.after.is_none()).count())
}

/// `~ Makefile  (not YAML or JSON: compared line by line)`, on two lines if one is too narrow.
fn heading(file: &TextFile, columns: usize) -> Vec<Line> {
    let (symbol, role) = symbol(file);
    let line = Line::default().with(role, symbol).with(Role::Plain, " ");
    let line = match &file.renamed_from {
        Some(old) => line.with(Role::Heading, &format!("{old} → {}", file.path)),
        None => line.with(Role::Heading, &file.path.to_string()),
    };
    let note = Line::indented(2).with(Role::Dim, &format!("({})", note(file)));
    if line.width() + note.width() <= columns { vec![line.then(note)] } else { vec![line, note] }
}

/// The sign of a file: added, removed or changed.
pub(super) fn symbol(file: &TextFile) -> (&'static str, Role) {
    match &file.content {
        TextContent::Text { before: None, .. } | TextContent::Bytes { before: None, .. } => ("+", Role::Added),
        TextContent::Text { after: None, .. } | TextContent::Bytes { after: None, .. } => ("-", Role::Removed),
        _ => ("~", Role::Changed),
    }
}

/// What the file is and how it was compared.
pub(super) fn note(file: &TextFile) -> String {
    let bytes = |size: &Option<usize>| size.map_or("none".to_owned(), |size| plural(size, "byte"));
    let how = match &file.content {
        content if content.is_same() && file.renamed_from.is_some() => "renamed".to_owned(),
        content if content.is_same() => "the text is the same".to_owned(),
        TextContent::Text { .. } => "compared line by line".to_owned(),
        TextContent::Bytes { before, after } => format!("{} before, {} after", bytes(before), bytes(after)),
        TextContent::Sensitive => "differs; not shown because it may contain secrets".to_owned(),
        TextContent::NotAFile => "differs".to_owned(),
    };
    let what = match file.cause {
        TextCause::NotByContent => file.kind,
        TextCause::Unread => "has errors",
        TextCause::Other => "not YAML or JSON",
    };
    format!("{what}: {how}")
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
        let file = TextFile { path, renamed_from: None, cause: TextCause::Other, kind: "other files", content };
        write(&[file], &style, &mut out).expect("memory takes all");
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
        let bytes = TextContent::Bytes { before: Some(1), after: Some(2000) };
        assert_eq!(shown(bytes), "~ a/Makefile  (not YAML or JSON: 1 byte before, 2,000 bytes after)\n");
        assert!(shown(TextContent::Sensitive).contains("not shown because it may contain secrets"));
        assert!(shown(text(Some("a"), Some("a"))).contains("the text is the same"));
    }
}
