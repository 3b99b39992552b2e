//! The tables of fields that transformers write, and the files that extend them.

use std::sync::{Arc, LazyLock};

use smol_str::SmolStr;

use super::fields::FieldSpec;
use super::file::{Fields, Kustomization, read_field_spec};
use super::load::Loader;
use super::reference_table::{Reference, built_in};
use super::scalars::Dialect;
use super::schema::Schemas;
use super::{Fatal, fatal};
use crate::path::RepoPath;
use crate::value::Node;

/// The fields of each transformer.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub(super) namespace: Vec<FieldSpec>,
    pub(super) name_prefix: Vec<FieldSpec>,
    pub(super) name_suffix: Vec<FieldSpec>,
    pub(super) common_labels: Vec<FieldSpec>,
    pub(super) template_labels: Vec<FieldSpec>,
    pub(super) labels: Vec<FieldSpec>,
    pub(super) common_annotations: Vec<FieldSpec>,
    pub(super) images: Vec<FieldSpec>,
    pub(super) replicas: Vec<FieldSpec>,
    pub(super) references: Vec<Reference>,
    pub(super) schemas: Schemas,
}

impl Default for Tables {
    fn default() -> Self {
        let rows = |rows: &[(&str, &str, bool)]| {
            rows.iter().map(|(kinds, path, create)| FieldSpec::row(kinds, path, *create)).collect::<Vec<_>>()
        };
        let template_labels = rows(TEMPLATE_LABELS);
        let common_labels = rows(SELECTOR_LABELS).into_iter().chain(template_labels.clone()).collect();
        Self {
            namespace: Vec::new(),
            name_prefix: vec![FieldSpec::row("*|*|*", "metadata/name", false)],
            name_suffix: vec![FieldSpec::row("*|*|*", "metadata/name", false)],
            common_labels,
            template_labels,
            labels: vec![FieldSpec::row("*|*|*", "metadata/labels", true)],
            common_annotations: rows(ANNOTATIONS),
            images: Vec::new(),
            replicas: rows(REPLICAS),
            references: built_in(),
            schemas: Schemas::default(),
        }
    }
}

/// The tables as long as nothing extends them.
static BUILT_IN: LazyLock<Arc<Tables>> = LazyLock::new(Arc::default);

impl Tables {
    /// The tables as long as nothing extends them.
    pub(super) fn built_in() -> Arc<Self> {
        Arc::clone(&BUILT_IN)
    }

    /// The tables with what the configurations, definitions and schemas of a kustomization add.
    pub(super) fn extended(
        this: &Arc<Self>,
        directory: &RepoPath,
        kustomization: &Kustomization,
        loader: &Loader<'_>,
    ) -> Result<Arc<Self>, Fatal> {
        let extends =
            !kustomization.configurations.is_empty() || !kustomization.crds.is_empty() || kustomization.has_openapi;
        if !extends {
            return Ok(Arc::clone(this));
        }
        let mut tables = Self::clone(this);
        tables.extend(directory, kustomization, loader)?;
        Ok(Arc::new(tables))
    }

    /// The tables of a kustomization and one of its bases.
    pub(super) fn united(this: &Arc<Self>, base: &Arc<Self>) -> Arc<Self> {
        if Arc::ptr_eq(base, &BUILT_IN) || Arc::ptr_eq(this, base) {
            return Arc::clone(this);
        }
        if Arc::ptr_eq(this, &BUILT_IN) {
            return Arc::clone(base);
        }
        let mut tables = Self::clone(this);
        tables.merge(Self::clone(base));
        Arc::new(tables)
    }

    fn extend(
        &mut self,
        directory: &RepoPath,
        kustomization: &Kustomization,
        loader: &Loader<'_>,
    ) -> Result<(), Fatal> {
        for name in &kustomization.configurations {
            let file = loader.required(directory, name)?;
            for document in loader.documents(&file, Dialect::Yaml11)?.iter() {
                self.configure(document)?;
            }
        }
        for name in &kustomization.crds {
            let file = loader.required(directory, name)?;
            for document in loader.documents(&file, Dialect::Yaml11)?.iter() {
                self.definitions(document);
            }
        }
        if kustomization.has_openapi {
            self.schemas = Schemas::default();
        }
        if let Some(name) = &kustomization.openapi {
            let file = loader.required(directory, name)?;
            for document in loader.documents(&file, Dialect::Yaml11)?.iter() {
                self.schemas.add(document);
            }
        }
        Ok(())
    }

