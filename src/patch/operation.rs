//! One operation on one document. The document is not changed: only the values on the path to a changed place are copied.

use super::expand::{Selected, SelectedKey, select, select_exact};
use super::path::{PatchPath, PathStep};
use super::template::Dialect;
use crate::finding::{self, Refusal};
use crate::limits::Limits;
use crate::sanitize;
use crate::suggest;
use crate::text::Span;
use crate::value::{Entry, Map, Node, StepKind, Value};

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Sets a key, inserts before an item, or appends; missing maps are created.
    Add,
    /// Changes what is there.
    Replace,
    /// Removes what is there; an absent key is no error.
    Remove,
    /// Sets keys of a map and keeps the others; missing maps are created.
    MergeShallow,
}

/// An operation with everything it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit<'a> {
    /// What to do.
    pub action: Action,
    /// Where.
    pub path: &'a PatchPath,
    /// With what; `remove` needs nothing.
    pub value: Option<&'a Node>,
    /// Where the operation is written.
    pub at: Span,
    /// Where its path is written; the span of maps and keys that it creates.
    pub path_at: Span,
    /// Whose rules apply.
    pub dialect: Dialect,
}

/// The document after an edit. `work` grows by the number of values that were copied.
pub(super) fn edit(document: &Node, edit: &Edit<'_>, limits: &Limits, work: &mut u64) -> Result<Node, Refusal> {
    edit.check()?;
    let selected = if edit.path.is_exact() {
        select_exact(edit.path, edit.action, document)?
    } else {
        select(edit.path, document, edit.dialect, limits)?.ok_or_else(|| edit.no_match())?
    };
    let edited = Editing { edit, work }.inside(document, &selected)?;
    if edited.height() > limits.depth {
        let message = format!("the path `{}` nests the resource deeper than {} levels", edit.shown(), limits.depth);
        return Err(Refusal::new(&finding::LIMIT_DEPTH, message));
    }
    if edited.size() > limits.nodes {
        let message = format!("the path `{}` makes the resource larger than {} values", edit.shown(), limits.nodes);
        return Err(Refusal::new(&finding::LIMIT_NODES, message));
    }
    Ok(edited)
}

impl Action {
    const ALL: [(&'static str, Self); 4] = [
        ("add", Self::Add),
        ("replace", Self::Replace),
        ("remove", Self::Remove),
        ("mergeShallow", Self::MergeShallow),
    ];

    /// The operation of this exact name.
    pub(super) fn parse(name: &str) -> Result<Self, Refusal> {
        if let Some((_, action)) = Self::ALL.iter().find(|(known, _)| *known == name) {
            return Ok(*action);
        }
        let near = suggest::nearest(name, Self::ALL.map(|(known, _)| known));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("the operation `{}` is not known{near}", sanitize::inline(name));
        let help = format!("known operations: {}", Self::ALL.map(|(known, _)| known).join(", "));
        Err(Refusal::new(&finding::PATCH_UNSUPPORTED_OP, message).help(help))
    }

    /// As it is written.
    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, action)| *action == self).map_or("", |(name, _)| name)
    }

    fn makes_parents(self) -> bool {
        matches!(self, Self::Add | Self::MergeShallow)
    }
}

impl Edit<'_> {
    /// Refuses what is wrong in any document.
    fn check(&self) -> Result<(), Refusal> {
        let (name, path) = (self.action.name(), self.shown());
        match (self.action, self.value) {
            (Action::Remove, _) => {}
            (_, None) => {
                let message = format!("`{name}` at `{path}` has no value");
                return Err(
                    Refusal::new(&finding::PATCH_BAD_VALUE, message).help("write `value: null` if null is meant")
                );
            }
            (Action::MergeShallow, Some(value)) if value.as_map().is_none() => {
                let message = format!("`mergeShallow` at `{path}` takes a map, and its value is a {}", value.type_of());
                return Err(Refusal::new(&finding::PATCH_BAD_VALUE, message));
            }
            _ => {}
        }
        if self.path.parts().is_empty() {
            let message = format!("`{name}` at `{path}` means the whole resource");
            return Err(Refusal::new(&finding::PATCH_ROOT_TARGET, message).help("name a key or an item inside it"));
        }
        if let Some(part) = self.path.misplaced_append() {
            let message = format!("`-` in the path `{path}` is not its last segment");
            return Err(Refusal::new(&finding::PATCH_APPEND_MISUSE, message).within(part.range.clone()));
        }
        if self.action != Action::Add && matches!(self.path.last(), Some(PathStep::Append)) {
            let message = format!("`{name}` cannot use `-`, and the path `{path}` ends in it");
            return Err(Refusal::new(&finding::PATCH_APPEND_MISUSE, message).help("only `add` appends"));
        }
        Ok(())
    }

    fn shown(&self) -> String {
        self.path.shown()
    }

    fn no_match(&self) -> Refusal {
        debug_assert!(self.path.is_selective(), "only filters and wildcards select nothing");
        let message = format!("the path `{}` matches nothing", self.shown());
        Refusal::new(&finding::PATCH_NO_MATCH, message).help("a filter must select at least one item")
    }
}

