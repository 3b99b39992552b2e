//! A kustomization file, read strictly: field names match without regard to case, and unknown fields stop the build.

use smol_str::SmolStr;

use super::fields::{FieldSpec, split_path};
use super::resource::Behavior;
use super::{Fatal, fatal};
use crate::finding::{self, Finding, Location};
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A text and where it is written.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// What it says.
    pub(super) value: SmolStr,
    /// Where.
    pub(super) span: Span,
}

/// A kustomization file.
#[derive(Debug, Clone)]
pub(super) struct Kustomization {
    /// Whether it is a component, which works on the resources of whatever lists it.
    pub(super) is_component: bool,
    /// Files and directories with resources.
    pub(super) resources: Vec<Text>,
    /// Directories with components.
    pub(super) components: Vec<Text>,
    /// The namespace of everything.
    pub(super) namespace: Option<Text>,
    /// What is put before names.
    pub(super) name_prefix: Option<Text>,
    /// What is put behind names.
    pub(super) name_suffix: Option<Text>,
    /// Labels and where they go.
    pub(super) labels: Vec<Labels>,
    /// Labels that also go into selectors.
    pub(super) common_labels: Vec<(Text, Text)>,
    /// Annotations of everything.
    pub(super) common_annotations: Vec<(Text, Text)>,
    /// Image names, tags and digests.
    pub(super) images: Vec<Image>,
    /// Replica counts.
    pub(super) replicas: Vec<Replicas>,
    /// Patches of either kind.
    pub(super) patches: Vec<Patch>,
    /// Strategic merge patches: paths or inline documents.
    pub(super) patches_strategic_merge: Vec<Text>,
    /// JSON patches with a target.
    pub(super) patches_json6902: Vec<Patch>,
    /// Generated ConfigMaps.
    pub(super) config_maps: Vec<Generator>,
    /// Generated Secrets.
    pub(super) secrets: Vec<Generator>,
    /// Options of all generators of this file.
    pub(super) generator_options: Options,
    /// Values copied from field to field.
    pub(super) replacements: Vec<Node>,
    /// Files that extend the tables of fields.
    pub(super) configurations: Vec<Text>,
    /// Files with custom resource definitions that declare references.
    pub(super) crds: Vec<Text>,
    /// A file with schemas that declare merge keys.
    pub(super) openapi: Option<Text>,
    /// Whether it chooses schemas at all; those of bases do not count then.
    pub(super) has_openapi: bool,
    /// Entries whose contents come from outside of the repository: charts, plugins, variables. The field's name and the entry.
    pub(super) external: Vec<(&'static str, Node)>,
    /// Whether metadata about the build is written into resources.
    pub(super) build_metadata: Vec<Text>,
    /// The document as written.
    pub(super) node: Node,
    /// Where it is written.
    pub(super) span: Span,
    /// What it says about deprecated fields.
    pub(super) deprecated: Vec<Finding>,
}

/// An entry of `labels`.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    /// Keys and values.
    pub(super) pairs: Vec<(Text, Text)>,
    /// Whether selectors get them too.
    pub(super) include_selectors: bool,
    /// Whether templates get them too.
    pub(super) include_templates: bool,
    /// Further fields.
    pub(super) fields: Vec<FieldSpec>,
    /// Where it is written.
    pub(super) span: Span,
}

/// An entry of `images`.
#[derive(Debug, Clone)]
pub(super) struct Image {
    /// The name to look for.
    pub(super) name: Text,
    /// The new name.
    pub(super) new_name: Option<Text>,
    /// The new tag.
    pub(super) new_tag: Option<Text>,
    /// Appended to the tag.
    pub(super) tag_suffix: Option<Text>,
    /// The new digest.
    pub(super) digest: Option<Text>,
}

/// An entry of `replicas`.
#[derive(Debug, Clone)]
pub(super) struct Replicas {
    /// The name of the workload.
    pub(super) name: Text,
    /// How many.
    pub(super) count: Node,
}

/// An entry of `patches` or `patchesJson6902`.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    /// A file with the patch.
    pub(super) path: Option<Text>,
    /// The patch itself.
    pub(super) inline: Option<Text>,
    /// What it is for.
    pub(super) target: Option<Selector>,
    /// Whether it may change names.
    pub(super) allow_name_change: bool,
    /// Whether it may change kinds.
    pub(super) allow_kind_change: bool,
    /// Where the entry is written.
    pub(super) span: Span,
}

