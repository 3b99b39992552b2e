//! Expands a path to the places it selects in one document.

use smol_str::SmolStr;

use super::operation::Action;
use super::path::{Numeral, PatchPath, PathFilter, PathPart, PathStep, numeral};
use super::template::Dialect;
use crate::finding::{self, Refusal, Rule};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::sanitize;
use crate::value::{Node, Number, Value, list_index};

/// The places that a path selects, as a tree.
#[derive(Debug)]
pub(super) enum Selected {
    /// This value.
    Here,
    /// Places below this value: one key of a map, or items of a list in order.
    Below(Vec<(SelectedKey, Selected)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SelectedKey {
    Key(SmolStr),
    Index(usize),
    Append,
}

/// The places that a path selects in a document, in order; a place need not exist if a map could hold it.
pub fn expand(path: &PatchPath, document: &Node, limits: &Limits) -> Result<Vec<Pointer>, Refusal> {
    let mut pointers = Vec::new();
    if let Some(selected) = select(path, document, Dialect::Layered, limits)? {
        selected.list(&mut Pointer::root(), &mut pointers);
    }
    Ok(pointers)
}

/// The places that a path selects, as a tree; none if its filters and wildcards select nothing.
pub(super) fn select(
    path: &PatchPath,
    document: &Node,
    dialect: Dialect,
    limits: &Limits,
) -> Result<Option<Selected>, Refusal> {
    let per_level = vec![0; path.parts().len() + 1];
    let mut walk = PathWalk { path, dialect, most: limits.patch_matches, per_level };
    walk.follow(0, Some(document))
}

/// The place of an exact path. Everything up to it must exist, and also the place itself unless something is added there.
pub(super) fn select_exact(path: &PatchPath, action: Action, document: &Node) -> Result<Selected, Refusal> {
    exact(path.parts(), action, document)
}

fn exact(parts: &[PathPart], action: Action, node: &Node) -> Result<Selected, Refusal> {
    let [PathPart { step: PathStep::Token(token), .. }, rest @ ..] = parts else { return Ok(Selected::Here) };
    let is_added = rest.is_empty() && action == Action::Add;
    let refuse = |rule, what: &str| Refusal::new(rule, format!("`{}` {what}", sanitize::inline(token)));
    let (key, child) = match &node.value {
        Value::Map(map) => (SelectedKey::Key(token.clone()), map.get(token)),
        Value::List(list) => {
            let length = list.items().len();
            let index = if token == "-" { Some(length) } else { list_index(token) };
            let outside = || refuse(&finding::PATCH_OUT_OF_BOUNDS, &format!("is no place in a list of {length}"));
            let index = index.filter(|index| *index < length + usize::from(is_added)).ok_or_else(outside)?;
            let key = if index == length { SelectedKey::Append } else { SelectedKey::Index(index) };
            (key, list.items().get(index))
        }
        _ => {
            let what = format!("needs a map or a list, and a {} is there", node.type_of());
            return Err(refuse(&finding::PATCH_WRONG_TYPE, &what));
        }
    };
    let below = match child {
        _ if is_added => Selected::Here,
        Some(child) => exact(rest, action, child)?,
        None => return Err(refuse(&finding::PATCH_MISSING, "is not there")),
    };
    Ok(Selected::Below(vec![(key, below)]))
}

impl Selected {
    fn list(&self, at: &mut Pointer, found: &mut Vec<Pointer>) {
        match self {
            Self::Here => found.push(at.clone()),
            Self::Below(children) => {
                for (token, below) in children {
                    at.push(token.to_text());
                    below.list(at, found);
                    at.pop();
                }
            }
        }
    }
}

impl SelectedKey {
    fn to_text(&self) -> SmolStr {
        match self {
            Self::Key(key) => key.clone(),
            Self::Index(index) => smol_str::format_smolstr!("{index}"),
            Self::Append => SmolStr::new_static("-"),
        }
    }
}

struct PathWalk<'p> {
    path: &'p PatchPath,
    dialect: Dialect,
    most: u32,
    per_level: Vec<u32>,
}

impl PathWalk<'_> {
    fn follow(&mut self, depth: usize, value: Option<&Node>) -> Result<Option<Selected>, Refusal> {
        self.per_level[depth] += 1;
        if self.per_level[depth] > self.most {
            let message = format!("the path `{}` selects more than {} places", self.path.shown(), self.most);
            return Err(Refusal::new(&finding::LIMIT_PATCH, message).help("select less, or raise the limit"));
        }
        let Some(part) = self.path.parts().get(depth) else { return Ok(Some(Selected::Here)) };
        // Null counts as absent: maps below it can be created.
        let value = value.filter(|node| !matches!(node.value, Value::Null));
        let part = part.clone();
        let one = |token, below: Option<Selected>| below.map(|below| Selected::Below(vec![(token, below)]));
        match (&part.step, value) {
            (PathStep::Append, _) => Ok(one(SelectedKey::Append, self.follow(depth + 1, None)?)),
            (PathStep::Token(key), None) if numeral(key).is_none() => {
                Ok(one(SelectedKey::Key(key.clone()), self.follow(depth + 1, None)?))
            }
            (PathStep::Token(key), Some(node)) => match &node.value {
                // On the platform, a number is never a key.
                Value::Map(_) if self.dialect == Dialect::Platform && numeral(key).is_some() => {
                    Err(self.wrong_type(&part, "a list", Some(node)))
                }
                Value::Map(map) => Ok(one(SelectedKey::Key(key.clone()), self.follow(depth + 1, map.get(key))?)),
                Value::List(list) => {
                    let index = self.index_of(key, list.items().len(), &part, node)?;
                    Ok(one(SelectedKey::Index(index), self.follow(depth + 1, list.items().get(index))?))
                }
                _ => Err(self.wrong_type(&part, "a map", Some(node))),
            },
            (PathStep::Index(index), Some(node)) if node.as_list().is_some() => {
                let items = node.as_list().unwrap_or_default();
                let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
                let index = index.ok_or_else(|| self.out_of_bounds(&part, items.len()))?;
                Ok(one(SelectedKey::Index(index), self.follow(depth + 1, items.get(index))?))
            }
            (PathStep::Token(_) | PathStep::Index(_), _) => Err(self.wrong_type(&part, "a list", value)),
            (PathStep::Filter(filter), _) => self.fan_out(depth, &part, value, |item| filter.matches(item)),
            (PathStep::Every, _) => self.fan_out(depth, &part, value, |_| true),
        }
    }

