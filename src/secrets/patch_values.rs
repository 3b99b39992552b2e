//! Secrets that patch files write: the value of an operation is as secret as the place it is meant for.

use smol_str::SmolStr;

use super::mask::Hiding;
use super::withhold::withhold_value;
use crate::path::{Pointer, unescape_token};
use crate::value::{Entry, Node, list_index};

/// A patch file with the values of its operations hidden. `hide` does so in a document that holds nothing but one value, at its
/// place: only that says whether it is secret. `kind` is that of the resources it is for, unless it says so itself. With
/// `is_declared`, rules or metadata say that some places are secret: values whose place is not known are withheld.
#[must_use]
pub(super) fn hide_operations(root: Node, kind: Option<&str>, is_declared: bool, hide: &dyn Fn(Node) -> Node) -> Node {
    let hidden = Walk { hide, is_declared }.node(&root, kind).unwrap_or_else(|| root.clone());
    hide_parameters(&root, hidden)
}

/// Whether a place in a file of patches is a field of its format, and not something that becomes part of a resource as it is. The
/// value of an operation is judged by the place that it is meant for.
pub(super) fn is_field_of_patches(place: &Pointer) -> bool {
    let tokens: Vec<&str> = place.tokens().iter().map(SmolStr::as_str).collect();
    let is_item = |token: &str| list_index(token).is_some();
    let spec = match tokens.as_slice() {
        ["inherit" | "patches" | "removes"] => return true,
        ["patches" | "removes", spec @ ..] => spec,
        spec => spec,
    };
    match spec {
        [at, field] => is_item(at) && (SPEC.contains(field) || OPERATION.contains(field)),
        [at, "target", _] => is_item(at),
        [at, "operations", operation, field] => is_item(at) && is_item(operation) && OPERATION.contains(field),
        _ => false,
    }
}

/// The fields of a patch.
const SPEC: [&str; 5] = ["forEach", "operations", "target", "targetPlane", "var"];
/// The fields of an operation.
const OPERATION: [&str; 4] = ["from", "op", "path", "value"];

/// Hides the parameters that expressions put at secret places. Where the place is an expression too, it may be any.
fn hide_parameters(root: &Node, hidden: Node) -> Node {
    let Some(parameters) = hidden.get("parameters").cloned() else { return hidden };
    let mut texts = Vec::new();
    if let (Some(patches), Some(shown)) = (root.get("patches"), hidden.get("patches")) {
        secret_expressions(patches, shown, "", &mut texts);
    }
    let text = texts.join(" ");
    let is_used = |name: &str| text.contains(name);
    let used = parameters.map_children(|child| {
        child.key.is_some_and(|key| is_used(&key.name)).then(|| Hiding::everything().scalars(child.node))
    });
    match used {
        Some(used) => hidden.with_at(&[SmolStr::new_static("parameters")].into_iter().collect(), used),
        None => hidden,
    }
}

/// The expressions of operations whose values are secret, with those that they iterate over.
fn secret_expressions(written: &Node, shown: &Node, each: &str, texts: &mut Vec<String>) {
    let own = written.get("forEach").and_then(Node::as_str).unwrap_or(each);
    if let (Some(path), Some(value)) = (written.get("path").and_then(Node::as_str), written.get("value")) {
        let is_hidden = shown.get("value").is_some_and(Node::holds_secret);
        if is_hidden || path.contains("${") {
            value.for_each(&mut Pointer::root(), |_, node| texts.extend(node.as_str().map(ToOwned::to_owned)));
            texts.push(own.to_owned());
        }
    }
    for (child, shown) in written.children().zip(shown.children()) {
        secret_expressions(child.node, shown.node, own, texts);
    }
}

struct Walk<'a> {
    hide: &'a dyn Fn(Node) -> Node,
    is_declared: bool,
}

