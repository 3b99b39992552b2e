//! The values of fields that no layer sets.

use super::operation::Operation;

/// The value of a field that no layer sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldDefault {
    /// The field has no value.
    None,
    /// A text.
    Text(&'static str),
    /// An empty map.
    EmptyMap,
    /// An empty list.
    EmptyList,
    /// Headers by name.
    Headers(&'static [(&'static str, &'static str)]),
}

/// The two headers that name the format of a body, as they are written.
pub(super) const MEDIA_HEADERS: [&str; 2] = ["Accept", "Content-Type"];

/// Whether a header names the format of a body; case is ignored.
pub(super) fn is_media_header(name: &str) -> bool {
    MEDIA_HEADERS.iter().any(|media| media.eq_ignore_ascii_case(name))
}

pub(super) fn default_method(operation: Operation) -> FieldDefault {
    FieldDefault::Text(match operation {
        Operation::Create => "POST",
        Operation::Update => "PUT",
        Operation::Delete => "DELETE",
        Operation::Get | Operation::List | Operation::Compare => "GET",
    })
}

pub(super) fn default_path(operation: Operation) -> FieldDefault {
    FieldDefault::Text(match operation {
        Operation::Create | Operation::List => ".",
        _ => "./{{.id}}",
    })
}

pub(super) fn default_headers(operation: Operation) -> FieldDefault {
    const ACCEPT: (&str, &str) = (MEDIA_HEADERS[0], "application/{{resource_format .}}");
    const CONTENT_TYPE: (&str, &str) = (MEDIA_HEADERS[1], "application/{{resource_format .}}");
    FieldDefault::Headers(match operation {
        Operation::Create | Operation::Update => &[ACCEPT, CONTENT_TYPE],
        _ => &[ACCEPT],
    })
}

impl FieldDefault {
    /// The default as YAML on one line; `None` if there is none.
    pub(super) fn to_yaml(self) -> Option<String> {
        let quoted = |text: &str| format!("'{text}'");
        match self {
            Self::None => None,
            Self::Text(text) if text.bytes().all(|byte| byte.is_ascii_alphabetic()) => Some(text.to_owned()),
            Self::Text(text) => Some(quoted(text)),
            Self::EmptyMap => Some("{}".to_owned()),
            Self::EmptyList => Some("[]".to_owned()),
            Self::Headers(headers) => {
                let items = headers.iter().map(|(name, value)| format!("{{name: {name}, value: {}}}", quoted(value)));
                Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
            }
        }
    }
}
