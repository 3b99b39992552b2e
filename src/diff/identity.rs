//! The keys that identify list items: members that together name an item, configured or detected.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use smol_str::SmolStr;

use crate::value::{Node, Number, Value};

/// The members that together name an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Names(Vec<Member>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    /// A member, or a dotted path to one further down.
    path: Cow<'static, str>,
    absent: Absent,
}

/// What it means that an item lacks a member of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// Then it has no name.
    Nameless,
    /// The name then consists of the other members.
    Shorter,
    /// The value that is used then.
    Means(&'static str),
    /// Then it has no name; and only the part before the `/` counts, because an API version is no part of a name.
    NamelessGroup,
}

/// One part of an item's name.
#[derive(Debug)]
pub(super) enum Part<'a> {
    Absent,
    Text(&'a str),
    Number(&'a Number),
    Bool(bool),
}

/// The detected members, and the pairs of items that they match.
#[derive(Debug)]
pub(super) struct Guess {
    pub(super) names: Names,
    pub(super) pairs: Vec<(usize, usize)>,
}

impl Names {
    /// Members from the settings: each may be missing, but not all.
    pub(super) fn configured(keys: &[SmolStr]) -> Self {
        let member = |key: &SmolStr| Member { path: Cow::Owned(key.to_string()), absent: Absent::Shorter };
        Self(keys.iter().map(member).collect())
    }

    /// Members that every item must have, unless they have a default; an empty default is left out of the name.
    pub(super) fn known(members: &[(&'static str, Option<&'static str>)]) -> Self {
        let member = |&(path, default): &(&'static str, Option<&'static str>)| {
            let absent = match default {
                None => Absent::Nameless,
                Some("") => Absent::Shorter,
                Some(text) => Absent::Means(text),
            };
            Member { path: Cow::Borrowed(path), absent }
        };
        Self(members.iter().map(member).collect())
    }

    /// What Kubernetes calls an object by.
    fn kubernetes() -> Self {
        let member = |path, absent| Member { path: Cow::Borrowed(path), absent };
        Self(vec![
            member("apiVersion", Absent::NamelessGroup),
            member("kind", Absent::Nameless),
            member("metadata.namespace", Absent::Shorter),
            member("metadata.name", Absent::Nameless),
        ])
    }

    /// The name of an item; `None` if it has none.
    pub(super) fn parts<'a>(&self, item: &'a Node) -> Option<Vec<Part<'a>>> {
        item.as_map()?;
        let parts = self.0.iter().map(|member| member.part(item)).collect::<Option<Vec<_>>>()?;
        parts.iter().any(|part| !matches!(part, Part::Absent)).then_some(parts)
    }

    /// The name of an item as people read it: `name=web`, or `containerPort=80,protocol=TCP`.
    pub(super) fn label(&self, item: &Node) -> Option<SmolStr> {
        let parts = self.parts(item)?;
        let mut label = String::new();
        for (member, part) in self.0.iter().zip(&parts) {
            let value = match part {
                Part::Absent => continue,
                _ if member.absent == Absent::NamelessGroup => continue,
                Part::Text(text) => text,
                Part::Number(number) => number.as_str(),
                Part::Bool(true) => "true",
                Part::Bool(false) => "false",
            };
            let comma = if label.is_empty() { "" } else { "," };
            label.extend([comma, &member.path, "=", value]);
        }
        Some(label.into())
    }

    /// Brings together items of one name; `None` if an item has no name, or two of one side share one.
    pub(super) fn pairs(&self, before: &[Node], after: &[Node]) -> Option<Vec<(usize, usize)>> {
        self.pairs_if(before, after, |_| true)
    }

    /// The first item that has no name, or the name of another; then that one too.
    pub(super) fn fault(&self, items: &[Node]) -> Option<(usize, Option<usize>)> {
        let mut index = HashMap::with_capacity(items.len());
        items.iter().enumerate().find_map(|(at, item)| match self.parts(item) {
            None => Some((at, None)),
            Some(name) => index.insert(name, at).map(|twin| (at, Some(twin))),
        })
    }

    fn pairs_if(
        &self,
        before: &[Node],
        after: &[Node],
        is_sensible: fn(&Part<'_>) -> bool,
    ) -> Option<Vec<(usize, usize)>> {
        let before = self.index(before, is_sensible)?;
        let after = self.index(after, is_sensible)?;
        // Collected in order of the list, never in order of the index.
        let mut pairs: Vec<(usize, usize)> =
            after.iter().filter_map(|(name, &at)| Some((*before.get(name)?, at))).collect();
        pairs.sort_unstable();
        Some(pairs)
    }

    fn index<'a>(
        &self,
        items: &'a [Node],
        is_sensible: fn(&Part<'_>) -> bool,
    ) -> Option<HashMap<Vec<Part<'a>>, usize>> {
        let mut index = HashMap::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let name = self.parts(item)?;
            if !name.iter().all(is_sensible) || index.insert(name, at).is_some() {
                return None;
            }
        }
        Some(index)
    }
}

