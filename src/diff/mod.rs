//! Compares two trees, and two sets of resources, and lists what changed.
//!
//! Maps are compared by key. List items are matched by configured keys, by the keys of the Kubernetes API, by detected names, and
//! otherwise by content. Matches found by hash or by similarity are always verified. The result does not depend on which side is
//! older: comparing in the other direction gives the mirror image.

mod bumps;
mod cause;
mod comment;
mod edits;
mod expected;
mod groups;
pub mod json_patch;
pub mod path_text;
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

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

pub use bumps::{Bump, BumpKind, Bumps, Level, bumps, differ_only_in_versions, documents_for_bumps};
pub use cause::{Cause, Causes, FileSpan, HomeFile, Via, causes, causes_at};
pub use comment::comment_beside;
pub use edits::{EditedFile, Edits, OwnEdits, edits};
pub use expected::{Expected, expect};
pub use fingerprint::{Digest, Fingerprint, digest_of};
pub use groups::{Group, Member, Origin, SharedCause, SharedVia, Variant, groups, without_position};
pub use options::{EmbeddedParser, Options, TextThresholds};
pub use pattern::{InvalidPattern, ListRules};
pub use resources::{
    ResourcePair, change_of, compare_payloads, compare_resources, few_pairs, pair, sole_namesakes, sort,
};
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
    /// Values that are written differently but are equal: numbers (`1.10` → `1.1`), and strings whose embedded documents differ
    /// only in formatting; the path of the latter ends with [`PathStep::Embedded`]. These are not changes.
    pub spelling_only: Vec<Change>,
    /// What was compared.
    pub documents: Option<Arc<Documents>>,
    /// Lists that were compared by content, because the configured keys do not identify their items.
    pub unusable: Vec<UnusableKeys>,
    /// Whether the run has reached its limit of changes, so that some are not listed.
    pub is_cut: bool,
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
    /// The pattern of the rule.
    pub pattern: SmolStr,
    /// The keys of the rule.
    pub keys: Vec<SmolStr>,
    /// Path of the list.
    pub path: Vec<PathStep>,
    /// The first item that lacks the keys, or has the same key values as another item.
    pub item: Span,
    /// The other item with the same key values.
    pub twin: Option<Span>,
}

/// One thing that changed.
#[derive(Debug, Clone)]
pub struct Change {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The path from the root.
    pub path: Vec<PathStep>,
    /// The value before; absent for an addition.
    pub before: Option<Node>,
    /// The value after; absent for a removal.
    pub after: Option<Node>,
    /// The causes of both sides, computed when [`causes`] is first asked for them.
    causes: OnceLock<Causes>,
}

impl Change {
    /// A change whose causes are not known yet.
    pub fn new(kind: ChangeKind, path: Vec<PathStep>, before: Option<Node>, after: Option<Node>) -> Self {
        Self { kind, path, before, after, causes: OnceLock::new() }
    }
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The value is new.
    Add,
    /// The value is gone.
    Remove,
    /// A scalar changed to another one of the same type.
    Value,
    /// The type of the value changed, or its tag was added, removed or changed.
    Type,
    /// A multi-line string changed in some of its lines.
    Text,
    /// The order of a list changed; `before` and `after` are the lists. Added, removed and changed items are listed
    /// separately, and this replaces single moves if most items moved.
    Reorder,
    /// A list item moved relative to items that stayed; its own changes are listed separately.
    Move,
}

/// One step of the path to a change.
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
        /// The keys that identify it, if any: `name=web`, or `containerPort=80,protocol=TCP`.
        label: Option<SmolStr>,
    },
    /// Into a string that contains an embedded document.
    Embedded(Format),
    /// Into the effective metadata of the resource; always the first step.
    Metadata,
    /// Into the request of an operation on the resource; always the first step.
    Request(SmolStr),
    /// To an expression of the resource as it is written; always the first step, with what became of its value.
    Expression(ExpressionValue),
}

/// What an expression whose text was edited gives now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpressionValue {
    /// What it gave before.
    Unchanged,
    /// Nothing, as before.
    Nothing,
    /// Another value, which is a change of its own.
    Changed,
}

impl ExpressionValue {
    /// The words that follow `expression`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "value unchanged",
            Self::Nothing => "finds nothing on either side",
            Self::Changed => "value changed",
        }
    }
}

/// The JSON Pointer of a path on one side, up to the first string that contains an embedded document.
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
            PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_) => Some(SmolStr::default()),
        })
        .skip(usize::from(matches!(
            path.first(),
            Some(PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_))
        )))
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

/// One resource on both sides, and what changed in it.
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
    /// Expressions whose text was edited and whose value did not change; every path in it starts with [`PathStep::Expression`].
    pub expressions: Difference,
}

impl Difference {
    /// Whether there are neither changes nor values that are only written differently.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.spelling_only.is_empty()
    }
}

impl ResourceChange {
    /// Everything that changed: in the resource itself, then in its metadata, its requests, and the texts of its expressions.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.difference
            .changes
            .iter()
            .chain(&self.metadata.changes)
            .chain(&self.requests.changes)
            .chain(&self.expressions.changes)
    }

    /// The change at a position in the order of [`Self::changes`].
    pub fn change(&self, position: usize) -> Option<&Change> {
        let views = [&self.difference, &self.metadata, &self.requests, &self.expressions];
        let mut position = position;
        for Difference { changes, .. } in views {
            match changes.get(position) {
                Some(change) => return Some(change),
                None => position -= changes.len(),
            }
        }
        None
    }

    /// All values that are only written differently: in the resource itself, then in its metadata, then in its requests.
    pub fn spellings(&self) -> impl Iterator<Item = &Change> {
        self.difference.spelling_only.iter().chain(&self.metadata.spelling_only).chain(&self.requests.spelling_only)
    }
}