    /// Adds the tables of a base.
    fn merge(&mut self, other: Self) {
        let lists = [
            (&mut self.namespace, other.namespace),
            (&mut self.name_prefix, other.name_prefix),
            (&mut self.name_suffix, other.name_suffix),
            (&mut self.common_labels, other.common_labels),
            (&mut self.template_labels, other.template_labels),
            (&mut self.labels, other.labels),
            (&mut self.common_annotations, other.common_annotations),
            (&mut self.images, other.images),
            (&mut self.replicas, other.replicas),
        ];
        for (own, others) in lists {
            for spec in others {
                if !own.contains(&spec) {
                    own.push(spec);
                }
            }
        }
        other.references.into_iter().for_each(|reference| self.refer(reference));
        self.schemas.extend(other.schemas);
    }

    fn configure(&mut self, document: &Node) -> Result<(), Fatal> {
        let known = [
            "nameReference",
            "namespace",
            "namePrefix",
            "nameSuffix",
            "commonLabels",
            "labels",
            "templateLabels",
            "commonAnnotations",
            "images",
            "replicas",
            "varReference",
        ];
        let fields = Fields::new(document, "a transformer configuration", &known)?;
        let lists: [(&str, &mut Vec<FieldSpec>); 9] = [
            ("namespace", &mut self.namespace),
            ("namePrefix", &mut self.name_prefix),
            ("nameSuffix", &mut self.name_suffix),
            ("commonLabels", &mut self.common_labels),
            ("templateLabels", &mut self.template_labels),
            ("labels", &mut self.labels),
            ("commonAnnotations", &mut self.common_annotations),
            ("images", &mut self.images),
            ("replicas", &mut self.replicas),
        ];
        for (name, list) in lists {
            let specs = fields.each(name, read_field_spec)?;
            // Names are written by the built-in row only as long as nothing else is configured for them.
            if ["namePrefix", "nameSuffix"].contains(&name) && specs.iter().any(is_own_name) {
                list.retain(|spec| !spec.kind.is_empty() || !is_own_name(spec));
            }
            for spec in specs {
                spec.add_to(list).map_err(|reason| fatal(document.span, format!("{reason}, in `{name}`")))?;
            }
        }
        for reference in fields.each("nameReference", read_reference)? {
            self.refer(reference);
        }
        Ok(())
    }

    fn refer(&mut self, reference: Reference) {
        let is_same = |other: &&mut Reference| {
            (&other.group, &other.version, &other.kind) == (&reference.group, &reference.version, &reference.kind)
        };
        match self.references.iter_mut().find(is_same) {
            Some(other) => {
                for field in reference.fields {
                    if !other.fields.contains(&field) {
                        other.fields.push(field);
                    }
                }
            }
            None => self.references.push(reference),
        }
    }

    /// References that the schemas of custom resources declare.
    fn definitions(&mut self, document: &Node) {
        let Some(map) = document.as_map() else { return };
        for entry in map.entries() {
            let schema = entry.value.get("Schema").or_else(|| entry.value.get("schema"));
            let Some(schema) = schema else { continue };
            let kind = entry.key.name.rsplit('.').next().unwrap_or_default();
            let referrer = FieldSpec { kind: kind.into(), ..FieldSpec::default() };
            self.definition(document, schema, &referrer, &mut Vec::new(), 0);
        }
    }

    fn definition(
        &mut self,
        document: &Node,
        schema: &Node,
        referrer: &FieldSpec,
        path: &mut Vec<SmolStr>,
        depth: usize,
    ) {
        let Some(properties) = schema.get("properties").and_then(Node::as_map).filter(|_| depth < 16) else { return };
        for entry in properties.entries() {
            path.push(entry.key.name.clone());
            let text = |name: &str| entry.value.get(name).and_then(Node::as_str);
            if let Some(kind) = text("x-kubernetes-object-ref-kind") {
                let name = text("x-kubernetes-object-ref-name-key").unwrap_or("name");
                let mut field = referrer.clone();
                field.path = path.iter().cloned().chain([SmolStr::new(name)]).collect();
                let version = text("x-kubernetes-object-ref-api-version").unwrap_or_default();
                let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
                self.refer(Reference {
                    group: group.into(),
                    version: version.into(),
                    kind: kind.into(),
                    fields: vec![field],
                });
            }
            let below = text("$ref").and_then(|name| definition_named(document, name)).unwrap_or(&entry.value);
            self.definition(document, below, referrer, path, depth + 1);
            path.pop();
        }
    }
}