/// Which resources something is for.
#[derive(Debug, Clone, Default)]
pub(super) struct Selector {
    /// The API group.
    pub(super) group: SmolStr,
    /// The API version.
    pub(super) version: SmolStr,
    /// The kind.
    pub(super) kind: SmolStr,
    /// The name.
    pub(super) name: SmolStr,
    /// The namespace.
    pub(super) namespace: SmolStr,
    /// A label selector.
    pub(super) labels: SmolStr,
    /// A selector over annotations.
    pub(super) annotations: SmolStr,
    /// Where it is written.
    pub(super) span: Option<Span>,
}

/// An entry of `configMapGenerator` or `secretGenerator`.
#[derive(Debug, Clone)]
pub(super) struct Generator {
    /// The name.
    pub(super) name: Text,
    /// The namespace.
    pub(super) namespace: Option<Text>,
    /// What to do if there is one already.
    pub(super) behavior: Behavior,
    /// Files, `path` or `key=path`.
    pub(super) files: Vec<Text>,
    /// Pairs, `key=value`.
    pub(super) literals: Vec<Text>,
    /// Files with a pair on each line.
    pub(super) envs: Vec<Text>,
    /// The type of a Secret.
    pub(super) kind: Option<Text>,
    /// Its own options.
    pub(super) options: Options,
    /// Where the entry is written.
    pub(super) span: Span,
}

/// Options of generators.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    /// Labels of what is generated.
    pub(super) labels: Vec<(Text, Text)>,
    /// Annotations of what is generated.
    pub(super) annotations: Vec<(Text, Text)>,
    /// Whether names stay without a suffix.
    pub(super) disable_name_suffix_hash: bool,
    /// Whether the result is immutable.
    pub(super) immutable: bool,
}

/// The fields of a kustomization file.
const FIELDS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "components",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "images",
    "imageTags",
    "replicas",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "replacements",
    "configurations",
    "crds",
    "openapi",
    "generators",
    "transformers",
    "validators",
    "helmCharts",
    "helmGlobals",
    "helmChartInflationGenerator",
    "vars",
    "buildMetadata",
    "sortOptions",
];

/// Reads a kustomization file.
pub(super) fn read(node: &Node) -> Result<Kustomization, Fatal> {
    let fields = Fields::new(node, "a kustomization", FIELDS)?;
    check_type(&fields, node)?;
    let is_empty = |entry: &Entry| ["apiVersion", "kind"].iter().any(|name| entry.key.name.eq_ignore_ascii_case(name));
    if node.as_map().is_none_or(|map| map.entries().iter().all(is_empty)) {
        return Err(fatal(node.span, "this kustomization is empty"));
    }
    check_sort_options(&fields)?;
    let mut resources = fields.texts("resources")?;
    resources.extend(fields.texts("bases")?);
    let mut images = fields.each("images", read_image)?;
    images.extend(fields.each("imageTags", read_image)?);
    let charts = ["helmCharts", "helmChartInflationGenerator", "generators", "transformers", "validators", "vars"];
    let external = charts.iter().flat_map(|name| fields.items(name).iter().map(move |node| (*name, node.clone())));
    Ok(Kustomization {
        is_component: fields.get("kind").and_then(Node::as_str) == Some("Component"),
        resources,
        components: fields.texts("components")?,
        namespace: fields.text("namespace")?,
        name_prefix: fields.text("namePrefix")?,
        name_suffix: fields.text("nameSuffix")?,
        labels: fields.each("labels", read_labels)?,
        common_labels: fields.pairs("commonLabels")?,
        common_annotations: fields.pairs("commonAnnotations")?,
        images,
        replicas: fields.each("replicas", read_replicas)?,
        patches: fields.each("patches", read_patch)?,
        patches_strategic_merge: fields.texts("patchesStrategicMerge")?,
        patches_json6902: fields.each("patchesJson6902", read_patch)?,
        config_maps: fields.each("configMapGenerator", read_generator)?,
        secrets: fields.each("secretGenerator", read_generator)?,
        generator_options: fields.get("generatorOptions").map(read_options).transpose()?.unwrap_or_default(),
        replacements: fields.items("replacements").to_vec(),
        configurations: fields.texts("configurations")?,
        crds: fields.texts("crds")?,
        openapi: fields.get("openapi").map(read_openapi).transpose()?.flatten(),
        has_openapi: fields.get("openapi").is_some(),
        external: external.collect(),
        build_metadata: fields.texts("buildMetadata")?,
        node: node.clone(),
        span: node.span,
        deprecated: deprecated(node),
    })
}

