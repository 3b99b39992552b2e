//! Hides what rules and metadata declare as secret on any side: dropping a declaration does not reveal its secret.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::hidden_metadata::{HiddenMetadata, MOST_HIDDEN};
use super::mask::Hiding;
use super::message::Quotes;
use super::redact::names_literals;
use super::withhold::{hide_credentials, mentions_credential, withhold, withhold_literals};
use super::{
    DeclaredElsewhere, Masks, MovedSecrets, TemplateInputs, hide_copies, hide_copies_of, hide_everywhere,
    hide_operations, hide_places, hide_values, is_field_of_patches, secrets_in,
};
use crate::directive;
use crate::finding::Finding;
use crate::metadata::{EffectiveMetadata, InLists, LayerTrees, SecretAttributes, is_metadata_file, is_patch_file};
use crate::names;
use crate::path::{Pointer, RepoPath};
use crate::resource::Resource;
use crate::settings::PlaceRule;
use crate::text::{Redaction, SourceId, Sources};
use crate::value::{Node, Secret, Value};

/// What rules and metadata declare as secret, on every side there is.
pub struct Secrets<'a> {
    pub(super) masks: Masks,
    sides: Vec<Arc<LayerTrees<'a>>>,
    /// Layers of other snapshots.
    others: Vec<Arc<LayerTrees<'a>>>,
    /// What is known about files that are seen alone.
    elsewhere: DeclaredElsewhere,
    /// What templates put into Secrets, once it was found out.
    inputs: OnceLock<TemplateInputs>,
    pub(super) hidden_metadata: HiddenMetadata,
    pub(super) is_off: bool,
    /// Whether a configuration that may name secrets could not be read, so that any value may be one.
    pub(super) withholds_all: bool,
}

