//! Comments near values: shown with them, never compared.

use std::sync::Arc;

use crate::text::{Redaction, SourceText, Sources};
use crate::value::{Node, Value};

/// Longer comments are not about the value.
const LONGEST: usize = 80;
/// Longer comments above a value are texts for people.
const LONGEST_ABOVE: usize = 200;

/// The comment that follows a scalar in its line: `# v5.0.1`.
pub fn comment_beside(node: &Node, sources: &Sources) -> Option<String> {
    let source = readable(node, sources)?;
    let range = node.span.range();
    let is_one_line = !source.part(range.clone())?.contains('\n');
    let rest = source.rest_of_line(range.end).filter(|_| is_one_line && !range.is_empty())?;
    let comment = rest.trim_start_matches([' ', '\t']);
    let is_comment = comment.len() < rest.len() && comment.starts_with('#');
    let comment = comment.trim_end();
    (is_comment && comment.len() > 1 && comment.len() <= LONGEST).then(|| comment.to_owned())
}

/// The comment in the line above a scalar: `# renovate: depName=example/app`.
pub(super) fn comment_above(node: &Node, sources: &Sources) -> Option<String> {
    let source = readable(node, sources)?;
    let comment = source.line_above(node.span.range().start)?.trim();
    (comment.starts_with('#') && comment.len() <= LONGEST_ABOVE).then(|| comment.to_owned())
}

/// The text that a scalar is written in, unless it may hold secrets.
fn readable(node: &Node, sources: &Sources) -> Option<Arc<SourceText>> {
    if matches!(node.value, Value::Map(_) | Value::List(_) | Value::Secret(_)) {
        return None;
    }
    Some(sources.get(node.span.source)).filter(|source| source.redaction == Redaction::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::limits::Limits;
    use crate::path::RepoPath;

    #[test]
    fn only_what_follows_in_the_line_is_a_comment_beside_a_value() {
        let sources = Sources::default();
        let text = "a: x@1 # v1\nb: 'y' \t# v2  \nc: z#3\nd: z\n# v4\ne: [q] # list\nf: |\n  text\ng: #none\n";
        let id = sources.add(SourceText::new(RepoPath::new("a.yaml").unwrap(), "HEAD", text));
        let root = parse(text, id, Format::Yaml, &Limits::default()).value.remove(0).root;
        let comment = |key: &str| comment_beside(root.get(key).expect("a value"), &sources);
        assert_eq!(comment("a").as_deref(), Some("# v1"));
        assert_eq!(comment("b").as_deref(), Some("# v2"));
        for key in ["c", "d", "e", "f", "g"] {
            assert_eq!(comment(key), None, "{key}");
        }
    }
}
