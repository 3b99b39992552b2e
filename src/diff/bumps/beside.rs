//! What is kept of two documents so that bumps are still recognised: the values beside changed versions that name things.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use super::field::NEIGHBOURS;
use super::may_be_bump;
use crate::diff::{Change, DiffSide, Documents, ResourceChange, pointer};
use crate::value::{Entry, Node, Value};

/// The documents of a resource with nothing but what decides whether its changes are bumps; nothing if none of them may be one.
pub fn documents_for_bumps(of: &ResourceChange) -> Option<Arc<Documents>> {
    let documents = of.difference.documents.as_ref()?;
    let versions: Vec<&Change> = of.difference.changes.iter().filter(|change| may_be_bump(change)).collect();
    if versions.is_empty() {
        return None;
    }
    let kept = |root: &Node, side: DiffSide| {
        let places = versions.iter().map(|change| pointer(&change.path, side).tokens().to_vec());
        let places: BTreeSet<Vec<SmolStr>> = places.collect();
        around(root, &Vec::from_iter(places), 0)
    };
    let before = kept(&documents.before, DiffSide::Before);
    let after = kept(&documents.after, DiffSide::After);
    Some(Arc::new(Documents { before, after }))
}

/// What is around these places of a document, seen from a node that is `depth` steps below its root and above all of them. Items of
/// lists keep their positions.
fn around(node: &Node, places: &[Vec<SmolStr>], depth: usize) -> Node {
    let below = |name: &str| -> &[Vec<SmolStr>] {
        let token = |place: &Vec<SmolStr>| place.get(depth).map(SmolStr::as_str).cmp(&Some(name));
        let start = places.partition_point(|place| token(place).is_lt());
        let count = places[start..].partition_point(|place| token(place).is_eq());
        &places[start..start + count]
    };
    let nothing = |node: &Node| Node::new(Value::Null, node.span);
    match &node.value {
        Value::Map(map) => {
            let kept = map.entries().iter().filter_map(|entry| {
                let value = match below(&entry.key.name) {
                    [] if NEIGHBOURS.contains(&entry.key.name.as_str()) => entry.value.clone(),
                    [] => return None,
                    places => around(&entry.value, places, depth + 1),
                };
                Some(Entry { key: entry.key.clone(), value })
            });
            let mut kept: Vec<Entry> = kept.collect();
            kept.shrink_to_fit();
            Node::map(kept, node.span)
        }
        Value::List(list) => {
            let kept = list.items().iter().enumerate().map(|(at, item)| match below(&format_smolstr!("{at}")) {
                [] => nothing(item),
                places => around(item, places, depth + 1),
            });
            Node::list(kept.collect(), node.span)
        }
        // A changed version itself.
        _ => node.clone(),
    }
}
