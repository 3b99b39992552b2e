//! A path becomes the places it means in one document.

use smol_str::SmolStr;

use super::path::{Filter, Numeral, Part, PatchPath, PathStep, numeral};
use super::trouble::Trouble;
use crate::finding::{self, Rule};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::value::{Node, Number, Value};

/// The places that a path means, as a tree: what has a way in common has it once.
#[derive(Debug)]
pub(super) enum Selected {
    /// This place.
    Here,
    /// Places below; keys of maps alone, items of lists in order.
    Below(Vec<(Token, Selected)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Key(SmolStr),
    Index(usize),
    Append,
}

/// The places that a path means in a document, in order; a place need not exist if a map could hold it.
pub fn expand(path: &PatchPath, document: &Node, limits: &Limits) -> Result<Vec<Pointer>, Trouble> {
    let mut pointers = Vec::new();
    if let Some(selected) = select(path, document, limits)? {
        selected.list(&mut Pointer::root(), &mut pointers);
    }
    Ok(pointers)
}

/// The same as a tree; nothing if filters and wildcards leave nothing.
pub(super) fn select(path: &PatchPath, document: &Node, limits: &Limits) -> Result<Option<Selected>, Trouble> {
    let mut walk = Walk { path, most: limits.patch_matches, per_level: vec![0; path.parts().len() + 1] };
    walk.follow(0, Some(document))
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

impl Token {
    fn to_text(&self) -> SmolStr {
        match self {
            Self::Key(key) => key.clone(),
            Self::Index(index) => smol_str::format_smolstr!("{index}"),
            Self::Append => SmolStr::new_static("-"),
        }
    }
}

struct Walk<'p> {
    path: &'p PatchPath,
    most: u32,
    per_level: Vec<u32>,
}

impl Walk<'_> {
    fn follow(&mut self, depth: usize, value: Option<&Node>) -> Result<Option<Selected>, Trouble> {
        self.per_level[depth] += 1;
        if self.per_level[depth] > self.most {
            let message = format!("the path `{}` selects more than {} places", self.path.shown(), self.most);
            return Err(Trouble::new(&finding::LIMIT_PATCH, message).help("select less, or raise the limit"));
        }
        let Some(part) = self.path.parts().get(depth) else { return Ok(Some(Selected::Here)) };
        // Null counts as absent: what is below it can be made.
        let value = value.filter(|node| !matches!(node.value, Value::Null));
        let part = part.clone();
        let one = |token, below: Option<Selected>| below.map(|below| Selected::Below(vec![(token, below)]));
        match (&part.step, value) {
            (PathStep::Append, _) => Ok(one(Token::Append, self.follow(depth + 1, None)?)),
            (PathStep::Token(key), None) if numeral(key).is_none() => {
                Ok(one(Token::Key(key.clone()), self.follow(depth + 1, None)?))
            }
            (PathStep::Token(key), Some(node)) => match &node.value {
                Value::Map(map) => Ok(one(Token::Key(key.clone()), self.follow(depth + 1, map.get(key))?)),
                Value::List(list) => {
                    let index = self.index_of(key, list.items().len(), &part, node)?;
                    Ok(one(Token::Index(index), self.follow(depth + 1, list.items().get(index))?))
                }
                _ => Err(self.wrong_type(&part, "a map", Some(node))),
            },
            (PathStep::Index(index), Some(node)) if node.as_list().is_some() => {
                let items = node.as_list().unwrap_or_default();
                let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
                let index = index.ok_or_else(|| self.out_of_bounds(&part, items.len()))?;
                Ok(one(Token::Index(index), self.follow(depth + 1, items.get(index))?))
            }
            (PathStep::Token(_) | PathStep::Index(_), _) => Err(self.wrong_type(&part, "a list", value)),
            (PathStep::Filter(filter), _) => self.fan_out(depth, &part, value, |item| filter.matches(item)),
            (PathStep::Every, _) => self.fan_out(depth, &part, value, |_| true),
        }
    }

    /// Several items of a list. A list that is not there has no items; anything else that is no list is wrong.
    fn fan_out(
        &mut self,
        depth: usize,
        part: &Part,
        value: Option<&Node>,
        is_meant: impl Fn(&Node) -> bool,
    ) -> Result<Option<Selected>, Trouble> {
        let Some(node) = value else { return Ok(None) };
        let Some(items) = node.as_list() else { return Err(self.wrong_type(part, "a list", value)) };
        let mut found = Vec::new();
        for (index, item) in items.iter().enumerate().filter(|(_, item)| is_meant(item)) {
            found.extend(self.follow(depth + 1, Some(item))?.map(|below| (Token::Index(index), below)));
        }
        Ok((!found.is_empty()).then_some(Selected::Below(found)))
    }

    fn index_of(&self, token: &str, length: usize, part: &Part, list: &Node) -> Result<usize, Trouble> {
        match numeral(token) {
            Some(Numeral::Plain(index)) if index < length => Ok(index),
            Some(Numeral::Plain(_) | Numeral::Outside) => Err(self.out_of_bounds(part, length)),
            Some(Numeral::Odd) => Err(self.trouble(
                &finding::PATCH_BAD_PATH,
                part,
                "is no number of an item; those have no sign and no leading zeros",
            )),
            None => Err(self.wrong_type(part, "a map", Some(list))),
        }
    }

    fn wrong_type(&self, part: &Part, wanted: &str, found: Option<&Node>) -> Trouble {
        let found = found.map_or("nothing is there".to_owned(), |node| format!("a {} is there", node.type_of()));
        self.trouble(&finding::PATCH_WRONG_TYPE, part, &format!("needs {wanted}, and {found}"))
    }

    fn out_of_bounds(&self, part: &Part, length: usize) -> Trouble {
        let items = if length == 1 { "1 item".to_owned() } else { format!("{length} items") };
        self.trouble(&finding::PATCH_OUT_OF_BOUNDS, part, &format!("is outside a list of {items}"))
            .help("`-` appends to a list")
    }

    fn trouble(&self, rule: &'static Rule, part: &Part, what: &str) -> Trouble {
        let segment = crate::sanitize::inline(&self.path.as_str()[part.range.clone()]);
        let message = format!("`{segment}` in the path `{}` {what}", self.path.shown());
        Trouble::new(rule, message).at(part.range.clone())
    }
}

impl Filter {
    /// Whether an item has the value; one without the field never has.
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
