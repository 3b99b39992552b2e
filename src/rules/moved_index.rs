//! `patch/moved-index`: an index in a patch that selects another item than before, because items were inserted or removed.

use crate::finding::{self, Finding, Location};
use crate::patch::IndexedPath;
use crate::path::Pointer;
use crate::resource::Resource;
use crate::side::Side;
use crate::text::Span;
use crate::value::Node;

/// Members that name an item of a list, in the order they are tried.
const NAMES: [&str; 4] = ["name", "id", "key", "metadata"];

/// One finding for every index in a patch of both sides that selects another item of a resource than before.
pub fn moved_indexes(sides: [&Side<'_>; 2], older: &Resource, newer: &Resource) -> Vec<Finding> {
    let [before, after] = sides;
    let (old_paths, new_paths) = (before.indexed_patches(older), after.indexed_patches(newer));
    if old_paths.is_empty() || new_paths.is_empty() {
        return Vec::new();
    }
    let (was, is) = (before.effective(older).computed.clone(), after.effective(newer).computed.clone());
    let is_kept = |path: &&IndexedPath| old_paths.iter().any(|old| old.pointer == path.pointer);
    let moved = new_paths.iter().filter(is_kept).filter_map(|path| moved(path, &was, &is, newer));
    moved.collect()
}

fn moved(path: &IndexedPath, was: &Node, is: &Node, resource: &Resource) -> Option<Finding> {
    let tokens = path.pointer.tokens();
    let ends = (1..=tokens.len()).filter(|end| tokens[end - 1].bytes().all(|byte| byte.is_ascii_digit()));
    for end in ends {
        let place: Pointer = tokens[..end].iter().cloned().collect();
        let list: Pointer = tokens[..end - 1].iter().cloned().collect();
        let (Some(old), Some(new)) = (was.at(&place), is.at(&place)) else { continue };
        let Some(items) = is.at(&list).and_then(Node::as_list) else { continue };
        if is_same_item(old, new) || !items.iter().any(|item| is_same_item(old, item)) {
            continue;
        }
        return Some(finding(path.at, &place, (old, new), resource));
    }
    None
}

fn finding(at: Span, place: &Pointer, (old, new): (&Node, &Node), resource: &Resource) -> Finding {
    let message = format!("`{place}` selects another item of {} than before", resource.identity);
    Finding::new(&finding::PATCH_MOVED_INDEX, Location::Span(at), message)
        .labelled("selects another item now")
        .related(new.span.start_only(), "this one now")
        .related(old.span.start_only(), "this one before")
        .help("select the item by a value, such as `[?(@.name=='app')]`, or correct the index")
        .about(resource.identity.to_string())
}

/// Whether both are the same item: of the same name, or equal where they have none.
fn is_same_item(one: &Node, other: &Node) -> bool {
    let named = NAMES.iter().find_map(|name| Some((one.get(name)?, other.get(name)?)));
    match named {
        Some((one, other)) => match (one.get("name"), other.get("name")) {
            (Some(one), Some(other)) => one.is_equal(other),
            _ => one.is_equal(other),
        },
        None => one.is_equal(other),
    }
}
