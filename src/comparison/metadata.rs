//! The metadata of a resource on both sides: what changed layers change about every resource that they apply to.

use std::sync::Arc;

use super::metadata_difference::MetadataDifference;
use super::views::ResourceWithMetadata;
use super::{AffectedSelectors, Comparison};
use crate::diff::{self, Change, PathStep};
use crate::memo::{Identity, Memo};
use crate::metadata::{self, EffectiveMetadata, SecretAttributes};
use crate::resource::Resource;
use crate::value::Node;

/// How metadata differs, computed once for all resources that share it on both sides, and for which other snapshots declare equal
/// secrets.
pub(super) type MetadataDifferences =
    Memo<([Identity<Arc<EffectiveMetadata>>; 2], [SecretAttributes; 2]), Arc<MetadataDifference>>;

impl Comparison<'_> {
    /// The metadata of a resource before and after, where a changed layer applies to it or its path changed. Places start in the
    /// metadata, not in the payload.
    pub(super) fn compare_metadata(
        &self,
        old: &ResourceWithMetadata<'_>,
        new: &ResourceWithMetadata<'_>,
        reach: &AffectedSelectors,
    ) -> Arc<MetadataDifference> {
        if old.path == new.path && !reach.includes(&old.path) {
            return Arc::default();
        }
        if reach.is_empty() && old.has_defaults_of(new) {
            return Arc::default();
        }
        let secrets = self.after.secrets();
        let is_unknown = [old, new].iter().any(|known| known.metadata.secret_attributes().is_unknown());
        let hidden = |known: &ResourceWithMetadata<'_>, payload: Node| {
            secrets.hide_in_metadata(Resource { payload, ..known.resource.clone() }, is_unknown).payload
        };
        let compare = || {
            let options = diff::Options { limits: self.after.limits.clone(), ..diff::Options::default() };
            let [before, after] = metadata::compared(&old.settled(), &new.settled());
            let mut difference = diff::diff(&hidden(old, before), &hidden(new, after), &options);
            let place = |change: &mut Change| change.path.insert(0, PathStep::Metadata);
            difference.changes.iter_mut().chain(&mut difference.spelling_only).for_each(place);
            // No resource has metadata in its own file, so that all of them share the causes.
            let no_home = [None, None];
            for change in &difference.changes {
                diff::causes_at(change, &no_home, self.after.sources);
            }
            MetadataDifference::new(difference)
        };
        if !secrets.is_same_for_all() {
            return compare();
        }
        let shared = [&old.metadata, &new.metadata].map(Identity::of_shared);
        let declared = [old, new].map(|known| secrets.attributes_of_others(known.resource));
        self.metadata.get(&(shared, declared), compare)
    }
}
