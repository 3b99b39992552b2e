//! How the metadata of resources differs, and what follows from that for their requests: found out once for all that share it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::diff::{Change, Difference, PathStep};
use crate::metadata::{FieldPath, Operation, RequestParts, Section};

/// The operations on a resource that are compared. A list is a request of its collection, and comparing sends what getting does.
pub(super) const OPERATIONS: [Operation; 4] = [Operation::Get, Operation::Create, Operation::Update, Operation::Delete];

/// How metadata differs, and what follows from that for requests.
#[derive(Default)]
pub(super) struct MetadataDifference {
    pub(super) difference: Difference,
    may_derive_otherwise: OnceLock<bool>,
    affected_parts: OnceLock<Vec<(Operation, RequestParts)>>,
}

impl MetadataDifference {
    pub(super) fn new(difference: Difference) -> Arc<Self> {
        Arc::new(Self { difference, ..Self::default() })
    }

    /// Whether it may change the attributes that follow from a logical path.
    pub(super) fn may_derive_otherwise(&self) -> bool {
        *self.may_derive_otherwise.get_or_init(|| may_derive_otherwise(&self.difference))
    }

    /// The parts of requests that it can change.
    pub(super) fn affected_parts(&self) -> &[(Operation, RequestParts)] {
        self.affected_parts.get_or_init(|| affected_parts(&self.difference))
    }
}

/// Whether changed metadata may change the attributes that follow from a logical path.
fn may_derive_otherwise(metadata: &Difference) -> bool {
    metadata.changes.iter().any(|change| {
        let field = FieldPath::containing(&names(change).collect::<Vec<_>>());
        field.and_then(|path| path.field.row()).is_none_or(|row| row.names_segments)
    })
}

/// The names on the way down to a change: its section, its operation, its field, and so on.
fn names(change: &Change) -> impl Iterator<Item = &str> {
    change.path.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(key.name.as_str()),
        _ => None,
    })
}

/// The parts of requests that changed metadata can change.
fn affected_parts(metadata: &Difference) -> Vec<(Operation, RequestParts)> {
    let mut affected: BTreeMap<Operation, RequestParts> = BTreeMap::new();
    for change in &metadata.changes {
        let keys: Vec<&str> = names(change).collect();
        let row = FieldPath::containing(&keys).and_then(|path| path.field.row());
        let parts = row.map_or(RequestParts::ALL, |row| row.affects);
        let only = Operation::ALL.into_iter().find(|operation| keys.starts_with(Section::Operation(*operation).wire()));
        for operation in OPERATIONS.into_iter().filter(|operation| only.is_none_or(|only| only == *operation)) {
            let known = affected.entry(operation).or_insert(RequestParts::NONE);
            *known = known.or(parts);
        }
    }
    affected.into_iter().collect()
}
