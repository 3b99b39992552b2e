//! Reads files of names and values: `.properties` as a flat map, `.ini` with a map for each section. All values are texts.

use smol_str::SmolStr;

use crate::text::{SourceId, Span};
use crate::value::{Entry, Node};

/// The names and values of a `.properties` text. Dots stay in names, and a later value of the same name wins.
pub fn properties(text: &str, source: SourceId) -> Node {
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines(text) {
        if let Some(entry) = pair(text, line, &['#', '!'], source) {
            put(&mut entries, entry);
        }
    }
    Node::map(entries, Span::new(source, 0, text.len()))
}

/// The names and values of an `.ini` text: those before the first section, and a map for each section.
pub fn ini(text: &str, source: SourceId) -> Node {
    let mut top: Vec<Entry> = Vec::new();
    let mut section: Option<(Entry, Vec<Entry>)> = None;
    let close = |top: &mut Vec<Entry>, section: Option<(Entry, Vec<Entry>)>| {
        if let Some((mut entry, entries)) = section {
            entry.value = Node::map(entries, entry.value.span);
            put(top, entry);
        }
    };
    for line in lines(text) {
        let trimmed = text[line.clone()].trim();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            close(&mut top, section.take());
            let at = Span::new(source, line.start, line.end);
            section = Some((Entry::named(SmolStr::new(name.trim()), at, Node::map(Vec::new(), at)), Vec::new()));
        } else if let Some(entry) = pair(text, line, &['#', ';'], source) {
            match &mut section {
                Some((_, entries)) => put(entries, entry),
                None => put(&mut top, entry),
            }
        }
    }
    close(&mut top, section);
    Node::map(top, Span::new(source, 0, text.len()))
}

fn lines(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..start + line.trim_end_matches(['\n', '\r']).len()
    })
}

/// `name = value` or `name: value`, at its place; nothing for a comment or a blank line.
fn pair(text: &str, line: std::ops::Range<usize>, comments: &[char], source: SourceId) -> Option<Entry> {
    let written = &text[line.clone()];
    if written.trim().is_empty() || written.trim_start().starts_with(comments) {
        return None;
    }
    let cut = written.find(['=', ':']).unwrap_or(written.len());
    let value = written.get(cut + 1..).unwrap_or_default();
    let start = line.start + (written.len() - written.trim_start().len());
    let key = Span::new(source, start, start + written[..cut].trim().len());
    let value_start = line.end - value.trim_start().len();
    let at = Span::new(source, value_start.min(line.end), value_start + value.trim().len());
    Some(Entry::named(SmolStr::new(written[..cut].trim()), key, Node::text(value.trim(), at)))
}

fn put(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.iter_mut().find(|known| known.key.name == entry.key.name) {
        Some(known) => *known = entry,
        None => entries.push(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};

    #[test]
    fn names_and_values_are_texts() {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
        let text = "# note\na.b=1\nc = x y\n\nd: e\nc=z\nlone\n";
        assert_eq!(to_inline(&properties(text, source)), "{a.b: \"1\", c: z, d: e, lone: \"\"}");
        let text = "top=1\n[a.b]\nx = 2 ; kept\n; note\n[c]\n";
        assert_eq!(to_inline(&ini(text, source)), "{top: \"1\", a.b: {x: 2 ; kept}, c: {}}");
    }
}
