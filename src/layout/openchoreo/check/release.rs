//! Releases: frozen copies that must hold everything they need.

use std::collections::BTreeSet;

use super::Checker;
use super::document::{Specified, instance_names};
use super::report::{Findings, below, place};
use crate::finding;
use crate::layout::openchoreo::failure::described;
use crate::layout::openchoreo::object::{Object, items, text};
use crate::layout::openchoreo::schema::{Section, SectionPart};
use crate::sanitize;
use crate::value::Node;

impl Checker<'_, '_, '_, '_> {
    pub(super) fn release(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        // Releases of the first generation hold the bare specification.
        let Some(type_spec) = object.spec(&["componentType", "spec"]) else { return };
        let base = place(&["spec", "componentType", "spec"]);
        self.specification(&Specified { spec: type_spec, base, is_trait: false, judges_keywords: false }, found);
        let key = |node: &Node| {
            (text(node, "kind").unwrap_or("Trait").to_owned(), text(node, "name").unwrap_or_default().to_owned())
        };
        let mut known = BTreeSet::new();
        for (at, frozen) in items(spec, "traits").iter().enumerate() {
            let base = place(&["spec", "traits", &at.to_string()]);
            if !known.insert(key(frozen)) {
                let (kind, name) = key(frozen);
                let message = format!("{kind} {} is there twice", sanitize::inline(&name));
                found.add(&finding::OPENCHOREO_RELEASE_TRAIT_DUP, &base, message);
            }
            if let Some(spec) = frozen.get("spec") {
                let base = below(&base, &["spec"]);
                self.specification(&Specified { spec, base, is_trait: true, judges_keywords: false }, found);
            }
        }
        let profile = spec.get("componentProfile");
        let instances = profile.map(|profile| items(profile, "traits")).unwrap_or_default();
        let base = place(&["spec", "componentProfile", "traits"]);
        instance_names(instances, &base, found);
        for (at, instance) in instances.iter().enumerate() {
            let (kind, name) = key(instance);
            if !known.contains(&(kind.clone(), name.clone())) {
                let message = format!("the release holds no {kind} {}", sanitize::inline(&name));
                let at = below(&base, &[&at.to_string(), "name"]);
                found.add(&finding::OPENCHOREO_RELEASE_TRAIT_MISSING, &at, message);
            }
        }
        let own = place(&["spec", "componentProfile", "parameters"]);
        let given = profile.and_then(|profile| profile.get("parameters"));
        self.frozen_values(type_spec, given, &own, found);
        for (at, instance) in instances.iter().enumerate() {
            let frozen = items(spec, "traits").iter().find(|it| key(it) == key(instance));
            if let Some(trait_spec) = frozen.and_then(|it| it.get("spec")) {
                let at = below(&base, &[&at.to_string(), "parameters"]);
                self.frozen_values(trait_spec, instance.get("parameters"), &at, found);
            }
        }
        if object.text(&["workload", "container", "image"]).is_none_or(str::is_empty) {
            let message = "the workload of a release needs an image";
            let at = place(&["spec", "workload", "container", "image"]);
            found.add(&finding::OPENCHOREO_RELEASE_IMAGE, &at, message);
        }
    }

    /// Values as they are, without defaults.
    fn frozen_values(&self, spec: &Node, values: Option<&Node>, at: &[smol_str::SmolStr], found: &mut Findings<'_>) {
        let Ok(Some(section)) = Section::read(spec, SectionPart::Parameters) else { return };
        let nothing = Node::map(Vec::new(), spec.span.start_only());
        let violations = section.judge(values.unwrap_or(&nothing), self.limits.request_steps);
        if !violations.is_empty() {
            let message = format!("the frozen schema does not allow this: {}", described(&violations));
            found.add(&finding::OPENCHOREO_RELEASE_PARAMS, at, message);
        }
    }
}
