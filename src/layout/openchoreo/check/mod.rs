//! Checks of documents without rendering: each on its own, and references between them.

mod changes;
mod component;
mod document;
mod expressions;
mod references;
mod release;
mod report;
mod types;
mod values;
mod workload;

use std::collections::BTreeMap;

use super::dependencies::CONNECTIONS;
use super::object::{Object, ObjectName};
use super::objects::Objects;
use crate::finding::{self, Finding};
use crate::layout::{Ask, Units};
use crate::limits::Limits;
use report::Findings;

pub use changes::check_change;

/// Everything that is wrong with the objects of a snapshot. What is known about its files must be known to the units.
pub fn check_objects(units: &Units<'_>) -> Vec<Finding> {
    let ask = Ask::new(units, Vec::new());
    let objects = Objects::new(&ask);
    let all = objects.all();
    let checker = Checker { objects: &objects, limits: units.files().given().limits };
    let mut findings: Vec<Finding> = all.iter().flat_map(|object| checker.object(object)).collect();
    findings.extend(checker.duplicates(&all));
    findings.extend(checker.bindings(&all));
    findings.extend(old_generation(&all));
    findings
}

/// What checks need.
pub(super) struct Checker<'c, 'q, 'f, 'a> {
    objects: &'c Objects<'q, 'f, 'a>,
    limits: &'c Limits,
}

impl Checker<'_, '_, '_, '_> {
    /// Everything that is wrong with one object.
    fn object(&self, object: &Object) -> Vec<Finding> {
        let mut found = Findings::new(object);
        match object.name.kind.as_str() {
            "ComponentType" | "ClusterComponentType" => self.component_type(object, &mut found),
            "Trait" | "ClusterTrait" => self.trait_document(object, &mut found),
            "Component" => self.component(object, &mut found),
            "Workload" => self.workload(object, &mut found),
            "ReleaseBinding" => self.binding(object, &mut found),
            "ComponentRelease" => self.release(object, &mut found),
            "Project" => self.project(object, &mut found),
            "DeploymentPipeline" => self.pipeline(object, &mut found),
            "Environment" => self.environment(object, &mut found),
            _ => {}
        }
        found.all
    }

    /// Objects that are written in several files.
    fn duplicates(&self, all: &[Object]) -> Vec<Finding> {
        let mut copies: BTreeMap<&ObjectName, Vec<&Object>> = BTreeMap::new();
        for object in all {
            copies.entry(&object.name).or_default().push(object);
        }
        let several = copies.into_values().filter(|copies| copies.len() > 1);
        several
            .map(|copies| {
                let mut found = Findings::new(copies[0]);
                let message = format!("{} is written {} times", copies[0].name, copies.len());
                found.add(&finding::OPENCHOREO_OBJECT_DUPLICATE, &[], message);
                let related = copies[1..].iter().map(|copy| copy.node.span.start_only());
                found.relate(related, "another copy");
                found.all.remove(0)
            })
            .collect()
    }
}

/// One note for all documents of an older generation.
fn old_generation(all: &[Object]) -> Option<Finding> {
    let is_old = |object: &&Object| {
        let kind = object.name.kind.as_str();
        let has = |path: &[&str]| object.spec(path).is_some();
        match kind {
            "ComponentType" | "Trait" | "ClusterComponentType" | "ClusterTrait" => has(&["schema"]),
            "Component" => object.text(&["componentType"]).is_some(),
            "Workload" => has(&["containers"]) || has(&[CONNECTIONS]),
            "ReleaseBinding" => has(&["componentTypeEnvOverrides"]) || has(&["traitOverrides"]),
            _ => false,
        }
    };
    let old: Vec<&Object> = all.iter().filter(is_old).collect();
    let first = old.first()?;
    let mut found = Findings::new(first);
    let message = format!("{} documents are written for an older generation of OpenChoreo", old.len());
    found.add(&finding::OPENCHOREO_OLD_GENERATION, &[], message);
    found.all.pop()
}
