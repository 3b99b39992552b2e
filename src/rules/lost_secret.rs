//! A layer that reaches less far than before, and declares secrets that some paths lose by that.

use std::collections::BTreeSet;

use crate::finding::{self, Finding, Location};
use crate::metadata::{Field, FieldPath, Section, is_metadata_file};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::side::Side;

/// A warning for each changed layer that no longer reaches a resource for which it declared a secret attribute.
pub fn lost_secrets([before, after]: [&Side<'_>; 2], layers: &[RepoPath], resources: &[Resource]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in layers.iter().filter(|file| is_metadata_file(file.file_name())) {
        let Some(directory) = file.parent() else { continue };
        let (old, new) = (before.layers().layer_of(file), after.layers().layer_of(file));
        let old = old.or_else(|| before.layers().layers_around(&directory)?.layer_at(&directory));
        let (Some(old), Some(new)) = (old, new) else { continue };
        let secrets = FieldPath::new(Section::Resource, Field::SecretInAttributes);
        let declares = old.statements.about(&secrets).is_some();
        if !declares || !old.statements.reaches_below() || new.statements.reaches_below() || !new.is_from(file) {
            continue;
        }
        let selector = old.selector().cloned();
        let lost: BTreeSet<String> = resources
            .iter()
            .filter(|resource| resource.is_managed())
            .filter_map(|resource| after.path_of(resource))
            .filter(|path| selector.as_ref().is_some_and(|selector| selector.applies_to(path)))
            .filter(|path| {
                let depth = selector.as_ref().map_or(0, |selector| selector.segments().len());
                path.segments().count() > depth + 1
            })
            .map(|path| path.to_string())
            .collect();
        let Some(first) = lost.first() else { continue };
        let others = match lost.len() {
            1 => String::new(),
            count => format!(" and {} others", count - 1),
        };
        let message =
            format!("{first}{others} lose secret attributes that this layer declared: it has the new form now");
        let finding = Finding::new(&finding::METADATA_SECRET_LOST, Location::Span(new.span.start_only()), message);
        findings.push(finding.help("write `selector: {descendants: true}`, or declare them again below"));
    }
    findings
}
