//! Finds the attributes that name an item of a collection: its id on the server, and its alias.

use smol_str::SmolStr;

use super::schema::Attributes;
use super::template::is_safe;
use crate::metadata::identity::{last_word, singular};

/// The two names of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemNames {
    pub(super) id: SmolStr,
    pub(super) alias: SmolStr,
}

/// Attributes that usually hold a name, the best first.
const NAMES: [&str; 7] = ["clientId", "alias", "name", "id", "key", "uuid", "uid"];

impl ItemNames {
    /// Derives the names from the variable of an item in a path, the attributes that items have, and, if neither helps, what
    /// one item of the collection is called.
    pub(super) fn of(variable: Option<&str>, attributes: &Attributes, item_name: Option<&str>) -> Self {
        let is_attribute =
            |name: &&str| attributes.is_empty() || attributes.iter().any(|known| known.eq_ignore_ascii_case(name));
        let from_path = variable.filter(|name| is_safe(name)).filter(is_attribute);
        let from_schema = || NAMES.into_iter().find(|name| attributes.contains(*name));
        let from_name = || match item_name {
            Some(name) if name.eq_ignore_ascii_case("client") => "clientId",
            name => name.unwrap_or("id"),
        };
        let alias = from_path.or_else(from_schema).unwrap_or_else(from_name);
        let lower = alias.to_ascii_lowercase();
        let has_id = from_path.is_none() && attributes.contains("id");
        let is_kind_of_id = lower.ends_with("id") && lower != "id";
        let id = if has_id || is_kind_of_id { "id" } else { alias };
        Self { id: id.into(), alias: alias.into() }
    }
}

/// The name of one item of a collection: the last word of the collection's name, in the singular. `None` if a template cannot
/// contain it.
pub(super) fn item_name(collection: &str) -> Option<String> {
    let name = singular(collection).or_else(|| last_word(collection).map(SmolStr::new))?;
    is_safe(&name).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(variable: Option<&str>, attributes: &[&str], item_name: Option<&str>) -> (String, String) {
        let attributes = attributes.iter().map(SmolStr::new).collect();
        let identity = ItemNames::of(variable, &attributes, item_name);
        (identity.alias.to_string(), identity.id.to_string())
    }

    #[test]
    fn variables_count_if_they_are_attributes() {
        let pair = |alias: &str, id: &str| (alias.to_owned(), id.to_owned());
        assert_eq!(identity(Some("organization"), &["id", "alias", "name"], Some("organization")), pair("alias", "id"));
        assert_eq!(identity(Some("name"), &["id", "name"], None), pair("name", "name"));
        assert_eq!(identity(Some("NAME"), &["id", "name"], None), pair("NAME", "NAME"));
        assert_eq!(identity(Some("orgId"), &["id", "name"], None), pair("name", "id"));
        assert_eq!(identity(Some("clientId"), &[], Some("client")), pair("clientId", "id"));
        assert_eq!(identity(Some("client-uuid"), &[], Some("client")), pair("clientId", "id"));
        assert_eq!(identity(Some("x"), &["y"], Some("part")), pair("part", "part"));
        assert_eq!(identity(None, &["key"], Some("part")), pair("key", "key"));
        assert_eq!(identity(None, &["uid"], Some("part")), pair("uid", "id"));
        assert_eq!(identity(Some("id"), &[], None), pair("id", "id"));
        assert_eq!(identity(None, &[], None), pair("id", "id"));
    }

    #[test]
    fn collections_are_named_in_the_plural() {
        let cases = [
            ("categories", "category"),
            ("sub-items", "item"),
            ("user.groups", "group"),
            ("data", "data"),
            ("Users", "User"),
            ("s", "s"),
            ("ies", "ie"),
            ("parts_", "part"),
        ];
        for (collection, item) in cases {
            assert_eq!(item_name(collection).as_deref(), Some(item), "{collection}");
        }
        for nothing in ["", "-", "2fas", "größen", "a b"] {
            assert_eq!(item_name(nothing), None, "{nothing}");
        }
    }
}