impl Member {
    fn part<'a>(&self, item: &'a Node) -> Option<Part<'a>> {
        let found = find(item, &self.path).filter(|node| !matches!(node.value, Value::Null));
        let Some(node) = found else {
            return match self.absent {
                Absent::Nameless | Absent::NamelessGroup => None,
                Absent::Shorter => Some(Part::Absent),
                Absent::Means(text) => Some(Part::Text(text)),
            };
        };
        match &node.value {
            _ if node.tag().is_some() => None,
            Value::String(text) if self.absent == Absent::NamelessGroup => {
                Some(Part::Text(text.split_once('/').map_or("", |(group, _)| group)))
            }
            Value::String(text) => Some(Part::Text(text)),
            Value::Number(number) => Some(Part::Number(number)),
            Value::Bool(value) => Some(Part::Bool(*value)),
            // A secret must not become a label.
            Value::Null | Value::List(_) | Value::Map(_) | Value::Secret(_) => None,
        }
    }
}

/// Follows a dotted path; a member whose own name contains the dots takes precedence.
fn find<'a>(item: &'a Node, path: &str) -> Option<&'a Node> {
    let map = item.as_map()?;
    map.get(path).or_else(|| {
        let dots = path.match_indices('.').map(|(at, _)| at);
        dots.filter_map(|dot| find(map.get(&path[..dot])?, &path[dot + 1..])).next()
    })
}

/// Members that often name an item, alone. Earlier ones win where several do equally well.
const OFTEN_NAMES: &[&str] = &[
    "name",
    "id",
    "key",
    "uid",
    "uuid",
    "metadata.name",
    "path",
    "host",
    "hostname",
    "domain",
    "url",
    "email",
    "username",
    "login",
    "slug",
    "title",
    "label",
    "alias",
    "field",
    "Name",
    "Id",
    "ID",
    "Key",
    "ip",
    "cidr",
    "code",
    "port",
    "type",
];

/// Members that often name an item together.
const OFTEN_NAME_TOGETHER: &[&[&str]] = &[
    &["namespace", "name"],
    &["kind", "name"],
    &["kind", "namespace", "name"],
    &["type", "name"],
    &["name", "version"],
    &["path", "method"],
    &["host", "path"],
    &["host", "port"],
    &["source.git.remote", "source.git.subdir"],
];

/// Finds members that uniquely name every item on both sides and match the most items.
///
/// Without a single match there is a guess only for labels, with no pairs.
pub(super) fn guess(before: &[Node], after: &[Node]) -> Option<Guess> {
    let samples: Vec<&Node> = before.first().into_iter().chain(after.first()).collect();
    let possible = before.len().min(after.len());
    let alone = OFTEN_NAMES.iter().map(std::slice::from_ref);
    let candidates = alone.chain(OFTEN_NAME_TOGETHER.iter().copied()).map(|members| {
        let members: Vec<_> = members.iter().map(|&member| (member, None)).collect();
        Names::known(&members)
    });
    let mut best: Option<Guess> = None;
    for names in std::iter::once(Names::kubernetes()).chain(candidates) {
        if !samples.iter().all(|sample| names.parts(sample).is_some()) {
            continue;
        }
        let Some(pairs) = names.pairs_if(before, after, is_sensible_name) else { continue };
        if best.as_ref().is_none_or(|best| pairs.len() > best.pairs.len()) {
            let is_complete = pairs.len() == possible;
            best = Some(Guess { names, pairs });
            if is_complete {
                break;
            }
        }
    }
    best.or_else(|| label_only(before, after))
}

