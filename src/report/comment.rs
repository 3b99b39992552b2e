//! Comments beside values: shown with them, never compared.

use crate::text::{Redaction, Sources};
use crate::value::{Node, Value};

/// Longer comments are not about the value.
const LONGEST: usize = 80;

/// The comment that follows a scalar in its line: `# v5.0.1`.
pub(super) fn beside(node: &Node, sources: &Sources) -> Option<String> {
    if matches!(node.value, Value::Map(_) | Value::List(_) | Value::Secret(_)) {
        return None;
    }
    let source = sources.get(node.span.source);
    if source.redaction != Redaction::Nothing {
        return None;
    }
    let range = node.span.range();
    let is_one_line = !source.part(range.clone())?.contains('\n');
    let rest = source.rest_of_line(range.end).filter(|_| is_one_line && !range.is_empty())?;
    let comment = rest.trim_start_matches([' ', '\t']);
    let is_comment = comment.len() < rest.len() && comment.starts_with('#');
    let comment = comment.trim_end();
    (is_comment && comment.len() > 1 && comment.len() <= LONGEST).then(|| comment.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::limits::Limits;
    use crate::report::sample::path;
    use crate::text::SourceText;

    #[test]
    fn only_what_follows_in_the_line_is_a_comment_beside_a_value() {
        let sources = Sources::default();
        let text = "a: x@1 # v1\nb: 'y' \t# v2  \nc: z#3\nd: z\n# v4\ne: [q] # list\nf: |\n  text\ng: #none\n";
        let id = sources.add(SourceText::new(path("a.yaml"), "HEAD", text));
        let root = parse(text, id, Format::Yaml, &Limits::default()).value.remove(0).root;
        let comment = |key: &str| beside(root.get(key).expect("a value"), &sources);
        assert_eq!(comment("a").as_deref(), Some("# v1"));
        assert_eq!(comment("b").as_deref(), Some("# v2"));
        for key in ["c", "d", "e", "f", "g"] {
            assert_eq!(comment(key), None, "{key}");
        }
    }
}