impl Walk<'_> {
    /// Nothing if there is nothing to hide.
    fn node(&self, node: &Node, kind: Option<&str>) -> Option<Node> {
        let target = node.get("target").and_then(|target| target.get("kind")).and_then(Node::as_str);
        let kind = target.or(kind);
        let path = node.get("path").and_then(Node::as_str);
        let place = path.filter(|path| !path.contains("${") || !self.is_declared).map(tokens);
        let is_operation = node.get("op").is_some() || path.is_some();
        node.map_children(|child| match &place {
            _ if !is_operation || child.key.is_none_or(|key| key.name != "value") => self.node(child.node, kind),
            Some(place) => self.value(child.node, place, kind),
            None => self.is_declared.then(|| withhold_value(child.node)),
        })
    }

    fn value(&self, value: &Node, place: &[SmolStr], kind: Option<&str>) -> Option<Node> {
        let span = value.span;
        let alone = place
            .iter()
            .rev()
            .fold(value.clone(), |inner, token| Node::map(vec![Entry::named(token.clone(), span, inner)], span));
        // Who patches a Secret seldom says so twice.
        let is_of_secret = match place.first().map(SmolStr::as_str) {
            Some("stringData") => true,
            Some("data") => kind == Some("Secret"),
            _ => false,
        };
        let alone = match (is_of_secret, alone.as_map()) {
            (true, Some(map)) => {
                let kind = Entry::named("kind", span, Node::text("Secret", span));
                Node::map(map.entries().iter().cloned().chain([kind]).collect(), span)
            }
            _ => alone,
        };
        let hidden = (self.hide)(alone);
        hidden.at(&place.iter().cloned().collect()).filter(|hidden| !hidden.is_identical(value)).cloned()
    }
}

/// The names on the way to a place; every item of a list is the first.
fn tokens(path: &str) -> Vec<SmolStr> {
    let mut tokens = Vec::new();
    for piece in path.split('/').filter(|piece| !piece.is_empty()) {
        let (name, brackets) =
            piece.split_once('[').map_or((piece, 0), |(name, rest)| (name, 1 + rest.matches("][").count()));
        tokens.extend((!name.is_empty()).then(|| unescape_token(name)));
        tokens.extend(std::iter::repeat_n(SmolStr::new_static("0"), brackets));
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::document::{self, Format};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::resource::{Identity, Resource};
    use crate::secrets::Masks;
    use crate::settings::PlaceRule;
    use crate::text::{SourceText, Sources};

    fn shown(text: &str) -> String {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text));
        let root = document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0).root;
        let masks = Masks::new(&[PlaceRule { within: None, pointer: "/**/apiKey".into() }]);
        let hide = |payload: Node| {
            let identity = Identity::File { path: RepoPath::root(), position: None };
            masks.hide(Resource { identity, file: RepoPath::root(), position: 0, payload, unit: None }).payload
        };
        to_inline(&hide_operations(root, None, true, &hide))
    }

    #[test]
    fn what_is_meant_for_a_secret_place_is_hidden() {
        assert_eq!(
            shown("[{operations: [{op: add, path: /apiKey, value: hunter2}]}]"),
            "[{operations: [{op: add, path: /apiKey, value: •••}]}]"
        );
        assert_eq!(
            shown("[{op: add, path: '/a[?(@.n==''x'')]', value: {apiKey: hunter2, b: 1}}]"),
            "[{op: add, path: \"/a[?(@.n=='x')]\", value: {apiKey: •••, b: 1}}]"
        );
        assert_eq!(shown("[{op: add, path: /b, value: hunter2}]"), "[{op: add, path: /b, value: hunter2}]");
    }

    #[test]
    fn what_is_meant_for_a_place_that_is_not_known_is_withheld() {
        assert_eq!(
            shown("[{op: add, path: '/${x}', value: hunter2}, {op: add, value: {a: hunter2}}]"),
            "[{op: add, path: \"/${x}\", value: (withheld)}, {op: add, value: {a: (withheld)}}]"
        );
    }

    #[test]
    fn fields_of_the_format_are_no_attributes() {
        let is_field = |place: &str| is_field_of_patches(&Pointer::parse(place).unwrap());
        for place in ["/0/value", "/0/operations/1/value", "/patches/0/operations/1/path", "/removes/0/target/name"] {
            assert!(is_field(place), "{place}");
        }
        for place in ["/0/operations/1/value/value", "/parameters/value", "/0/other", "/value", "/0/operations/1/x"] {
            assert!(!is_field(place), "{place}");
        }
    }

    #[test]
    fn what_is_meant_for_a_kubernetes_secret_is_hidden() {
        let shown_value = |target: &str, path: &str| {
            shown(&format!("[{{target: {target}, operations: [{{op: add, path: {path}, value: hunter2}}]}}]"))
                .contains("hunter2")
        };
        assert!(!shown_value("{kind: Secret}", "/data/x"));
        assert!(!shown_value("{}", "/stringData/x"));
        assert!(shown_value("{kind: ConfigMap}", "/data/x"));
    }
}