/// Deprecated fields and what replaces them.
const DEPRECATED: &[(&str, &str)] = &[
    ("bases", "resources"),
    ("imageTags", "images"),
    ("patchesStrategicMerge", "patches"),
    ("patchesJson6902", "patches"),
    ("commonLabels", "labels"),
    ("vars", "replacements"),
    ("helmChartInflationGenerator", "helmCharts"),
];

fn deprecated(node: &Node) -> Vec<Finding> {
    let entries = node.as_map().map_or(&[][..], |map| map.entries());
    let finding = |entry: &Entry| {
        let (name, instead) = DEPRECATED.iter().find(|(name, _)| entry.key.name.eq_ignore_ascii_case(name))?;
        let location = Location::Span(entry.key.span);
        let finding = Finding::new(&finding::KUSTOMIZE_DEPRECATED_FIELD, location, format!("`{name}` is deprecated"));
        Some(finding.help(format!("use `{instead}`; `kustomize edit fix` rewrites it")))
    };
    entries.iter().filter_map(finding).collect()
}

fn check_type(fields: &Fields<'_>, node: &Node) -> Result<(), Fatal> {
    let kind = fields.text("kind")?.map_or_else(|| SmolStr::from("Kustomization"), |kind| kind.value);
    let version = fields.text("apiVersion")?;
    let expected = match kind.as_str() {
        "Kustomization" => "kustomize.config.k8s.io/v1beta1",
        "Component" => "kustomize.config.k8s.io/v1alpha1",
        _ => return Err(fatal(node.span, format!("`kind: {kind}` is neither Kustomization nor Component"))),
    };
    match version {
        Some(version) if version.value != expected => {
            Err(fatal(version.span, format!("a {kind} has the apiVersion {expected}")))
        }
        _ => Ok(()),
    }
}

fn check_sort_options(fields: &Fields<'_>) -> Result<(), Fatal> {
    let Some(node) = fields.get("sortOptions") else { return Ok(()) };
    let options = Fields::new(node, "sortOptions", &["order", "legacySortOptions"])?;
    let order = options.text("order")?;
    match order.as_ref().map(|order| order.value.as_str()) {
        Some("legacy") => {}
        None | Some("fifo") if options.get("legacySortOptions").is_none() => {}
        None | Some("fifo") => return Err(fatal(node.span, "legacySortOptions go with `order: legacy`")),
        Some(_) => return Err(fatal(node.span, "`order` is `legacy` or `fifo`")),
    }
    if let Some(legacy) = options.get("legacySortOptions") {
        let legacy = Fields::new(legacy, "legacySortOptions", &["orderFirst", "orderLast"])?;
        legacy.texts("orderFirst")?;
        legacy.texts("orderLast")?;
    }
    Ok(())
}

fn read_openapi(node: &Node) -> Result<Option<Text>, Fatal> {
    let fields = Fields::new(node, "openapi", &["path", "version"])?;
    if let Some(version) = fields.text("version")? {
        let is_known = ["v1.20.4", "v1.21.2"].contains(&version.value.as_str());
        if fields.get("path").is_some() || !is_known {
            return Err(fatal(version.span, "this version of the Kubernetes schema is not built in"));
        }
    }
    fields.text("path")
}

fn read_labels(node: &Node) -> Result<Labels, Fatal> {
    let fields = Fields::new(node, "an entry of labels", &["pairs", "includeSelectors", "includeTemplates", "fields"])?;
    Ok(Labels {
        pairs: fields.pairs("pairs")?,
        include_selectors: fields.flag("includeSelectors")?,
        include_templates: fields.flag("includeTemplates")?,
        fields: fields.each("fields", read_field_spec)?,
        span: node.span,
    })
}

