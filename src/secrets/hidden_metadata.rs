//! Effective metadata whose secrets are hidden already.

use std::sync::Arc;

use crate::memo::{Identity, Memo};
use crate::metadata::{EffectiveMetadata, SecretAttributes};

/// Metadata with its secrets hidden, by the metadata and what is declared for the path. Most resources share both.
pub(super) type HiddenMetadata = Memo<(Identity<Arc<EffectiveMetadata>>, DeclaredAt), Arc<EffectiveMetadata>>;

/// As many are kept as resources with layers of their own are looked at in a row.
pub(super) const MOST_HIDDEN: usize = 1024;

/// What metadata declares as secret for a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DeclaredAt {
    /// For a resource there.
    pub(super) own: SecretAttributes,
    /// In any tree of layers.
    pub(super) stored: SecretAttributes,
}
