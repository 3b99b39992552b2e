//! Stage 12: two comparable trees become a list of changes.
//!
//! Maps are compared by key. Items of lists are matched by configured names, by the names the Kubernetes API knows, by names
//! that are likely, and else by content; whatever finds a match by hash or by similarity, equality is always verified. Nothing
//! here depends on which side is older: the way back is the mirror of the way there.

mod cause;
mod edits;
mod groups;
pub mod json_patch;
mod resources;
mod suppress;
pub mod text;

mod fingerprint;
mod identity;
mod embedded;
mod kubernetes;
mod unmatched;
mod similarity;
mod lists;
mod options;
mod order;
mod pattern;
mod walk_path;
mod same;
mod status;
mod walk;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use smol_str::SmolStr;

pub use cause::{Cause, Causes, FileSpan, HomeFile, Via, causes, causes_at};
pub use edits::{EditedFile, Edits, OwnEdits, edits};
pub use fingerprint::Fingerprint;
pub use groups::{Group, Member, Origin, SharedCause, SharedVia, Variant, groups};
pub use options::{EmbeddedParser, Options, TextThresholds};
pub use pattern::{InvalidPattern, ListRules};
pub use resources::{OtherChanges, OtherViews, ResourcePair, compare_resources, pair, sort};
pub use status::Status;
pub use suppress::{Suppressed, Suppressions};

use crate::document::Format;
use crate::path::Pointer;
use crate::resource::Resource;
use crate::text::Span;
use crate::value::{Key, Node};

/// Finds everything that differs between two trees, in the order of `after`.
pub fn diff(before: &Node, after: &Node, options: &Options) -> Difference {
    let mut found = walk::walk(before, after, options);
    found.documents = Some(Arc::new(Documents { before: before.clone(), after: after.clone() }));
    found
}

/// What differs between two trees.
#[derive(Debug, Default, Clone)]
pub struct Difference {
    /// Everything that changed, in the order of the document.
    pub changes: Vec<Change>,
    /// What is written differently but means the same: numbers (`1.10` → `1.1`), and strings whose document inside differs only
    /// in its formatting; the path of the latter ends with [`PathStep::Embedded`]. No change, but worth a look.
    pub spelling_only: Vec<Change>,
    /// What was compared.
    pub documents: Option<Arc<Documents>>,
    /// Lists that were compared by content, because the configured keys do not tell their items apart.
    pub unusable: Vec<UnusableKeys>,
}

/// Two trees that were compared.
#[derive(Debug)]
pub struct Documents {
    /// The older one.
    pub before: Node,
    /// The newer one.
    pub after: Node,
}

/// A configured list rule that could not be used for a list.
#[derive(Debug, Clone)]
pub struct UnusableKeys {
    /// Where the rule says the list stands.
    pub pattern: SmolStr,
    /// The keys it gives.
    pub keys: Vec<SmolStr>,
    /// Where the list stands.
    pub path: Vec<PathStep>,
    /// The first item that they do not name, or name like another.
    pub item: Span,
    /// The other of the same name.
    pub twin: Option<Span>,
}

/// One thing that changed.
#[derive(Debug, Clone)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Where: the way down from the root.
    pub path: Vec<PathStep>,
    /// The value before; absent for an addition.
    pub before: Option<Node>,
    /// The value after; absent for a removal.
    pub after: Option<Node>,
}

/// What can happen to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It is new.
    Add,
    /// It is gone.
    Remove,
    /// A scalar became another of the same type.
    Value,
    /// It became something of another type, or lost, got or changed its tag.
    Type,
    /// A multi-line string changed in some of its lines.
    Text,
    /// A list holds the same items in another order; `before` and `after` are the lists. Where items came, went or changed as
    /// well, those are listed apart, and this stands for their moves if most items moved.
    Reorder,
    /// A list item stands elsewhere among items that stayed; its own changes are listed apart.
    Move,
}

/// One level on the way down to a change.
#[derive(Debug, Clone)]
pub enum PathStep {
    /// A member of a map.
    Key(Key),
    /// An item of a list.
    Item {
        /// Its index before, if it was there.
        before: Option<usize>,
        /// Its index after, if it still is.
        after: Option<usize>,
        /// What names it, if something does: `name=web`, or `containerPort=80,protocol=TCP`.
        label: Option<SmolStr>,
    },
    /// Into a string that holds a document of its own.
    Embedded(Format),
    /// Into the effective metadata of the resource; always the first step.
    Metadata,
    /// Into the request of an operation on the resource; always the first step.
    Request(SmolStr),
}

/// The JSON Pointer of a path on one side; the part up to the first string that holds a document.
pub fn pointer(path: &[PathStep], side: DiffSide) -> Pointer {
    path.iter()
        .map_while(|step| match step {
            PathStep::Key(key) => Some(key.name.clone()),
            PathStep::Item { before, after, .. } => {
                let index = match side {
                    DiffSide::Before => before.or(*after),
                    DiffSide::After => after.or(*before),
                };
                Some(index.unwrap_or_default().to_string().into())
            }
            PathStep::Embedded(_) => None,
            PathStep::Metadata | PathStep::Request(_) => Some(SmolStr::default()),
        })
        .skip(usize::from(matches!(path.first(), Some(PathStep::Metadata | PathStep::Request(_)))))
        .collect()
}

/// Which of the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSide {
    /// The older one.
    Before,
    /// The newer one.
    After,
}

/// What became of one resource.
#[derive(Debug, Clone, Default)]
pub struct ResourceChange {
    /// The resource before; absent if it is new.
    pub before: Option<Resource>,
    /// The resource after; absent if it is gone.
    pub after: Option<Resource>,
    /// What changed inside; empty for additions, removals and pure moves.
    pub difference: Difference,
    /// What changed in its effective metadata; every path in it starts with [`PathStep::Metadata`].
    pub metadata: Difference,
    /// What changed in the requests that would be sent for it; every path in it starts with [`PathStep::Request`].
    pub requests: Difference,
}

impl Difference {
    /// Whether nothing differs, not even in spelling.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.spelling_only.is_empty()
    }
}

impl ResourceChange {
    /// Everything that changed: in the resource itself, then in its metadata, then in its requests.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.difference.changes.iter().chain(&self.metadata.changes).chain(&self.requests.changes)
    }

    /// One of them, by its position.
    pub fn change(&self, position: usize) -> Option<&Change> {
        let views = [&self.difference, &self.metadata, &self.requests];
        let mut position = position;
        for Difference { changes, .. } in views {
            match changes.get(position) {
                Some(change) => return Some(change),
                None => position -= changes.len(),
            }
        }
        None
    }

    /// The same for what is only spelled differently.
    pub fn spellings(&self) -> impl Iterator<Item = &Change> {
        self.difference.spelling_only.iter().chain(&self.metadata.spelling_only).chain(&self.requests.spelling_only)
    }
}