/// Reads a field specification.
pub(super) fn read_field_spec(node: &Node) -> Result<FieldSpec, Fatal> {
    let fields = Fields::new(node, "a field specification", &["group", "version", "kind", "path", "create"])?;
    let text = |name: &str| fields.text(name).map(|text| text.map(|text| text.value).unwrap_or_default());
    Ok(FieldSpec {
        group: text("group")?,
        version: text("version")?,
        kind: text("kind")?,
        path: split_path(&text("path")?),
        create: fields.flag("create")?,
    })
}

pub(super) fn read_image(node: &Node) -> Result<Image, Fatal> {
    let fields = Fields::new(node, "an entry of images", &["name", "newName", "newTag", "tagSuffix", "digest"])?;
    // What is empty counts as absent.
    let text = |name: &str| fields.text(name).map(|text| text.filter(|text| !text.value.is_empty()));
    Ok(Image {
        name: fields.text("name")?.unwrap_or_else(|| Text { value: SmolStr::default(), span: node.span }),
        new_name: text("newName")?,
        new_tag: text("newTag")?,
        tag_suffix: text("tagSuffix")?,
        digest: text("digest")?,
    })
}

fn read_replicas(node: &Node) -> Result<Replicas, Fatal> {
    let fields = Fields::new(node, "an entry of replicas", &["name", "count"])?;
    let name = fields.text("name")?.ok_or_else(|| fatal(node.span, "an entry of replicas has a name"))?;
    let zero = || Node::new(Value::Number(crate::value::Number::from_json("0").expect("a number")), node.span);
    let count = fields.get("count").cloned().unwrap_or_else(zero);
    match &count.value {
        Value::Number(number) if number.is_integer() => Ok(Replicas { name, count }),
        _ => Err(fatal(count.span, "a count is a whole number")),
    }
}

pub(super) fn read_patch(node: &Node) -> Result<Patch, Fatal> {
    let fields = Fields::new(node, "a patch", &["path", "patch", "target", "options"])?;
    let options = fields
        .get("options")
        .map(|node| Fields::new(node, "options of a patch", &["allowNameChange", "allowKindChange"]))
        .transpose()?;
    let flag = |name: &str| options.as_ref().map_or(Ok(false), |options| options.flag(name));
    Ok(Patch {
        path: fields.text("path")?.filter(|text| !text.value.is_empty()),
        inline: fields.text("patch")?.map(trimmed).filter(|text| !text.value.is_empty()),
        target: fields.get("target").map(read_selector).transpose()?,
        allow_name_change: flag("allowNameChange")?,
        allow_kind_change: flag("allowKindChange")?,
        span: node.span,
    })
}

/// A text without blanks around it.
fn trimmed(text: Text) -> Text {
    Text { value: text.value.trim().into(), ..text }
}

/// Reads a selector.
pub(super) fn read_selector(node: &Node) -> Result<Selector, Fatal> {
    let known = [
        "group",
        "version",
        "kind",
        "name",
        "namespace",
        "labelSelector",
        "annotationSelector",
        "fieldPath",
        "options",
    ];
    let fields = Fields::new(node, "a selector", &known)?;
    let text = |name: &str| fields.text(name).map(|text| text.map(|text| text.value).unwrap_or_default());
    Ok(Selector {
        group: text("group")?,
        version: text("version")?,
        kind: text("kind")?,
        name: text("name")?,
        namespace: text("namespace")?,
        labels: text("labelSelector")?,
        annotations: text("annotationSelector")?,
        span: Some(node.span),
    })
}

fn read_generator(node: &Node) -> Result<Generator, Fatal> {
    let known = ["name", "namespace", "behavior", "files", "literals", "envs", "env", "type", "options", "kvSources"];
    let fields = Fields::new(node, "a generator", &known)?;
    let behavior = fields.text("behavior")?;
    let behavior = match behavior.as_ref().map(|behavior| behavior.value.as_str()) {
        None | Some("" | "create" | "unspecified") => Behavior::Create,
        Some("merge") => Behavior::Merge,
        Some("replace") => Behavior::Replace,
        // Kustomize takes what it does not know for "unspecified".
        Some(_) => Behavior::Create,
    };
    let mut envs = fields.texts("envs")?;
    envs.extend(fields.text("env")?);
    Ok(Generator {
        name: fields.text("name")?.ok_or_else(|| fatal(node.span, "a generator has a name"))?,
        namespace: fields.text("namespace")?,
        behavior,
        files: fields.texts("files")?,
        literals: fields.texts("literals")?,
        envs,
        kind: fields.text("type")?,
        options: fields.get("options").map(read_options).transpose()?.unwrap_or_default(),
        span: node.span,
    })
}

