//! JSON patches as kustomize's library applies them: `replace` of an absent key adds it, negative indexes count from the end.

use smol_str::SmolStr;

use super::fields::{in_place_of, with_entry};
use super::{Fatal, fatal};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::text::Span;
use crate::value::{Node, StepKind, Value};

/// One operation.
#[derive(Debug)]
pub(super) struct Operation<'n> {
    name: &'n str,
    path: Vec<SmolStr>,
    from: Option<Vec<SmolStr>>,
    value: Option<&'n Node>,
    span: Span,
    /// The field of the kustomization that lists the patch, and where.
    listed: (&'static str, Span),
}

/// Applies the operations of a patch that an entry of a kustomization names, one after the other.
pub(super) fn apply(
    target: &Node,
    patch: &[Node],
    listed: (&'static str, Span),
    limits: &Limits,
) -> Result<Node, Fatal> {
    let mut result = target.clone();
    for operation in patch {
        let operation = read(operation, listed)?;
        result = operation.apply(&result)?;
        super::check_size(&result, operation.span, limits)?;
    }
    Ok(result)
}

fn read<'n>(node: &'n Node, listed: (&'static str, Span)) -> Result<Operation<'n>, Fatal> {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let pointer = |key: &str| -> Result<Option<Vec<SmolStr>>, Fatal> {
        let Some(text) = text(key) else { return Ok(None) };
        let at = node.get(key).map_or(node.span, |node| node.span);
        let pointer = Pointer::parse(text).map_err(|reason| fatal(at, reason))?;
        Ok(Some(pointer.tokens().to_vec()))
    };
    let missing = |what: &str| fatal(node.span, format!("this operation has no `{what}`"));
    let operation = Operation {
        name: text("op").ok_or_else(|| missing("op"))?,
        path: pointer("path")?.ok_or_else(|| missing("path"))?,
        from: pointer("from")?,
        value: node.get("value"),
        span: node.span,
        listed,
    };
    if operation.from.is_none() && ["move", "copy"].contains(&operation.name) {
        return Err(missing("from"));
    }
    Ok(operation)
}

impl Operation<'_> {
    fn apply(&self, target: &Node) -> Result<Node, Fatal> {
        let (field, listed_at) = self.listed;
        let placed = |node: &Node| {
            node.clone().through(StepKind::Patch, self.span).through(StepKind::Kustomize(field), listed_at)
        };
        let value = || self.value.cloned().unwrap_or_else(|| Node::new(Value::Null, self.span));
        match self.name {
            "add" => self.add(target, &self.path, placed(&value())),
            "replace" => self.replace(target, &self.path, placed(&value())),
            "remove" => self.remove(target, &self.path),
            "copy" => {
                let copied = self.get(target, self.from.as_deref().unwrap_or_default())?.clone();
                self.add(target, &self.path, placed(&copied))
            }
            "move" => {
                let from = self.from.as_deref().unwrap_or_default();
                let moved = self.get(target, from)?.clone();
                self.add(&self.remove(target, from)?, &self.path, placed(&moved))
            }
            "test" => {
                let found = self.get(target, &self.path).ok();
                let is_equal = match (found, self.value) {
                    (Some(found), Some(value)) => found.is_equal(value),
                    (None, value) => value.is_none_or(|value| matches!(value.value, Value::Null)),
                    (Some(found), None) => matches!(found.value, Value::Null),
                };
                if is_equal {
                    Ok(target.clone())
                } else {
                    Err(fatal(self.span, "the value is not the one that is tested for"))
                }
            }
            other => Err(fatal(self.span, format!("there is no operation `{other}`"))),
        }
    }

    fn get<'n>(&self, target: &'n Node, path: &[SmolStr]) -> Result<&'n Node, Fatal> {
        path.iter()
            .try_fold(target, |node, token| match &node.value {
                Value::Map(map) => map.get(token),
                Value::List(list) => list.items().get(self.index(token, list.items().len()).ok()?),
                _ => None,
            })
            .ok_or_else(|| self.nothing(path))
    }

    fn nothing(&self, path: &[SmolStr]) -> Fatal {
        fatal(self.span, format!("there is nothing at `/{}`", path.join("/")))
    }

    /// Changes the parent of what a path names.
    fn within(
        &self,
        node: &Node,
        path: &[SmolStr],
        change: &dyn Fn(&Node, &str) -> Result<Node, Fatal>,
    ) -> Result<Node, Fatal> {
        let Some((first, rest)) = path.split_first() else { return Err(self.nothing(path)) };
        if rest.is_empty() {
            return change(node, first);
        }
        let nothing = || self.nothing(path);
        match &node.value {
            Value::Map(map) => {
                let at = map.position(first).ok_or_else(nothing)?;
                let mut entries = map.entries().to_vec();
                entries[at].value = self.within(&entries[at].value, rest, change)?;
                Ok(Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
            }
            Value::List(list) => {
                let mut items = list.items().to_vec();
                let at = self.index(first, items.len())?;
                let item = items.get_mut(at).ok_or_else(nothing)?;
                *item = self.within(item, rest, change)?;
                Ok(Node { extra: node.extra.clone(), ..Node::list(items, node.span) })
            }
            _ => Err(nothing()),
        }
    }

    fn add(&self, target: &Node, path: &[SmolStr], value: Node) -> Result<Node, Fatal> {
        if path.is_empty() {
            return Ok(value);
        }
        self.within(target, path, &|parent, token| match &parent.value {
            Value::Map(map) => {
                let value = in_place_of(map.get(token), value.clone());
                Ok(with_entry(parent, map.entries(), token, value, self.span))
            }
            Value::List(list) => {
                let mut items = list.items().to_vec();
                let at = if token == "-" { items.len() } else { self.index(token, items.len() + 1)? };
                if at > items.len() {
                    return Err(self.outside(token));
                }
                items.insert(at, value.clone());
                Ok(Node { extra: parent.extra.clone(), ..Node::list(items, parent.span) })
            }
            _ => Err(self.nothing(path)),
        })
    }

    fn replace(&self, target: &Node, path: &[SmolStr], value: Node) -> Result<Node, Fatal> {
        if path.is_empty() {
            return Ok(value);
        }
        self.within(target, path, &|parent, token| match &parent.value {
            Value::Map(map) => {
                let value = in_place_of(map.get(token), value.clone());
                Ok(with_entry(parent, map.entries(), token, value, self.span))
            }
            Value::List(list) => {
                let mut items = list.items().to_vec();
                let at = self.index(token, items.len())?;
                let item = items.get_mut(at).ok_or_else(|| self.outside(token))?;
                *item = in_place_of(Some(item), value.clone());
                Ok(Node { extra: parent.extra.clone(), ..Node::list(items, parent.span) })
            }
            _ => Err(self.nothing(path)),
        })
    }

    fn remove(&self, target: &Node, path: &[SmolStr]) -> Result<Node, Fatal> {
        self.within(target, path, &|parent, token| match &parent.value {
            Value::Map(map) => {
                let at = map.position(token).ok_or_else(|| self.nothing(path))?;
                let mut entries = map.entries().to_vec();
                entries.remove(at);
                Ok(Node { extra: parent.extra.clone(), ..Node::map(entries, parent.span) })
            }
            Value::List(list) => {
                let mut items = list.items().to_vec();
                let at = self.index(token, items.len())?;
                if at >= items.len() {
                    return Err(self.outside(token));
                }
                items.remove(at);
                Ok(Node { extra: parent.extra.clone(), ..Node::list(items, parent.span) })
            }
            _ => Err(self.nothing(path)),
        })
    }

    /// An index; negative ones count from the end.
    fn index(&self, token: &str, length: usize) -> Result<usize, Fatal> {
        let number: i64 =
            token.parse().map_err(|_| fatal(self.span, format!("`{token}` is not an index of a list")))?;
        let number = if number < 0 { number + i64::try_from(length).unwrap_or(i64::MAX) } else { number };
        usize::try_from(number).map_err(|_| self.outside(token))
    }

    fn outside(&self, token: &str) -> Fatal {
        fatal(self.span, format!("the index {token} is outside of the list"))
    }
}