struct Editing<'a, 'w> {
    edit: &'a Edit<'a>,
    work: &'w mut u64,
}

impl Editing<'_, '_> {
    /// The node with the selected places below it edited.
    fn inside(&mut self, node: &Node, selected: &Selected) -> Result<Node, Refusal> {
        let Selected::Below(children) = selected else { return Ok(self.put(Some(node))) };
        let value = match &node.value {
            Value::Map(map) => self.in_map(map, children, node)?,
            Value::List(list) => self.in_list(list.items(), children, node)?,
            _ => return self.in_nothing(node, selected),
        };
        Ok(Node { value: value.value, span: node.span, extra: node.extra.clone() })
    }

    fn in_map(&mut self, map: &Map, children: &[(SelectedKey, Selected)], node: &Node) -> Result<Node, Refusal> {
        let [(SelectedKey::Key(key), below)] = children else { return Err(self.append_to(node)) };
        let position = map.position(key);
        let old = position.map(|at| &map.entries()[at].value);
        let new = match (below, self.edit.action, old) {
            (Selected::Here, Action::Remove, _) => None,
            (Selected::Here, Action::Replace, None) => return Err(self.missing()),
            (Selected::Here, ..) => Some(self.put(old)),
            (Selected::Below(_), _, Some(old)) if !matches!(old.value, Value::Null) => Some(self.inside(old, below)?),
            (Selected::Below(_), Action::Replace, _) => return Err(self.missing()),
            (Selected::Below(_), Action::Remove, _) if self.edit.dialect == Dialect::Platform => {
                return Err(self.missing());
            }
            (Selected::Below(_), Action::Remove, _) => old.cloned(),
            (Selected::Below(_), ..) => Some(self.made(below, old)),
        };
        *self.work += map.len() as u64;
        let mut entries = map.entries().to_vec();
        match (position, new) {
            (Some(at), Some(new)) => entries[at].value = new,
            (Some(at), None) => drop(entries.remove(at)),
            (None, Some(new)) => entries.push(Entry::named(key.clone(), self.edit.path_at, new)),
            (None, None) => {}
        }
        Ok(Node::map(entries, node.span))
    }

    /// All edits of one list at once, so that none moves the items that another one selects.
    fn in_list(&mut self, items: &[Node], children: &[(SelectedKey, Selected)], node: &Node) -> Result<Node, Refusal> {
        *self.work += items.len() as u64;
        let mut edited = Vec::with_capacity(items.len() + children.len());
        let mut children = children.iter().peekable();
        for (index, item) in items.iter().enumerate() {
            let Some((_, below)) = children.next_if(|(token, _)| *token == SelectedKey::Index(index)) else {
                edited.push(item.clone());
                continue;
            };
            match (below, self.edit.action) {
                (Selected::Here, Action::Add) => edited.extend([self.put(None), item.clone()]),
                (Selected::Here, Action::Remove) => {}
                (Selected::Here, _) => edited.push(self.put(Some(item))),
                (Selected::Below(_), _) => edited.push(self.inside(item, below)?),
            }
        }
        for (token, _) in children {
            debug_assert_eq!(*token, SelectedKey::Append, "every index was met");
            edited.push(self.put(None));
        }
        Ok(Node::list(edited, node.span))
    }

