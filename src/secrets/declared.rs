//! Hides what rules and metadata declare as secret on any side: dropping a declaration does not reveal its secret.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Masks, hide_copies, hide_copies_of, hide_everywhere, hide_operations, hide_places, secrets_in};
use crate::finding::Finding;
use crate::metadata::{LayerTrees, SecretAttributes, is_patch_file};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::settings::PlaceRule;
use crate::text::{SourceId, Sources};
use crate::value::{Node, Secret};

/// What rules and metadata declare as secret, on every side there is.
pub struct Secrets<'a> {
    pub(super) masks: Masks,
    sides: Vec<Arc<LayerTrees<'a>>>,
    pub(super) is_off: bool,
}

impl<'a> Secrets<'a> {
    /// Secrets by these rules, and by the metadata of these sides. With `reveal` values are shown: for a person at a terminal who
    /// asks for it. Texts that findings point into are redacted all the same.
    pub fn new<'r>(
        rules: impl IntoIterator<Item = &'r PlaceRule>,
        sides: Vec<Arc<LayerTrees<'a>>>,
        reveal: bool,
    ) -> Self {
        Self { masks: Masks::new(rules), sides, is_off: reveal }
    }

    /// The resource with what rules name hidden; what metadata declares is not looked at.
    #[must_use]
    pub fn hide_by_rules(&self, resource: Resource) -> Resource {
        if self.is_off { resource } else { self.masks.hide(resource) }
    }

    /// Whether secret values are hidden at all.
    pub fn hides_values(&self) -> bool {
        !self.is_off
    }

    /// Whether every rule applies to every resource, so that equal payloads are hidden alike.
    pub fn is_same_for_all(&self) -> bool {
        self.is_off || self.masks.is_same_for_all()
    }

    /// Whether the text of a file may hold what a rule names or what metadata near it declares.
    pub fn may_be_in_file(&self, path: &RepoPath, text: &str) -> bool {
        self.masks.may_be_in(text) || self.sides.iter().any(|side| side.secrets_near(path).may_be_in(text))
    }

    /// Hides the values of texts that findings point into, where any of them may be secret: snippets show whole lines.
    pub fn redact_sources(&self, findings: &[Finding], sources: &Sources) {
        let shown: BTreeSet<SourceId> = findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
        for source in shown {
            let text = sources.get(source);
            // A text without a revision was typed on the command line.
            if !text.revision.is_empty() && self.may_be_in_file(&text.path, &text.text) {
                sources.mark_sensitive(source);
            }
        }
    }

    /// The resource with its secrets hidden, and with what patches and expressions made of them.
    #[must_use]
    pub fn hide(&self, resource: Resource) -> Resource {
        if self.is_off {
            return resource;
        }
        let hidden = match is_patch_file(resource.file.file_name()) {
            true => self.hide_operations(resource),
            false => self.hide_places(resource),
        };
        Resource { payload: hide_copies(hidden.payload), ..hidden }
    }

    /// A file of patches says where its values will stand.
    fn hide_operations(&self, resource: Resource) -> Resource {
        let hide = |payload: Node| self.hide_places(Resource { payload, ..resource.clone() }).payload;
        let payload = hide(hide_operations(resource.payload.clone(), &hide));
        Resource { payload, ..resource }
    }

    fn hide_places(&self, resource: Resource) -> Resource {
        let attributes = self.attributes_of(&resource);
        let resource = self.masks.hide(resource);
        match attributes.is_empty() {
            true => resource,
            false => hide_places(resource, |payload| attributes.places(payload)),
        }
    }

    /// The secrets of a resource.
    pub fn secrets_of(&self, resource: Resource) -> Vec<Secret> {
        if self.is_off { Vec::new() } else { secrets_in([&self.hide_places(resource).payload]) }
    }

    /// The payload with copies of secrets hidden that a patch made and whose originals it removed: later stages cannot know them.
    pub fn keep(&self, known: &[Secret], resource: Resource) -> Node {
        let still_there = self.secrets_of(resource.clone());
        let is_lost = |secret: &&Secret| !still_there.iter().any(|other| other.is_equal(secret));
        let lost: Vec<Secret> = known.iter().filter(is_lost).cloned().collect();
        hide_copies_of(resource.payload, &lost)
    }

    /// Payloads of one resource on its way, with the secrets of all of them hidden in each.
    pub fn hide_all(&self, resource: &Resource, payloads: Vec<Node>) -> Vec<Node> {
        if self.is_off {
            return payloads;
        }
        let hide = |payload: Node| self.hide_places(Resource { payload, ..resource.clone() }).payload;
        let hidden: Vec<Node> = payloads.into_iter().map(hide).collect();
        let secrets = secrets_in(&hidden);
        hidden.into_iter().map(|payload| hide_everywhere(payload, &secrets)).collect()
    }

    /// What metadata on any side declares as secret.
    fn attributes_of(&self, resource: &Resource) -> SecretAttributes {
        let mut declared = SecretAttributes::default();
        for layers in &self.sides {
            // A file of patches is no resource itself, but applies to some.
            if is_patch_file(resource.file.file_name()) {
                declared = declared.and(&layers.secrets_near(&resource.file));
                continue;
            }
            let path = layers.roots().around(&resource.file).and_then(|root| resource.logical_path(&root.path));
            if let Some(metadata) = path.and_then(|path| layers.metadata(&path, &resource.file)) {
                declared = declared.and(metadata.value.secret_attributes());
            }
        }
        declared
    }
}
