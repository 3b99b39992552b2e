//! What follows from a path alone, without any document: placeholders for wildcards, and the paths of all operations.

use std::collections::BTreeMap;

use super::identity::{ItemNames, item_name};
use super::schema::Attributes;
use super::template::placeholder;
use crate::glob::is_glob;
use crate::metadata::{MetadataPath, WILDCARD};

/// The paths of operations that the OpenAPI document does not describe.
#[derive(Debug)]
pub(super) struct Fallback {
    /// The segments of the collection's path.
    pub(super) collection: Vec<String>,
    /// The segments of an item's path.
    pub(super) item: Vec<String>,
    /// What one item of the collection is called.
    pub(super) item_name: Option<String>,
    /// The names of items; `None` for a single resource.
    pub(super) identity: Option<ItemNames>,
    /// Whether items of such a collection usually hold a secret.
    pub(super) has_secret: bool,
}

impl Fallback {
    pub(super) fn of(path: &MetadataPath) -> Self {
        let segments = path.segments();
        if path.is_collection() { Self::of_collection(segments) } else { Self::of_resource(segments) }
    }

    fn of_resource(segments: &[String]) -> Self {
        let collection = segments.split_last().map(|(_, above)| above.to_vec()).unwrap_or_default();
        Self { collection, item: segments.to_vec(), item_name: None, identity: None, has_secret: false }
    }

    fn of_collection(segments: &[String]) -> Self {
        let collection = with_placeholders(segments);
        let name = segments.iter().rfind(|segment| !is_pattern(segment));
        // One name for two segments of a path would be one value for both.
        let is_free = |name: &String| !collection.contains(&placeholder(name));
        let item_name = name.and_then(|name| item_name(name)).filter(is_free);
        let identity = ItemNames::of(None, &Attributes::new(), item_name.as_deref());
        let mut item = collection.clone();
        item.push(placeholder(&identity.id));
        let has_secret = name.is_some_and(|name| {
            let name = name.to_lowercase();
            name == "clients" || name.contains("secret") || name.contains("credential")
        });
        Self { collection, item, item_name, identity: Some(identity), has_secret }
    }
}

/// The segments with a placeholder for each wildcard, named after its collection.
fn with_placeholders(segments: &[String]) -> Vec<String> {
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut named = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        if !is_pattern(segment) {
            named.push(segment.clone());
            continue;
        }
        let collection = segments[..at].iter().rfind(|segment| !is_pattern(segment));
        let name = collection.and_then(|name| item_name(name)).unwrap_or_else(|| format!("segment{}", at + 1));
        let count = used.entry(name.clone()).or_default();
        *count += 1;
        named.push(match *count {
            1 => placeholder(&name),
            count => placeholder(&format!("{name}{count}")),
        });
    }
    named
}

fn is_pattern(segment: &str) -> bool {
    segment == WILDCARD || is_glob(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> (String, String) {
        let fallback = Fallback::of(&MetadataPath::parse(text).unwrap());
        (fallback.collection.join("/"), fallback.item.join("/"))
    }

    #[test]
    fn wildcards_are_called_after_the_collection_before_them() {
        let pair = |collection: &str, item: &str| (collection.to_owned(), item.to_owned());
        let parts = "categories/{{.category}}/sub-items/{{.item}}/parts";
        assert_eq!(paths("/categories/_/sub-items/_/parts/"), pair(parts, &format!("{parts}/{{{{.part}}}}")));
        assert_eq!(paths("/_/_/x/"), pair("{{.segment1}}/{{.segment2}}/x", "{{.segment1}}/{{.segment2}}/x/{{.x}}"));
        assert_eq!(paths("/as/_/_/cs/"), pair("as/{{.a}}/{{.a2}}/cs", "as/{{.a}}/{{.a2}}/cs/{{.c}}"));
        assert_eq!(paths("/as/x*/cs/"), pair("as/{{.a}}/cs", "as/{{.a}}/cs/{{.c}}"));
        assert_eq!(paths("/"), pair("", "{{.id}}"));
        assert_eq!(paths("/v1/data/_/_"), pair("v1/data/{{.data}}", "v1/data/{{.data}}/{{.id}}"));
        assert_eq!(paths("/customers/acme"), pair("customers", "customers/acme"));
    }
}
