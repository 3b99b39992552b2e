//! From a resource as its file has it to the resource in effect: expressions, then patches.

use std::sync::Arc;

use super::World;
use crate::finding::{Finding, Outcome, Severity};
use crate::resource::{Resource, Role};
use crate::value::Node;

/// A resource in effect.
#[derive(Debug, Clone)]
pub struct Effective {
    /// What it is after every stage.
    pub payload: Node,
    /// What it was after its expressions, before its patches.
    pub computed: Node,
    /// What is wrong with the way there.
    pub findings: Vec<Finding>,
    /// Whether a stage failed, so that the payload is not what it should be.
    pub is_incomplete: bool,
}

impl World<'_> {
    /// What a resource of this world is in effect. Worked out once for each.
    pub fn effective(&self, resource: &Resource) -> Arc<Effective> {
        let key = (resource.file.clone(), resource.position, resource.identity.clone());
        self.effective.get(&key, || Arc::new(self.work_out(resource)))
    }

    fn work_out(&self, resource: &Resource) -> Effective {
        // Layers and the configuration are not resources, though a diff shows them as such.
        let is_resource = !matches!(self.roles.of(&resource.file), Role::Layer | Role::Configuration);
        let computed = if is_resource { self.computed(resource) } else { Outcome::clean(resource.payload.clone()) };
        let is_wrong = |finding: &Finding| finding.severity == Severity::Error;
        Effective {
            payload: computed.value.clone(),
            is_incomplete: computed.findings.iter().any(is_wrong),
            computed: computed.value,
            findings: computed.findings,
        }
    }
}