impl<'a> Secrets<'a> {
    /// Secrets by these rules, and by the metadata of these sides. With `reveal` values are shown: for a person at a terminal who
    /// asks for it. Texts that findings point into are redacted all the same.
    pub fn new<'r>(
        rules: impl IntoIterator<Item = &'r PlaceRule>,
        sides: Vec<Arc<LayerTrees<'a>>>,
        reveal: bool,
    ) -> Self {
        Self {
            masks: Masks::new(rules),
            sides,
            others: Vec::new(),
            elsewhere: DeclaredElsewhere::default(),
            inputs: OnceLock::new(),
            hidden_metadata: HiddenMetadata::capped(MOST_HIDDEN),
            is_off: reveal,
            withholds_all: false,
        }
    }

    /// These secrets, and those that the layers of other snapshots declare.
    #[must_use]
    pub fn declared_by(mut self, others: Vec<Arc<LayerTrees<'a>>>) -> Self {
        self.others = others;
        self
    }

    /// Finds out, once, what templates put into Secrets.
    pub fn know_inputs(&self, find: impl FnOnce() -> TemplateInputs) {
        self.inputs.get_or_init(|| {
            let mut inputs = find();
            inputs.extend(&self.elsewhere.inputs);
            inputs
        });
    }

    /// Whether a text may give values that templates put into Secrets.
    pub fn may_be_input(&self, text: &str) -> bool {
        self.inputs.get().is_some_and(|inputs| inputs.may_be_in(text))
    }

    /// A payload without these secrets, also in longer texts: for what templates made.
    #[must_use]
    pub fn hide_in_texts(&self, payload: Node, known: &[Secret]) -> Node {
        if self.is_off { payload } else { hide_everywhere(payload, known) }
    }

    /// These secrets, and those of files that are seen alone.
    #[must_use]
    pub fn known_elsewhere(mut self, elsewhere: DeclaredElsewhere) -> Self {
        self.masks.set_anywhere(elsewhere.is_anywhere);
        self.elsewhere = elsewhere;
        self
    }

    /// Every tree of layers that can declare secrets.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Arc<LayerTrees<'a>>> {
        self.sides.iter().chain(&self.others)
    }

    /// The errors of layers of other snapshots that apply to these resources.
    pub fn errors_of_others<'r>(&self, resources: impl Iterator<Item = &'r Resource>) -> Vec<Finding> {
        if self.others.is_empty() {
            return Vec::new();
        }
        let metadata =
            resources.flat_map(|resource| self.others.iter().filter_map(move |layers| metadata_in(layers, resource)));
        metadata.flat_map(|metadata| metadata.findings()).filter(Finding::is_error).collect()
    }

    /// These secrets; where a configuration that may name others could not be read, every value is withheld.
    #[must_use]
    pub fn withholding_all(mut self, is_unknown: bool) -> Self {
        self.withholds_all = is_unknown;
        self
    }

    /// Whether the values of a resource are withheld, because something that may declare its secrets could not be read.
    pub fn withholds(&self, resource: &Resource) -> bool {
        !self.is_off && (self.withholds_all || self.attributes_of(resource).is_unknown())
    }

    /// A document of metadata with what rules name hidden; where it is unknown what is secret, what it would send literally too.
    #[must_use]
    pub fn hide_in_metadata(&self, metadata: Resource, is_unknown: bool) -> Resource {
        if self.is_off {
            return metadata;
        }
        let declared = self.attributes_of(&metadata);
        self.hide_declared_in(metadata, &declared, is_unknown)
    }

    /// A document of metadata without what rules and these attributes name.
    pub(super) fn hide_declared_in(
        &self,
        metadata: Resource,
        declared: &SecretAttributes,
        is_unknown: bool,
    ) -> Resource {
        if self.is_off {
            return metadata;
        }
        let hidden = self.masks.hide(metadata);
        let hidden = Resource {
            payload: hide_credentials(&hidden.payload, &|name| declared.has_name(name) || self.masks.has_name(name)),
            ..hidden
        };
        if is_unknown || self.withholds_all {
            Resource { payload: withhold_literals(&hidden.payload), ..hidden }
        } else {
            hidden
        }
    }

    /// Whether secret values are hidden at all.
    pub fn hides_values(&self) -> bool {
        !self.is_off
    }

    /// Whether every rule applies to every resource, so that equal payloads are hidden alike.
    pub fn is_same_for_all(&self) -> bool {
        self.is_off || self.masks.is_same_for_all()
    }

    /// Whether a text that could not be parsed may hold secrets, so that none of its lines is shown.
    pub fn may_be_in(&self, path: &RepoPath, text: &str) -> bool {
        match self.redaction(path, text) {
            Redaction::Nothing => false,
            Redaction::RequestValues => names_literals(text),
            Redaction::Values => true,
        }
    }

    /// How much of the text of a file is hidden.
    fn redaction(&self, path: &RepoPath, text: &str) -> Redaction {
        let is_declared = || {
            self.elsewhere.attributes.may_be_in(text)
                || self.layers().any(|side| side.secrets_near(path).may_be_in(text))
        };
        let has_moved = || {
            let forms = self.elsewhere.moved.iter().flat_map(Secret::forms);
            forms.into_iter().any(|form| form.len() >= LONG_ENOUGH && text.contains(form.as_str()))
        };
        if self.masks.may_be_in(text) || self.elsewhere.secret_files.contains(path) || has_moved() {
            return Redaction::Values;
        }
        let has_credentials = is_metadata_file(path.file_name()) && names_literals(text) && mentions_credential(text);
        if path.as_bytes() == names::CONFIGURATION.as_bytes()
            || !self.withholds_all && !is_declared() && !has_credentials
        {
            return Redaction::Nothing;
        }
        if is_metadata_file(path.file_name()) { Redaction::RequestValues } else { Redaction::Values }
    }

    /// Findings that quote no secrets. The values of texts that they point into are hidden where any of them may be secret: snippets
    /// show whole lines. `becomes_secret` says whether a file is made part of a Secret elsewhere.
    pub fn redact(
        &self,
        findings: Vec<Finding>,
        sources: &Sources,
        becomes_secret: &dyn Fn(&RepoPath) -> bool,
    ) -> Vec<Finding> {
        self.redact_sources(&findings, sources, becomes_secret);
        let mut quotes = Quotes::default();
        findings.into_iter().map(|finding| quotes.clean(finding, sources)).collect()
    }

    fn redact_sources(&self, findings: &[Finding], sources: &Sources, becomes_secret: &dyn Fn(&RepoPath) -> bool) {
        let shown: BTreeSet<SourceId> = findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
        for source in shown {
            let text = sources.get(source);
            // A text without a revision was typed on the command line.
            if text.revision.is_empty() {
                continue;
            }
            match self.redaction(&text.path, &text.text) {
                Redaction::Values => sources.redact(source, Redaction::Values),
                _ if becomes_secret(&text.path) => sources.redact(source, Redaction::Values),
                Redaction::RequestValues => sources.redact(source, Redaction::RequestValues),
                Redaction::Nothing => {}
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
        let hidden = Resource { payload: hide_copies(hidden.payload), ..hidden };
        match self.elsewhere.moved.is_empty() {
            true => hidden,
            false => MovedSecrets::of(&self.elsewhere.moved).hide(hidden),
        }
    }

    /// A payload that becomes part of a Secret as a whole.
    pub fn hide_whole(&self, payload: &Node) -> Node {
        if self.is_off { payload.clone() } else { Hiding::everything().scalars(payload) }
    }

    /// A file of patches for a Secret.
    pub fn hide_patch_of_secret(&self, resource: &Resource) -> Node {
        if self.is_off {
            return resource.payload.clone();
        }
        let hide = |payload: Node| self.hide_places(Resource { payload, ..resource.clone() }).payload;
        hide_operations(resource.payload.clone(), Some("Secret"), false, &hide)
    }

    /// A file of patches says where its values will stand. The fields of its own format are no attributes of resources, whatever
    /// they are called.
    fn hide_operations(&self, resource: Resource) -> Resource {
        let hide = |payload: Node| self.hide_places(Resource { payload, ..resource.clone() }).payload;
        let is_declared = self.masks.has_rules() || !self.attributes_of(&resource).is_empty();
        let payload = hide_operations(resource.payload.clone(), None, is_declared, &hide);
        self.hide_places_but(Resource { payload, ..resource }, is_field_of_patches)
    }

    pub(super) fn hide_places(&self, resource: Resource) -> Resource {
        self.hide_places_but(resource, |_| false)
    }

    /// Hides secret places, except for those that metadata cannot mean.
    fn hide_places_but(&self, resource: Resource, is_other: fn(&Pointer) -> bool) -> Resource {
        if self.elsewhere.secret_files.contains(&resource.file) {
            return Resource { payload: Hiding::everything().scalars(&resource.payload), ..resource };
        }
        let attributes = self.attributes_of(&resource);
        let resource = match self.inputs.get().and_then(|inputs| inputs.hide(&resource.payload)) {
            Some(payload) => Resource { payload, ..resource },
            None => resource,
        };
        let resource = self.masks.hide(resource);
        if self.withholds_all || attributes.is_unknown() {
            let payload = match resource.file.file_name() {
                name if name == names::CONFIGURATION.as_bytes() => resource.payload,
                name if is_metadata_file(name) => withhold_literals(&resource.payload),
                _ => withhold(&resource.payload),
            };
            return Resource { payload, ..resource };
        }
        if is_metadata_file(resource.file.file_name()) {
            let attributes = self.layers().fold(attributes, |all, side| all.and(&side.secrets_near(&resource.file)));
            return Resource {
                payload: hide_credentials(&resource.payload, &|name| {
                    attributes.has_name(name) || self.masks.has_name(name)
                }),
                ..resource
            };
        }
        let resource = match attributes.is_empty() {
            true => resource,
            false => hide_values(resource, |payload| {
                let places = attributes.places(payload, InLists::Names);
                places.into_iter().filter(|place| !is_other(place)).collect()
            }),
        };
        match directive::unfurl_role(&resource.payload, &resource.file) {
            None => resource,
            Some(_) => hide_places(resource, sensitive_places),
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
    pub(super) fn attributes_of(&self, resource: &Resource) -> SecretAttributes {
        declared_by(self.layers(), resource, self.elsewhere.attributes.clone())
    }

    /// What metadata of other snapshots declares as secret.
    pub fn attributes_of_others(&self, resource: &Resource) -> SecretAttributes {
        declared_by(self.others.iter(), resource, SecretAttributes::default())
    }
}

/// What these layers declare as secret, and what is declared already.
fn declared_by<'l, 'a: 'l>(
    all: impl Iterator<Item = &'l Arc<LayerTrees<'a>>>,
    resource: &Resource,
    mut declared: SecretAttributes,
) -> SecretAttributes {
    for layers in all {
        // A file of patches is no resource itself, but applies to some.
        if is_patch_file(resource.file.file_name()) {
            declared = declared.and(&layers.secrets_near(&resource.file));
            continue;
        }
        if let Some(metadata) = metadata_in(layers, resource) {
            declared = declared.and(metadata.secret_attributes());
        }
        // A file in the directory of a selector is for the resources of the selector.
        let is_selected = |name: &[u8]| name == names::WILDCARD.as_bytes();
        if resource.file.components().any(is_selected) {
            declared = declared.and(&layers.secrets_near(&resource.file));
        }
    }
    declared
}

/// Shorter secrets are in many texts by chance.
const LONG_ENOUGH: usize = 8;

/// The arguments of `sensitive` in a document of Unfurl.
fn sensitive_places(payload: &Node) -> Vec<Pointer> {
    let mut places = Vec::new();
    payload.for_each(&mut Pointer::root(), |path, node| {
        let is_argument = path.tokens().last().is_some_and(|name| name == "sensitive");
        // A property is declared sensitive with a flag, which is no secret.
        if is_argument && !matches!(node.value, Value::Bool(_) | Value::Null | Value::Secret(_)) {
            places.push(path.clone());
        }
    });
    places
}

/// The metadata of a resource in a tree of layers, if it can have any.
fn metadata_in(layers: &LayerTrees<'_>, resource: &Resource) -> Option<Arc<EffectiveMetadata>> {
    let root = layers.roots().around(&resource.file)?;
    layers.effective(&resource.logical_path(&root.path)?, &resource.file)
}
