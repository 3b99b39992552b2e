//! What changed layers change: the effective metadata of every resource they speak for, edited itself or not.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::loading::LoadedSides;
use super::{Request, Worlds, views};
use crate::diff::{self, Change, Difference, PathStep};
use crate::finding::{Finding, has_errors};
use crate::memo::{Identity, Memo};
use crate::metadata::{EffectiveMetadata, FieldPath, MetadataPath};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;

/// Adds what is wrong with the layer files that say something else now. What is wrong with them as documents is known already.
/// What cannot be understood on one side cannot be compared.
pub(super) fn judge(request: &Request<'_>, worlds: &Worlds<'_>, layers: &[RepoPath], loaded: &mut LoadedSides) {
    let is_news =
        |finding: &Finding| !["document/", "limit/", "source/"].iter().any(|area| finding.rule.id.starts_with(area));
    for file in layers {
        let (before, after) = (worlds.before.findings_about(file), worlds.after.findings_about(file));
        loaded.has_broken |= has_errors(&before) || has_errors(&after);
        if request.scope.wants(file) {
            loaded.findings_before.extend(before.into_iter().filter(is_news));
            loaded.findings.extend(after.into_iter().filter(is_news));
        }
    }
}

/// The metadata of a resource before and after, where a changed layer speaks for it or it stands elsewhere now. Places start in
/// the metadata, not in the payload.
pub(super) fn compare(
    old: &views::Known<'_>,
    new: &views::Known<'_>,
    worlds: &Worlds<'_>,
    reach: &Reach,
) -> Difference {
    if old.path == new.path && !reach.includes(&old.path) {
        return Difference::default();
    }
    let masks = worlds.secrets().masks();
    let hidden = |known: &views::Known<'_>| {
        masks.hide(Resource { payload: known.metadata.to_traced_node(), ..known.resource.clone() }).payload
    };
    let compare = || {
        let mut difference = diff::diff(&hidden(old), &hidden(new), &diff::Options::default());
        let place = |change: &mut Change| change.path.insert(0, PathStep::Metadata);
        difference.changes.iter_mut().chain(&mut difference.spelling_only).for_each(place);
        difference
    };
    match masks.is_same_for_all() {
        true => worlds.metadata.difference(&old.metadata, &new.metadata, compare),
        false => compare(),
    }
}

/// The names on the way down to a change: its section, its operation, its field, and so on.
pub(super) fn names(change: &Change) -> impl Iterator<Item = &str> {
    change.path.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(key.name.as_str()),
        _ => None,
    })
}

/// Whether changed metadata may change which attributes follow from a logical path.
pub(super) fn may_derive_otherwise(metadata: &Difference) -> bool {
    metadata.changes.iter().any(|change| {
        let field = FieldPath::containing(&names(change).collect::<Vec<_>>());
        field.and_then(|path| path.field.row()).is_none_or(|row| row.names_segments)
    })
}

/// How metadata differs, found once for all resources that share it on both sides.
#[derive(Default)]
pub(super) struct Known(Memo<[Identity<Arc<EffectiveMetadata>>; 2], Arc<Difference>>);

impl Known {
    fn difference(
        &self,
        old: &Arc<EffectiveMetadata>,
        new: &Arc<EffectiveMetadata>,
        compare: impl FnOnce() -> Difference,
    ) -> Difference {
        let difference = self.0.get(&[old, new].map(Identity::of_shared), || Arc::new(compare()));
        (*difference).clone()
    }
}

/// Whom changed layers speak for.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// Everybody: the sides read their files in different ways.
    Everything,
    /// What these selectors match.
    Selected(BTreeSet<MetadataPath>),
}

impl Default for Reach {
    fn default() -> Self {
        Self::Selected(BTreeSet::new())
    }
}

impl Reach {
    /// Whether everything may be affected.
    pub(super) fn is_everybody(&self) -> bool {
        matches!(self, Self::Everything)
    }

    /// Whether no layer has changed.
    pub(super) fn is_nobody(&self) -> bool {
        matches!(self, Self::Selected(selectors) if selectors.is_empty())
    }

    fn includes(&self, path: &LogicalPath) -> bool {
        match self {
            Self::Everything => true,
            Self::Selected(selectors) => selectors.iter().any(|selector| selector.applies_to(path)),
        }
    }
}