/// The first member that differs between all items of each side, as a name to show. Items are not matched by it: that it differs within
/// each list says nothing about what it means.
fn label_only(before: &[Node], after: &[Node]) -> Option<Guess> {
    let first = before.first().or(after.first())?.as_map()?;
    let members = first.entries().iter().filter(|entry| matches!(entry.value.value, Value::String(_)));
    let names = members
        .take(MOST_TRIED)
        .map(|entry| Names(vec![Member { path: Cow::Owned(entry.key.name.to_string()), absent: Absent::Nameless }]));
    let is_usable =
        |names: &Names| names.index(before, is_short_name).is_some() && names.index(after, is_short_name).is_some();
    let names = names.into_iter().find(is_usable)?;
    Some(Guess { names, pairs: Vec::new() })
}

/// The most members that are tried as names.
const MOST_TRIED: usize = 4;

fn is_short_name(part: &Part<'_>) -> bool {
    matches!(part, Part::Text(text) if (1..=64).contains(&text.len()) && !text.contains([' ', '\n']))
}

/// A name is a short scalar on one line; booleans are not names.
fn is_sensible_name(part: &Part<'_>) -> bool {
    match part {
        Part::Text(text) => text.len() <= 256 && !text.contains('\n'),
        Part::Number(_) | Part::Absent => true,
        Part::Bool(_) => false,
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) => true,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a.is_equal(b),
            (Self::Bool(a), Self::Bool(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Part<'_> {}

impl Hash for Part<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            Self::Absent => hasher.write_u8(0),
            Self::Text(text) => text.hash(hasher),
            Self::Number(number) => number.hash_value(hasher),
            Self::Bool(value) => value.hash(hasher),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::read;

    fn items(text: &str) -> Vec<Node> {
        read(text).as_list().expect("a list").to_vec()
    }

    #[test]
    fn dotted_paths_reach_deeper_and_plain_members_come_first() {
        let names = Names::configured(&["metadata.name".into(), "a.b/c".into()]);
        let [item] = &items(r#"[{"metadata": {"name": "web"}, "a.b/c": 1}]"#)[..] else { panic!("one item") };
        assert_eq!(names.label(item).as_deref(), Some("metadata.name=web,a.b/c=1"));
    }

    #[test]
    fn a_default_is_the_same_as_writing_it() {
        let names = Names::known(&[("containerPort", None), ("protocol", Some("TCP"))]);
        let before = items(r#"[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]"#);
        let after = items(r#"[{"containerPort": 80.0, "protocol": "TCP"}]"#);
        assert_eq!(names.pairs(&before, &after), Some(vec![(0, 0)]));
        assert_eq!(names.label(&before[0]).as_deref(), Some("containerPort=80,protocol=TCP"));
    }

    #[test]
    fn nobody_is_named_twice_or_not_at_all() {
        let names = Names::known(&[("name", None)]);
        let good = items(r#"[{"name": "a"}]"#);
        for bad in
            [r#"[{"name": "a"}, {"name": "a"}]"#, r#"[{}]"#, r#"[1]"#, r#"[{"name": null}]"#, r#"[{"name": []}]"#]
        {
            assert_eq!(names.pairs(&good, &items(bad)), None, "{bad}");
            assert_eq!(names.pairs(&items(bad), &good), None, "{bad}");
        }
    }

    #[test]
    fn the_guess_brings_together_most_items() {
        let before = items(r#"[{"name": "a", "id": 1}, {"name": "b", "id": 2}]"#);
        let after = items(r#"[{"name": "x", "id": 1}, {"name": "b", "id": 2}]"#);
        let guess = guess(&before, &after).expect("id does");
        assert_eq!((guess.names.label(&before[0]).as_deref(), guess.pairs.len()), (Some("id=1"), 2));
    }

    #[test]
    fn kubernetes_objects_are_named_without_their_version() {
        let before = items(r#"[{"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "a"}}]"#);
        let after = items(r#"[{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}]"#);
        let guess = guess(&before, &after).expect("kind and name do");
        assert_eq!(guess.names.label(&after[0]).as_deref(), Some("kind=Deployment,metadata.name=a"));
        assert_eq!(guess.pairs, [(0, 0)]);
    }

    #[test]
    fn secrets_are_no_names() {
        let secret = crate::diff::testing::secret(read(r#""hunter2""#));
        let item = crate::diff::testing::map(vec![("name", secret)]);
        assert!(Names::known(&[("name", None)]).parts(&item).is_none());
    }
}
