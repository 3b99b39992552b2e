//! References between objects. What is not in the repository is never an error: it may be kept elsewhere.

use smol_str::SmolStr;

use super::Checker;
use super::report::{Findings, below, place};
use crate::finding::{self, Rule, Severity};
use crate::layout::openchoreo::object::{Object, ObjectName, items, reference, text};
use crate::layout::openchoreo::units::{pipeline_root, promotion_targets};
use crate::value::Node;

impl Checker<'_, '_, '_, '_> {
    /// The object that is referred to. If there is none, that is a note, or a warning where there are others of its kind.
    pub(super) fn referred(
        &self,
        object: &Object,
        name: &ObjectName,
        rule: &'static Rule,
        at: &[SmolStr],
        found: &mut Findings<'_>,
    ) -> Option<Object> {
        let target = self.objects.find(name, &object.file);
        if target.is_none() {
            let severity = if self.objects.has_kind(&name.kind) { Severity::Warning } else { Severity::Note };
            found.add_as(rule, severity, at, format!("{name} is not in this repository"));
            found.label(name.to_string());
        }
        target
    }

    pub(super) fn project(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        let Some(name) = reference(spec, "deploymentPipelineRef") else { return };
        let wanted = named("DeploymentPipeline", object, name);
        let at = reference_place(spec, "deploymentPipelineRef", &place(&["spec"]));
        self.referred(object, &wanted, &finding::OPENCHOREO_REF_PIPELINE, &at, found);
    }

    pub(super) fn pipeline(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        let paths = place(&["spec", "promotionPaths"]);
        if pipeline_root(spec).is_none() {
            let message = match items(spec, "promotionPaths").is_empty() {
                true => "the pipeline has no promotion paths",
                false => "every environment is the target of another one, so that nothing can be deployed first",
            };
            found.add(&finding::OPENCHOREO_PIPELINE_ROOT, &paths, message);
        }
        for (at, path) in items(spec, "promotionPaths").iter().enumerate() {
            let base = below(&paths, &[&at.to_string()]);
            if let Some(source) = reference(path, "sourceEnvironmentRef") {
                let at = reference_place(path, "sourceEnvironmentRef", &base);
                self.environment_named(object, source, &at, found);
            }
            for (number, target) in promotion_targets(path).into_iter().enumerate() {
                let list = below(&base, &["targetEnvironmentRefs", &number.to_string()]);
                let is_text = items(path, "targetEnvironmentRefs").get(number).is_some_and(|it| it.as_str().is_some());
                let at = if is_text { list } else { below(&list, &["name"]) };
                self.environment_named(object, target, &at, found);
            }
        }
    }

    pub(super) fn environment_named(&self, object: &Object, name: &Node, at: &[SmolStr], found: &mut Findings<'_>) {
        let wanted = named("Environment", object, name);
        self.referred(object, &wanted, &finding::OPENCHOREO_REF_ENVIRONMENT, at, found);
    }

    pub(super) fn environment(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        let Some(name) = reference(spec, "dataPlaneRef") else { return };
        let kind = spec.get("dataPlaneRef").and_then(|it| text(it, "kind")).unwrap_or("DataPlane");
        let wanted = named(kind, object, name);
        let at = reference_place(spec, "dataPlaneRef", &place(&["spec"]));
        self.referred(object, &wanted, &finding::OPENCHOREO_REF_DATA_PLANE, &at, found);
    }

    /// The traits that a type embeds and allows.
    pub(super) fn type_references(&self, object: &Object, spec: &Node, found: &mut Findings<'_>) {
        let kind = if object.name.kind.starts_with("Cluster") { "ClusterTrait" } else { "Trait" };
        let lists =
            [("traits", &finding::OPENCHOREO_REF_TRAIT), ("allowedTraits", &finding::OPENCHOREO_REF_ALLOWED_TRAIT)];
        for (list, rule) in lists {
            for (at, entry) in items(spec, list).iter().enumerate() {
                let Some(name) = text(entry, "name") else { continue };
                let wanted = ObjectName::new(text(entry, "kind").unwrap_or(kind), &object.name.namespace, name);
                let at = place(&["spec", list, &at.to_string(), "name"]);
                let known = found.all.len();
                self.referred(object, &wanted, rule, &at, found);
                if list == "allowedTraits" {
                    // Nothing needs an allowed trait until a component uses it.
                    found.all[known..].iter_mut().for_each(|finding| finding.severity = Severity::Note);
                }
            }
        }
    }
}

/// The object of a name in the namespace of another one.
pub(super) fn named(kind: &str, object: &Object, name: &Node) -> ObjectName {
    ObjectName::new(kind, &object.name.namespace, name.as_str().unwrap_or_default())
}

/// Where the name of a reference is: at the reference itself if that is a text.
pub(super) fn reference_place(node: &Node, key: &str, base: &[SmolStr]) -> Vec<SmolStr> {
    match node.get(key).is_some_and(|it| it.as_str().is_some()) {
        true => below(base, &[key]),
        false => below(base, &[key, "name"]),
    }
}
