//! Workloads: their owners, secrets and dependencies.

use smol_str::SmolStr;

use super::Checker;
use super::report::{Findings, below, place};
use crate::finding;
use crate::layout::openchoreo::dependencies::{CONNECTIONS, EndpointDependency, resource_references};
use crate::layout::openchoreo::object::{Object, ObjectName, at, items, text};
use crate::sanitize;
use crate::value::{Map, Node};

impl Checker<'_, '_, '_, '_> {
    pub(super) fn workload(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        self.owner(object, found);
        self.secrets(object, spec.get("container"), &["spec", "container"], found);
        for entry in spec.get("containers").and_then(Node::as_map).map(Map::entries).unwrap_or_default() {
            self.secrets(object, Some(&entry.value), &["spec", "containers", &entry.key.name], found);
        }
        let own = object.owner().0;
        let is_older = at(spec, &["dependencies", "endpoints"]).is_none() && spec.get(CONNECTIONS).is_some();
        let listed: &[&str] = if is_older { &["spec", CONNECTIONS] } else { &["spec", "dependencies", "endpoints"] };
        for (number, dependency) in EndpointDependency::of_workload(spec, own).iter().enumerate() {
            let base = below(&place(listed), &[&number.to_string()]);
            self.dependency(object, dependency, &base, found);
        }
        for (number, name) in resource_references(spec) {
            let wanted = ObjectName::new("Resource", &object.name.namespace, name.as_str().unwrap_or_default());
            let place = place(&["spec", "dependencies", "resources", &number.to_string(), "ref"]);
            self.referred(object, &wanted, &finding::OPENCHOREO_REF_RESOURCE, &place, found);
        }
    }

    /// The secrets that variables and files of a container read.
    pub(super) fn secrets(&self, object: &Object, container: Option<&Node>, base: &[&str], found: &mut Findings<'_>) {
        let Some(container) = container else { return };
        for list in ["env", "files"] {
            for (number, item) in items(container, list).iter().enumerate() {
                let key = ["secretKeyRef", "secretRef"].into_iter().find(|key| at(item, &["valueFrom", key]).is_some());
                let Some(key) = key else { continue };
                let Some(reference) = at(item, &["valueFrom", key]) else { continue };
                let place = below(&place(base), &[list, &number.to_string(), "valueFrom", key]);
                self.secret(object, reference, &place, found);
            }
        }
    }

    fn secret(&self, object: &Object, reference: &Node, base: &[SmolStr], found: &mut Findings<'_>) {
        let Some(name) = text(reference, "name") else { return };
        let wanted = ObjectName::new("SecretReference", &object.name.namespace, name);
        let rule = &finding::OPENCHOREO_REF_SECRET;
        let Some(secret) = self.referred(object, &wanted, rule, &below(base, &["name"]), found) else { return };
        let key = text(reference, "key").unwrap_or_default();
        let data = secret.spec(&["data"]).and_then(Node::as_list).unwrap_or_default();
        let keys: Vec<&str> = data.iter().filter_map(|entry| text(entry, "secretKey")).collect();
        if !keys.contains(&key) {
            let message = format!("{} has no key `{}`", secret.name, sanitize::inline(key));
            found.add(&finding::OPENCHOREO_SECRET_KEY, &below(base, &["key"]), message);
            found.help(format!("its keys: {}", sanitize::inline(&keys.join(", "))));
        }
    }

    fn dependency(
        &self,
        object: &Object,
        dependency: &EndpointDependency<'_>,
        base: &[SmolStr],
        found: &mut Findings<'_>,
    ) {
        let EndpointDependency { node, project, component, endpoint } = dependency;
        let wanted = ObjectName::new("Component", &object.name.namespace, component);
        let rule = &finding::OPENCHOREO_REF_DEPENDENCY;
        let Some(provider) = self.referred(object, &wanted, rule, &below(base, &["component"]), found) else { return };
        let its = provider.owner().0;
        if its != project.as_str() {
            let key = if node.get("project").is_some() { "project" } else { "component" };
            let message = format!("{} is part of the project {}, not {project}", provider.name, sanitize::inline(its));
            found.add(&finding::OPENCHOREO_DEPENDENCY_PROJECT, &below(base, &[key]), message);
            return;
        }
        let workloads = self.objects.owned("Workload", &object.name.namespace, component);
        let [workload] = workloads.as_slice() else { return };
        let Some(offered) = workload.spec(&["endpoints", endpoint.as_str()]) else {
            let message = format!("{} has no endpoint `{}`", provider.name, sanitize::inline(endpoint));
            let key = if node.get("name").is_some() { "name" } else { "endpoint" };
            found.add(&finding::OPENCHOREO_DEPENDENCY_ENDPOINT, &below(base, &[key]), message);
            return;
        };
        let declared: Vec<&str> = items(offered, "visibility").iter().filter_map(Node::as_str).collect();
        let is_hidden = declared.iter().all(|it| *it == "project") || text(node, "visibility") == Some("project");
        if its != object.owner().0 && is_hidden {
            let message = format!("the endpoint `{}` is visible only in the project {its}", sanitize::inline(endpoint));
            found.add(&finding::OPENCHOREO_DEPENDENCY_VISIBILITY, &below(base, &["visibility"]), message);
        }
    }
}
