//! The templates of remote paths that metadata has.

use super::field::{Field, FieldPath, Operation, Section};
use crate::text::Span;
use crate::value::Node;

/// A template of a remote path.
#[derive(Debug, Clone)]
pub struct PathTemplate {
    /// As it is written.
    pub text: String,
    /// Where it is written.
    pub span: Span,
    /// Whether it starts from the path of the collection.
    pub is_relative: bool,
}

impl PathTemplate {
    fn absolute((text, span): (String, Span)) -> Self {
        Self { text, span, is_relative: false }
    }

    fn of_operation((text, span): (String, Span)) -> Self {
        let text = text.trim().to_owned();
        Self { is_relative: text.starts_with('.'), text, span }
    }
}

/// The path templates among the values of metadata, in the order of their strength.
pub(super) fn path_templates<'m>(value: &impl Fn(&FieldPath) -> Option<&'m Node>) -> Vec<PathTemplate> {
    let own = value(&FieldPath::new(Section::Resource, Field::CollectionPath)).and_then(texts);
    let mut templates: Vec<PathTemplate> = own.into_iter().map(PathTemplate::absolute).collect();
    templates.extend(resource_paths(value, Section::Defaults));
    const BY_NAME: [Operation; 6] =
        [Operation::Compare, Operation::Create, Operation::Delete, Operation::Get, Operation::List, Operation::Update];
    for operation in BY_NAME {
        let section = Section::Operation(operation);
        templates.extend(resource_paths(value, section));
        let path = value(&FieldPath::new(section, Field::Path)).and_then(texts);
        templates.extend(path.map(PathTemplate::of_operation));
    }
    templates
}

fn texts(node: &Node) -> Option<(String, Span)> {
    Some((node.as_str()?.to_owned(), node.span))
}

/// The paths in `resource("…")` of a section's jq.
fn resource_paths<'m>(value: &impl Fn(&FieldPath) -> Option<&'m Node>, section: Section) -> Vec<PathTemplate> {
    let Some((jq, span)) = value(&FieldPath::new(section, Field::Jq)).and_then(texts) else { return Vec::new() };
    let calls = jq.split("resource").skip(1).filter_map(|rest| {
        let argument = rest.trim_start().strip_prefix('(')?.trim_start().strip_prefix('"')?;
        let end = argument.find('"')?;
        Some(PathTemplate::absolute((argument[..end].to_owned(), span)))
    });
    calls.collect()
}
