//! The two sides of a comparison as worlds, and what only both together can say.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::{Request, metadata};
use crate::finding::Finding;
use crate::path::RepoPath;
use crate::report::Report;
use crate::resource::Resource;
use crate::secrets::Secrets;
use crate::settings::Given;
use crate::side::Side;
use crate::text::Span;

/// Both sides.
pub(super) struct Worlds<'a> {
    pub(super) before: Side<'a>,
    pub(super) after: Side<'a>,
    /// How metadata differs that was compared before.
    pub(super) metadata: metadata::Known,
}

/// Does something with both sides of a request.
pub(super) fn with_worlds<T>(request: &Request<'_>, act: impl FnOnce(&Worlds<'_>) -> T) -> T {
    let Request { configuration, sources, .. } = *request;
    let limits = configuration.limits();
    let before = Given { snapshot: request.before, settings: &configuration.before, sources, limits };
    let after = Given { snapshot: request.after, settings: &configuration.after, sources, limits };
    let [before, after] = Side::pair([before, after], configuration.secret_rules(), request.reveal);
    act(&Worlds { before, after, metadata: metadata::Known::default() })
}

/// Resources as they are in effect.
pub(super) struct InEffect {
    pub(super) resources: Vec<Resource>,
    /// Whether every stage succeeded for all of them.
    pub(super) is_complete: bool,
    /// The patches that meant one of them, by their places.
    pub(super) used: BTreeSet<Span>,
}

/// Takes resources through the stages after their directives.
pub(super) fn in_effect(resources: Vec<Resource>, world: &Side<'_>, findings: &mut Vec<Finding>) -> InEffect {
    let work_out = |resource: Resource| (world.effective(&resource), resource);
    let worked_out: Vec<_> = match resources.len() {
        0..64 => resources.into_iter().map(work_out).collect(),
        _ => resources.into_par_iter().map(work_out).collect(),
    };
    let mut in_effect =
        InEffect { resources: Vec::with_capacity(worked_out.len()), is_complete: true, used: BTreeSet::new() };
    for (effective, resource) in worked_out {
        in_effect.is_complete &= !effective.is_incomplete;
        in_effect.used.extend(effective.patches.iter().filter(|patch| patch.is_used).map(|patch| patch.at));
        findings.extend(effective.findings.iter().cloned());
        // What a patch drops is not there.
        if let Some(payload) = effective.payload.clone() {
            in_effect.resources.push(Resource { payload, ..resource });
        }
    }
    in_effect
}

impl<'a> Worlds<'a> {
    /// What either side declares as secret.
    pub(super) fn secrets(&self) -> &Secrets<'a> {
        self.after.secrets()
    }

    /// Hides what either side declares as secret. Both sides hide the same, so that what did not change is looked at once.
    pub(super) fn hide(&self, before: Vec<Resource>, after: Vec<Resource>) -> (Vec<Resource>, Vec<Resource>) {
        let twins = twins(&before, &after);
        let after = Self::hide_each(after, |resource| self.secrets().hide(resource));
        let before = Self::hide_each(before.into_iter().zip(twins).collect(), |(resource, twin)| {
            match twin.and_then(|at| after.get(at)) {
                Some(twin) => Resource { payload: twin.payload.clone(), ..resource },
                None => self.secrets().hide(resource),
            }
        });
        (before, after)
    }

    fn hide_each<T: Send>(all: Vec<T>, hide: impl Fn(T) -> Resource + Send + Sync) -> Vec<Resource> {
        match all.len() {
            // A few are hidden faster than threads are started.
            0..64 => all.into_iter().map(hide).collect(),
            _ => all.into_par_iter().map(hide).collect(),
        }
    }

    /// Hides the values of texts that findings point into, where metadata declares secrets for what the text describes.
    pub(super) fn veil(&self, report: &Report) {
        let shown: BTreeSet<_> = report.findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
        for source in shown {
            let text = report.sources.get(source);
            let sides = [&self.before, &self.after];
            if sides.iter().any(|side| side.layers().secrets_near(&text.path).may_be_in(&text.text)) {
                report.sources.mark_sensitive(source);
            }
        }
    }
}

/// For each resource the position of the same one, with the same payload, on the other side; both are in order of their files.
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
