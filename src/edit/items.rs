//! Matches the items of an old and a new list: what stays, what is removed, what is added.

use crate::value::Node;
use crate::value::align::{align, classes};

/// What happens to an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The old item becomes the new one; both are indexes.
    Stays { old: usize, new: usize },
    /// The old item is removed.
    Goes { old: usize },
    /// The new item is added.
    Comes { new: usize },
}

/// What happens to the items of two lists, in order. Items of lists of the same length are matched by their index.
pub(super) fn match_items(old: &[Node], new: &[Node]) -> Vec<Fate> {
    if old.len() == new.len() {
        return (0..old.len()).map(|at| Fate::Stays { old: at, new: at }).collect();
    }
    let (old_items, new_items): (Vec<&Node>, Vec<&Node>) = (old.iter().collect(), new.iter().collect());
    let (old_classes, new_classes) = classes(&old_items, &new_items, Node::is_identical);
    let mut fates = Vec::with_capacity(old.len().max(new.len()));
    let mut from = (0, 0);
    for (old, new) in align(&old_classes, &new_classes) {
        match_between(from, (old, new), &mut fates);
        fates.push(Fate::Stays { old, new });
        from = (old + 1, new + 1);
    }
    match_between(from, (old.len(), new.len()), &mut fates);
    fates
}

/// Between two identical items, old items become new ones as long as both lists have some.
fn match_between(from: (usize, usize), to: (usize, usize), fates: &mut Vec<Fate>) {
    let both = (to.0 - from.0).min(to.1 - from.1);
    fates.extend((0..both).map(|at| Fate::Stays { old: from.0 + at, new: from.1 + at }));
    fates.extend((from.0 + both..to.0).map(|old| Fate::Goes { old }));
    fates.extend((from.1 + both..to.1).map(|new| Fate::Comes { new }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources, Span};
    use crate::value::Value;

    fn fates(old: &str, new: &str) -> Vec<Fate> {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
        let nodes = |text: &str| -> Vec<Node> {
            text.chars().map(|c| Node::new(Value::String(c.to_string().into()), Span::new(source, 0, 0))).collect()
        };
        match_items(&nodes(old), &nodes(new))
    }

    #[test]
    fn a_removed_and_an_added_item_leave_the_others_in_place() {
        use Fate::{Comes, Goes, Stays};
        assert_eq!(fates("abc", "ac"), [Stays { old: 0, new: 0 }, Goes { old: 1 }, Stays { old: 2, new: 1 }]);
        assert_eq!(fates("ac", "abc"), [Stays { old: 0, new: 0 }, Comes { new: 1 }, Stays { old: 1, new: 2 }]);
        assert_eq!(fates("ab", "ba"), [Stays { old: 0, new: 0 }, Stays { old: 1, new: 1 }]);
        assert_eq!(fates("", "a"), [Comes { new: 0 }]);
    }
}
