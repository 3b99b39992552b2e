//! What is never shown of a resource, whichever side declares it: dropping a declaration does not bring its secret to light.

use super::World;
use crate::compare::{Masks, hide_places};
use crate::layer::{Reach, SecretAttributes};
use crate::resource::Resource;

/// What rules and metadata declare as secret, on every side there is.
pub struct Secrets<'a> {
    masks: Masks,
    sides: Vec<World<'a>>,
    is_off: bool,
}

impl<'a> Secrets<'a> {
    /// Secrets by these rules, and by the metadata of these worlds.
    pub fn new(masks: Masks, sides: Vec<World<'a>>) -> Self {
        Self { masks, sides, is_off: false }
    }

    /// Nothing is secret: for a person at a terminal who asks to see everything.
    pub fn off() -> Self {
        Self { masks: Masks::off(), sides: Vec::new(), is_off: true }
    }

    /// The rules alone.
    pub fn masks(&self) -> &Masks {
        &self.masks
    }

    /// The resource with its secrets hidden.
    #[must_use]
    pub fn hide(&self, resource: Resource) -> Resource {
        if self.is_off {
            return resource;
        }
        let attributes = self.attributes_of(&resource);
        let resource = self.masks.hide(resource);
        match attributes.is_empty() {
            true => resource,
            false => hide_places(resource, |payload| attributes.places(payload, Reach::Everywhere)),
        }
    }

    /// What metadata on any side declares as secret.
    fn attributes_of(&self, resource: &Resource) -> SecretAttributes {
        let of = |side: &World<'_>| side.metadata_of(resource).map(|metadata| SecretAttributes::of(&metadata));
        let declared = self.sides.iter().filter_map(of);
        declared.reduce(|all, more| all.and(&more)).unwrap_or_default()
    }
}
