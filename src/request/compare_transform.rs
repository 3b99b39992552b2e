//! Applies the compare transforms of metadata to a payload before it is compared.

use crate::finding::Finding;
use crate::metadata::Operation;
use crate::request::{self, Flavour, RequestTarget};
use crate::value::Node;

/// A payload after its compare transforms. The rules and the templates of jq are those of the target; the payload may be
/// that of the other side.
pub fn transform(payload: &Node, target: &RequestTarget<'_>) -> Result<Node, Box<Finding>> {
    // The rules can reach resources above, as any template can.
    let scoped = request::scope_for(target, Operation::Compare);
    request::transform(payload, target, Operation::Compare, &scoped, Flavour::Compare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, write::to_inline};
    use crate::limits::Limits;
    use crate::metadata::of_document;
    use crate::names::Format;
    use crate::path::{LogicalPath, RepoPath};
    use crate::request::{CompiledTemplates, NoResources};
    use crate::text::{SourceText, Sources};

    fn compared(metadata: &str, payload: &str) -> String {
        let sources = Sources::default();
        let read = |text: &str| {
            let source = sources.add(SourceText::new(RepoPath::root(), "test", text));
            document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0).root
        };
        let (metadata, payload) = (of_document(&read(metadata)).value, read(payload));
        let target = RequestTarget {
            path: &LogicalPath::parse("/realms/acme/clients/web").unwrap(),
            payload: &payload,
            metadata: &metadata,
            format: Format::Json,
            file_type: None,
            lookup: &NoResources,
            sources: &sources,
            memo: &CompiledTemplates::default(),
        };
        match transform(&payload, &target) {
            Ok(node) => to_inline(&node),
            Err(finding) => format!("{}: {}", finding.rule.id, finding.message),
        }
    }

    #[test]
    fn the_order_is_fixed_unless_it_is_written_below_payload() {
        let top = "operationInfo: {compareResources: {jqExpression: '.m = .a', suppressAttributes: [/a]}}";
        assert_eq!(compared(top, "{a: 1}"), "{m: null}");
        let below = "operationInfo: {compareResources: {payload: {jqExpression: '.m = .a', suppressAttributes: [/a]}}}";
        assert_eq!(compared(below, "{a: 1}"), "{m: 1}");
    }

    #[test]
    fn shared_defaults_apply_and_names_are_as_good_as_pointers() {
        let metadata = "operationInfo: {defaults: {payload: {suppressAttributes: [links]}}, compareResources: {filterAttributes: []}}";
        assert_eq!(compared(metadata, "{links: [], a: 1}"), "{a: 1}");
        let filter = "operationInfo: {compareResources: {filterAttributes: [/none]}}";
        assert_eq!((compared(filter, "{a: 1}"), compared(filter, "[1]")), ("{}".to_owned(), "[]".to_owned()));
        let blank = "operationInfo: {compareResources: {suppressAttributes: ['']}}";
        assert_eq!(compared(blank, "{a: 1}"), "null");
    }

    #[test]
    fn jq_is_a_template_and_null_is_left_alone() {
        let metadata = "operationInfo: {compareResources: {jqExpression: '.x = \"{{.realm}}\"'}}";
        assert_eq!(compared(metadata, "{a: 1}"), "{a: 1, x: acme}");
        assert_eq!(compared(metadata, "null"), "null");
        let wrong = "operationInfo: {compareResources: {jqExpression: '.a | envv'}}";
        assert!(
            compared(wrong, "{a: 1}")
                .starts_with("expression/jq: the jq of compare for /realms/acme/clients/web: there is no")
        );
    }
}