    /// Below a null item of a list, or a null or scalar document.
    fn in_nothing(&mut self, node: &Node, selected: &Selected) -> Result<Node, Refusal> {
        match self.edit.action {
            Action::Remove if self.edit.dialect == Dialect::Layered => Ok(node.clone()),
            Action::Remove | Action::Replace => Err(self.missing()),
            _ if self.edit.path.parts().len() == 1 && matches!(node.value, Value::Null) => {
                Ok(self.made(selected, Some(node)))
            }
            _ => {
                let message =
                    format!("the path `{}` leads below an item that is a {}", self.edit.shown(), node.type_of());
                Err(Refusal::new(&finding::PATCH_WRONG_TYPE, message).help("missing items of lists are never created"))
            }
        }
    }

    /// The new value at the end of a path.
    fn put(&mut self, old: Option<&Node>) -> Node {
        let Some(value) = self.edit.value else { return Node::new(Value::Null, self.edit.at) };
        if let (Action::MergeShallow, Some(map)) = (self.edit.action, old.and_then(Node::as_map)) {
            return self.overlaid(map, value, old);
        }
        self.placed(value, old)
    }

    fn overlaid(&mut self, map: &Map, overlay: &Node, old: Option<&Node>) -> Node {
        let overlay = overlay.as_map().map(Map::entries).unwrap_or_default();
        *self.work += (map.len() + overlay.len()) as u64;
        let mut entries = map.entries().to_vec();
        for new in overlay {
            match map.position(&new.key.name) {
                Some(at) => entries[at].value = self.placed(&new.value, Some(&map.entries()[at].value)),
                None => entries.push(Entry { key: new.key.clone(), value: self.placed(&new.value, None) }),
            }
        }
        let merged = Node::map(entries, old.map_or(self.edit.at, |old| old.span));
        Node { extra: old.and_then(|old| old.extra.clone()), ..merged }
    }

    fn placed(&self, value: &Node, old: Option<&Node>) -> Node {
        let placed = value.clone().through(StepKind::Patch, self.edit.at);
        old.map_or(placed.clone(), |old| placed.overriding(with_short_history(old)))
    }

    /// Maps that are missing, and at their end the value or a list that holds it.
    fn made(&mut self, selected: &Selected, old: Option<&Node>) -> Node {
        let made = match selected {
            Selected::Here => return self.put(old),
            Selected::Below(children) => match children.as_slice() {
                [(SelectedKey::Key(key), below)] => {
                    let below = self.made(below, None);
                    Node::map(vec![Entry::named(key.clone(), self.edit.path_at, below)], self.edit.path_at)
                }
                _ => Node::list(vec![self.put(None)], self.edit.path_at),
            },
        };
        self.placed(&made, old)
    }

    fn missing(&self) -> Refusal {
        debug_assert!(!self.edit.action.makes_parents(), "add and mergeShallow create what is missing");
        let (name, path) = (self.edit.action.name(), self.edit.shown());
        let refusal = Refusal::new(&finding::PATCH_MISSING, format!("`{name}` finds nothing at `{path}`"));
        match self.edit.action {
            Action::Remove => refusal.help("the value around it must be there"),
            _ => refusal.help("use `add` to set it whether or not it is there"),
        }
    }

    fn append_to(&self, node: &Node) -> Refusal {
        let message =
            format!("`-` in the path `{}` needs a list, and a {} is there", self.edit.shown(), node.type_of());
        Refusal::new(&finding::PATCH_WRONG_TYPE, message)
    }
}

/// Length of the chain of overridden values.
const LONGEST_HISTORY: usize = 16;

/// The overridden value with a bounded history: a loop can override one place a hundred thousand times.
fn with_short_history(old: &Node) -> Node {
    let length = std::iter::successors(Some(old), |node| node.overridden()).take(LONGEST_HISTORY + 1).count();
    let mut old = old.clone();
    if length > LONGEST_HISTORY
        && let Some(extra) = &old.extra
    {
        let mut extra = (**extra).clone();
        (extra.overridden, extra.step) = (
            None,
            extra.step.take().map(|mut step| {
                step.before = None;
                step
            }),
        );
        old.extra = Some(extra.into());
    }
    old
}