fn read_options(node: &Node) -> Result<Options, Fatal> {
    let fields =
        Fields::new(node, "generator options", &["labels", "annotations", "disableNameSuffixHash", "immutable"])?;
    Ok(Options {
        labels: fields.pairs("labels")?,
        annotations: fields.pairs("annotations")?,
        disable_name_suffix_hash: fields.flag("disableNameSuffixHash")?,
        immutable: fields.flag("immutable")?,
    })
}

/// The fields of a map, found without regard to case.
pub(super) struct Fields<'n> {
    entries: &'n [Entry],
}

impl<'n> Fields<'n> {
    /// The fields of a map, none of them unknown.
    pub(super) fn new(node: &'n Node, what: &str, known: &[&str]) -> Result<Self, Fatal> {
        let entries = match &node.value {
            Value::Map(map) => map.entries(),
            Value::Null => &[],
            _ => return Err(fatal(node.span, format!("{what} is a map"))),
        };
        let is_known = |entry: &&Entry| known.iter().any(|name| entry.key.name.eq_ignore_ascii_case(name));
        match entries.iter().find(|entry| !is_known(entry)) {
            Some(entry) => Err(fatal(entry.key.span, format!("{what} has no field `{}`", entry.key.name))),
            None => Ok(Self { entries }),
        }
    }

    /// The fields of a map, known or not.
    pub(super) fn of(node: &'n Node) -> Self {
        Self { entries: node.as_map().map_or(&[], |map| map.entries()) }
    }

    /// A field that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        let found = self.entries.iter().find(|entry| entry.key.name.eq_ignore_ascii_case(name))?;
        (!matches!(found.value.value, Value::Null)).then_some(&found.value)
    }

    /// A field that holds a string.
    pub(super) fn text(&self, name: &str) -> Result<Option<Text>, Fatal> {
        self.get(name).map(as_text).transpose()
    }

    /// A field that holds strings.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<Text>, Fatal> {
        self.each(name, as_text)
    }

    /// A field that holds a boolean.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Fatal> {
        match self.get(name) {
            None => Ok(false),
            Some(node) => match node.value {
                Value::Bool(value) => Ok(value),
                _ => Err(fatal(node.span, format!("`{name}` is true or false"))),
            },
        }
    }

    /// The items of a field that holds a list; a single map counts as a list of one where kustomize allows it.
    pub(super) fn items(&self, name: &str) -> &'n [Node] {
        match self.get(name) {
            Some(node) => node.as_list().unwrap_or(std::slice::from_ref(node)),
            None => &[],
        }
    }

    /// Reads each item of a field that holds a list.
    pub(super) fn each<T>(&self, name: &str, read: impl Fn(&Node) -> Result<T, Fatal>) -> Result<Vec<T>, Fatal> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(node) => match node.as_list() {
                Some(items) => items.iter().map(read).collect(),
                None => Err(fatal(node.span, format!("`{name}` is a list"))),
            },
        }
    }

    /// The entries of a field that maps strings to strings.
    pub(super) fn pairs(&self, name: &str) -> Result<Vec<(Text, Text)>, Fatal> {
        let Some(node) = self.get(name) else { return Ok(Vec::new()) };
        let Some(map) = node.as_map() else { return Err(fatal(node.span, format!("`{name}` is a map"))) };
        let pair = |entry: &Entry| {
            let key = Text { value: entry.key.name.clone(), span: entry.key.span };
            match entry.value.value {
                Value::Null => Ok((key, Text { value: SmolStr::default(), span: entry.value.span })),
                _ => Ok((key, as_text(&entry.value)?)),
            }
        };
        map.entries().iter().map(pair).collect()
    }
}

fn as_text(node: &Node) -> Result<Text, Fatal> {
    match &node.value {
        Value::String(value) => Ok(Text { value: value.clone(), span: node.span }),
        other => {
            let found = Node::new(other.clone(), node.span).type_of();
            Err(fatal(node.span, format!("this is a {found}, and a string is needed: put it in quotes")))
        }
    }
}
