//! The two sides of a comparison as worlds, and what only both together can say.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::Request;
use crate::compare::hide_places;
use crate::effective::World;
use crate::finding::Location;
use crate::layer::{Reach, SecretAttributes};
use crate::merge::Includes;
use crate::report::Report;
use crate::resource::Resource;

/// Included files of both sides, parsed once.
#[derive(Default)]
pub(super) struct BothIncludes {
    before: Includes,
    after: Includes,
}

/// Both sides.
pub(super) struct Worlds<'a> {
    pub(super) before: World<'a>,
    pub(super) after: World<'a>,
}

impl<'a> Worlds<'a> {
    pub(super) fn new(request: &'a Request<'_>, includes: &'a BothIncludes) -> Self {
        let settings = request.configuration;
        let (sources, limits): (&'a Arc<_>, _) = (request.sources, settings.limits());
        Self {
            before: World::new(request.before, &settings.before, sources, limits, &includes.before),
            after: World::new(request.after, &settings.after, sources, limits, &includes.after),
        }
    }

    /// Hides what metadata on either side declares as secret: dropping a declaration does not bring its secret to light.
    pub(super) fn hide(&self, resources: Vec<Resource>) -> Vec<Resource> {
        let hide = |resource: Resource| {
            let secrets = self.secrets_of(&resource);
            if secrets.is_empty() {
                resource
            } else {
                hide_places(resource, |payload| secrets.places(payload, Reach::Everywhere))
            }
        };
        match resources.len() {
            0..64 => resources.into_iter().map(hide).collect(),
            _ => resources.into_par_iter().map(hide).collect(),
        }
    }

    fn secrets_of(&self, resource: &Resource) -> SecretAttributes {
        let of = |side: &World<'_>| side.metadata_of(resource).map(|metadata| SecretAttributes::of(&metadata));
        match (of(&self.before), of(&self.after)) {
            (Some(before), Some(after)) => before.and(&after),
            (before, after) => before.or(after).unwrap_or_default(),
        }
    }

    /// Hides the values of texts that findings point into, where metadata declares secrets for what the text describes.
    pub(super) fn veil(&self, report: &Report) {
        let spans = report.findings.iter().flat_map(|finding| match finding.location {
            Location::Span(span) => vec![span],
            Location::File { .. } => Vec::new(),
        });
        let shown: BTreeSet<_> = spans.map(|span| span.source).collect();
        for source in shown {
            let text = report.sources.get(source);
            let sides = [&self.before, &self.after];
            if sides.iter().any(|side| side.secrets_near(&text.path).may_be_in(&text.text)) {
                report.sources.mark_sensitive(source);
            }
        }
    }
}