    /// Several items of a list. An absent list has no items; a value of another type is refused.
    fn fan_out(
        &mut self,
        depth: usize,
        part: &PathPart,
        value: Option<&Node>,
        is_selected: impl Fn(&Node) -> bool,
    ) -> Result<Option<Selected>, Refusal> {
        let Some(node) = value else {
            return match self.dialect {
                Dialect::Layered => Ok(None),
                Dialect::Platform => Err(self.wrong_type(part, "a list", None)),
            };
        };
        let Some(items) = node.as_list() else { return Err(self.wrong_type(part, "a list", value)) };
        let mut found = Vec::new();
        for (index, item) in items.iter().enumerate().filter(|(_, item)| is_selected(item)) {
            found.extend(self.follow(depth + 1, Some(item))?.map(|below| (SelectedKey::Index(index), below)));
        }
        Ok((!found.is_empty()).then_some(Selected::Below(found)))
    }

    fn index_of(&self, token: &str, length: usize, part: &PathPart, list: &Node) -> Result<usize, Refusal> {
        match numeral(token) {
            Some(Numeral::Plain(index)) if index < length => Ok(index),
            Some(Numeral::Plain(_) | Numeral::Outside) => Err(self.out_of_bounds(part, length)),
            Some(Numeral::Odd) => Err(self.refuse(
                &finding::PATCH_BAD_PATH,
                part,
                "is no number of an item; those have no sign and no leading zeros",
            )),
            None => Err(self.wrong_type(part, "a map", Some(list))),
        }
    }

    fn wrong_type(&self, part: &PathPart, wanted: &str, found: Option<&Node>) -> Refusal {
        let found = found.map_or("nothing is there".to_owned(), |node| format!("a {} is there", node.type_of()));
        self.refuse(&finding::PATCH_WRONG_TYPE, part, &format!("needs {wanted}, and {found}"))
    }

    fn out_of_bounds(&self, part: &PathPart, length: usize) -> Refusal {
        let items = if length == 1 { "1 item".to_owned() } else { format!("{length} items") };
        self.refuse(&finding::PATCH_OUT_OF_BOUNDS, part, &format!("is outside a list of {items}"))
            .help("`-` appends to a list")
    }

    fn refuse(&self, rule: &'static Rule, part: &PathPart, what: &str) -> Refusal {
        let segment = sanitize::inline(&self.path.as_str()[part.range.clone()]);
        let message = format!("`{segment}` in the path `{}` {what}", self.path.shown());
        Refusal::new(rule, message).within(part.range.clone())
    }
}

impl PathFilter {
    /// Whether an item has the value in the field.
    fn matches(&self, item: &Node) -> bool {
        let found = self.field.iter().try_fold(item, |node, key| node.get(key));
        found.is_some_and(|node| match &node.value {
            Value::Null => self.value.is_empty(),
            Value::Bool(value) => self.value == if *value { "true" } else { "false" },
            Value::String(text) => *text == self.value,
            Value::Number(number) => Number::from_json(&self.value).is_some_and(|value| value.is_equal(number)),
            Value::List(_) | Value::Map(_) | Value::Secret(_) => false,
        })
    }
}
