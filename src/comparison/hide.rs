//! The third step: secrets are hidden before anything is compared.

use super::Comparison;
use super::load::Loaded;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::Resource;

impl Comparison<'_> {
    /// Hides what either side declares as secret.
    pub(super) fn hide(&self, loaded: Loaded) -> Loaded {
        let [before, after] = self.hide_both(loaded.before, loaded.after);
        Loaded { before, after, ..loaded }
    }

    /// Hides the secrets of both sides. Both hide the same, so that what did not change is looked at once.
    pub(super) fn hide_both(&self, before: Vec<Resource>, after: Vec<Resource>) -> [Vec<Resource>; 2] {
        let secrets = self.after.secrets();
        let twins = twins(&before, &after);
        let after = few_or_many(after, FEW, |resource| secrets.hide(resource));
        let before: Vec<(Resource, Option<usize>)> = before.into_iter().zip(twins).collect();
        let before = few_or_many(before, FEW, |(resource, twin)| match twin.and_then(|at| after.get(at)) {
            Some(twin) => Resource { payload: twin.payload.clone(), ..resource },
            None => secrets.hide(resource),
        });
        [before, after]
    }
}

/// For each resource the position of the same one, with the same payload, on the other side; both are sorted by file.
fn twins(before: &[Resource], after: &[Resource]) -> Vec<Option<usize>> {
    fn place(resource: &Resource) -> (&RepoPath, usize) {
        (&resource.file, resource.position)
    }
    let mut at = 0;
    let twin = |resource: &Resource| {
        while after.get(at).is_some_and(|other| place(other) < place(resource)) {
            at += 1;
        }
        let other = after.get(at)?;
        let is_same = place(other) == place(resource) && other.identity == resource.identity;
        (is_same && other.payload.is_shared_with(&resource.payload)).then_some(at)
    };
    before.iter().map(twin).collect()
}