fn is_own_name(spec: &FieldSpec) -> bool {
    spec.path.iter().map(SmolStr::as_str).eq(["metadata", "name"])
}

fn definition_named<'n>(document: &'n Node, reference: &str) -> Option<&'n Node> {
    let name = reference.strip_prefix("#/definitions/").unwrap_or(reference);
    let found = document.get(name)?;
    found.get("Schema").or_else(|| found.get("schema"))
}

fn read_reference(node: &Node) -> Result<Reference, Fatal> {
    let fields = Fields::new(node, "an entry of nameReference", &["group", "version", "kind", "fieldSpecs"])?;
    let text = |name: &str| fields.text(name).map(|text| text.map(|text| text.value).unwrap_or_default());
    Ok(Reference {
        group: text("group")?,
        version: text("version")?,
        kind: text("kind")?,
        fields: fields.each("fieldSpecs", read_field_spec)?,
    })
}

/// Labels of templates.
const TEMPLATE_LABELS: &[(&str, &str, bool)] = &[
    ("*|*|*", "metadata/labels", true),
    ("*|v1|ReplicationController", "spec/template/metadata/labels", true),
    ("*|*|Deployment", "spec/template/metadata/labels", true),
    ("*|*|ReplicaSet", "spec/template/metadata/labels", true),
    ("*|*|DaemonSet", "spec/template/metadata/labels", true),
    ("apps|*|StatefulSet", "spec/template/metadata/labels", true),
    ("batch|*|Job", "spec/template/metadata/labels", true),
    ("apps|*|StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    ("batch|*|CronJob", "spec/jobTemplate/metadata/labels", true),
    ("batch|*|CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
];

const TERM: &str = "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels";
const REQUIRED: &str =
    "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels";
const ANTI_TERM: &str = "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels";
const ANTI_REQUIRED: &str = "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels";
const SPREAD: &str = "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels";

/// Labels of selectors.
const SELECTOR_LABELS: &[(&str, &str, bool)] = &[
    ("*|v1|Service", "spec/selector", true),
    ("*|v1|ReplicationController", "spec/selector", true),
    ("*|*|Deployment", "spec/selector/matchLabels", true),
    ("*|*|ReplicaSet", "spec/selector/matchLabels", true),
    ("*|*|DaemonSet", "spec/selector/matchLabels", true),
    ("apps|*|StatefulSet", "spec/selector/matchLabels", true),
    ("batch|*|Job", "spec/selector/matchLabels", false),
    ("policy|*|PodDisruptionBudget", "spec/selector/matchLabels", false),
    ("batch|*|CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    ("networking.k8s.io|*|NetworkPolicy", "spec/podSelector/matchLabels", false),
    ("networking.k8s.io|*|NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    ("networking.k8s.io|*|NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    ("apps|*|Deployment", TERM, false),
    ("apps|*|Deployment", REQUIRED, false),
    ("apps|*|Deployment", ANTI_TERM, false),
    ("apps|*|Deployment", ANTI_REQUIRED, false),
    ("apps|*|Deployment", SPREAD, false),
    ("apps|*|StatefulSet", TERM, false),
    ("apps|*|StatefulSet", REQUIRED, false),
    ("apps|*|StatefulSet", ANTI_TERM, false),
    ("apps|*|StatefulSet", ANTI_REQUIRED, false),
    ("apps|*|StatefulSet", SPREAD, false),
];

const ANNOTATIONS: &[(&str, &str, bool)] = &[
    ("*|*|*", "metadata/annotations", true),
    ("*|v1|ReplicationController", "spec/template/metadata/annotations", true),
    ("*|*|Deployment", "spec/template/metadata/annotations", true),
    ("*|*|ReplicaSet", "spec/template/metadata/annotations", true),
    ("*|*|DaemonSet", "spec/template/metadata/annotations", true),
    ("*|*|StatefulSet", "spec/template/metadata/annotations", true),
    ("batch|*|Job", "spec/template/metadata/annotations", true),
    ("batch|*|CronJob", "spec/jobTemplate/metadata/annotations", true),
    ("batch|*|CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
];

const REPLICAS: &[(&str, &str, bool)] = &[
    ("*|*|Deployment", "spec/replicas", true),
    ("*|*|ReplicationController", "spec/replicas", true),
    ("*|*|ReplicaSet", "spec/replicas", true),
    ("*|*|StatefulSet", "spec/replicas", true),
];
