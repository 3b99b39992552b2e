//! Folded blocks as they come out of kustomize, whose library prints them with a line break too many or too few.

use crate::document::{self, Format};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// What is read when a text is printed as a folded block; `None` if it is the same text.
pub(super) fn printed_and_read(text: &str) -> Option<String> {
    let is_indented = text.starts_with([' ', '\t', '\n']) || text.contains("\n ") || text.contains("\n\t");
    let is_plain = !is_indented && !text.ends_with("\n\n");
    if is_plain {
        return None;
    }
    let printed = printed(text);
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", printed.as_str()));
    let parsed = document::parse(&printed, source, Format::Yaml, &Limits::default());
    let read = parsed.value.first()?.root.get("v").and_then(Node::as_str)?.to_owned();
    (read != text).then_some(read)
}

/// The text as the library prints it, under a key.
fn printed(text: &str) -> String {
    let mut printed = String::from("v: >");
    printed.push_str(if text.starts_with([' ', '\n']) { "2" } else { "" });
    printed.push_str(match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    });
    printed.push('\n');
    // The library looks at the beginning of the text where it should look at the next line.
    let first = text.trim_start_matches('\n').chars().next();
    let adds_breaks = first.is_some_and(|first| !matches!(first, ' ' | '\t'));
    let (mut is_at_break, mut has_leading_spaces) = (true, true);
    for character in text.chars() {
        if character == '\n' {
            if !is_at_break && !has_leading_spaces && adds_breaks {
                printed.push('\n');
            }
            printed.push('\n');
            is_at_break = true;
            continue;
        }
        if is_at_break {
            printed.push_str("  ");
            has_leading_spaces = matches!(character, ' ' | '\t');
        }
        printed.push(character);
        is_at_break = false;
    }
    if !is_at_break {
        printed.push('\n');
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_indented_more_gets_a_blank_line_before_it() {
        assert_eq!(printed_and_read("a(\n  b\n)").as_deref(), Some("a(\n\n  b\n)"));
        assert_eq!(printed_and_read("a\nb\n"), None);
        assert_eq!(printed_and_read("a\n\nb"), None);
        assert_eq!(printed_and_read("a\nb\n\n").as_deref(), Some("a\nb\n\n\n"));
        assert_eq!(printed_and_read("a\n b\n\n c\n\nd").as_deref(), Some("a\n\n b\n\n c\n\nd"));
        assert_eq!(printed_and_read("a\n\tb\nc").as_deref(), Some("a\n\n\tb\nc"));
        assert_eq!(printed_and_read("\nlead x\n"), None);
        assert_eq!(printed_and_read("  a\nb\n"), None);
    }
}
