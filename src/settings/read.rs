//! `outcrop.yaml` becomes [`Settings`]; it is read from the snapshot it describes, and read strictly.

use smol_str::SmolStr;

use super::waiver::read_waiver;
use crate::decode::{StrictReader, StrictRules};
use crate::document::Document;
use crate::finding::{self, Outcome, Severity};
use crate::limits::Limits;
use crate::names::{self, Format};
use crate::path::{Pointer, RepoPath};
use crate::settings::{
    CompareRule, IgnoreRule, IgnoredPlaces, ListRule, MergeProfile, PRESETS, PlaceRule, Preset, Root, RootLayout,
    Roots, Settings,
};
use crate::value::{Node, Value};

const RULES: StrictRules = StrictRules { unknown_key: &finding::CONFIG_UNKNOWN_KEY, invalid: &finding::CONFIG_INVALID };

/// Reads the documents of an `outcrop.yaml`. What is wrong is reported, and the rest still counts.
pub fn decode(documents: &[Document]) -> Outcome<Settings> {
    let mut shape = StrictReader::new(RULES);
    let mut settings = Settings::default();
    if let [_, second, ..] = documents {
        shape.invalid(&second.root, "the configuration is one document, and this is a second one");
    }
    if let Some(document) = documents.first().filter(|document| !matches!(document.root.value, Value::Null)) {
        read_settings(&mut shape, &document.root, &mut settings);
    }
    Outcome { value: settings, findings: shape.into_findings() }
}

const KEYS: [&str; 16] = [
    "roots",
    "metadata",
    "openapi",
    "secrets",
    "ignore",
    "compare",
    "lists",
    "rules",
    "waivers",
    "limits",
    "directives",
    "merge",
    "expressions",
    "layouts",
    "catalog",
    "remotes",
];

fn read_settings(shape: &mut StrictReader, root: &Node, settings: &mut Settings) {
    let entries = shape.entries(root, names::CONFIGURATION, &KEYS);
    settings.may_miss_secrets |= shape.finding_count() > 0;
    for entry in entries {
        let value = &entry.value;
        let known = shape.finding_count();
        match entry.key.name.as_str() {
            "roots" => settings.roots = Roots::new(read_each(shape, value, "roots", read_root)),
            "metadata" => read_metadata(shape, value, settings),
            "layouts" => read_layouts(shape, value, settings),
            "catalog" => settings.catalog = read_each(shape, value, "catalog", read_catalog),
            "remotes" => {
                settings.remotes = read_each(shape, value, "remotes", |shape, item| shape.text(item, "remotes"))
            }
            "openapi" => settings.openapi = read_path(shape, value, "openapi"),
            "secrets" => settings.secrets = read_each(shape, value, "secrets", read_secret),
            "ignore" => settings.ignore = read_each(shape, value, "ignore", read_ignored),
            "compare" => settings.compare = read_each(shape, value, "compare", read_compare),
            "lists" => settings.lists = read_each(shape, value, "lists", read_list),
            "directives" => {
                let choices = [("on", true), ("off", false)];
                settings.directives = shape.choice(value, "directives", &choices).unwrap_or(settings.directives);
            }
            "expressions" => {
                let choices = [("on", true), ("off", false)];
                settings.expressions = shape.choice(value, "expressions", &choices).unwrap_or(settings.expressions);
            }
            "merge" => {
                let choices = [("default", MergeProfile::Plain), ("unfurl", MergeProfile::Unfurl)];
                settings.merge = shape.choice(value, "merge", &choices).unwrap_or(settings.merge);
            }
            "waivers" => settings.waivers = read_each(shape, value, "waivers", read_waiver),
            "rules" => settings.severities = read_severities(shape, value),
            _ => read_limits(shape, value, &mut settings.limits),
        }
        let is_wrong = shape.finding_count() > known;
        settings.may_miss_secrets |= is_wrong && ["secrets", "roots", "metadata"].contains(&entry.key.name.as_str());
    }
}

fn read_each<T>(
    shape: &mut StrictReader,
    node: &Node,
    what: &str,
    read: fn(&mut StrictReader, &Node) -> Option<T>,
) -> Vec<T> {
    shape.items(node, what).iter().filter_map(|item| read(shape, item)).collect()
}

/// A path alone, or a map that says more about it.
fn read_root(shape: &mut StrictReader, node: &Node) -> Option<Root> {
    let mut root = Root { path: RepoPath::root(), layout: RootLayout::default(), format: Format::default() };
    if node.as_str().is_some() {
        root.path = read_path(shape, node, "roots")?;
        return Some(root);
    }
    let mut has_path = false;
    for entry in shape.entries(node, "roots", &["path", "layout", "format"]) {
        match entry.key.name.as_str() {
            "path" => {
                root.path = read_path(shape, &entry.value, "path")?;
                has_path = true;
            }
            "layout" => {
                let choices = [("detect", RootLayout::Detect), ("declarest", RootLayout::Declarest)];
                root.layout = shape.choice(&entry.value, "layout", &choices)?;
            }
            _ => {
                let choices = [Format::Json, Format::Yaml].map(|format| (format.extension(), format));
                root.format = shape.choice(&entry.value, "format", &choices)?;
            }
        }
    }
    if !has_path {
        shape.invalid(node, "a root needs a `path`; write `path: .` for the whole repository");
    }
    has_path.then_some(root)
}

/// The layouts that can be switched off.
const LAYOUTS: [&str; 4] = ["kustomize", "flux", "openchoreo", "unfurl"];

/// A map from layouts to `on` or `off`.
fn read_layouts(shape: &mut StrictReader, node: &Node, settings: &mut Settings) {
    for entry in shape.entries(node, "layouts", &LAYOUTS) {
        let choices = [("on", true), ("off", false)];
        let is_off = shape.choice(&entry.value, entry.key.name.as_str(), &choices) == Some(false);
        match entry.key.name.as_str() {
            "unfurl" => settings.unfurl = !is_off,
            _ if is_off => settings.layouts_off.push(entry.key.name.clone()),
            _ => {}
        }
    }
}

/// A path or a glob within the repository.
fn read_catalog(shape: &mut StrictReader, node: &Node) -> Option<SmolStr> {
    read_path(shape, node, "catalog")?.to_str().map(SmolStr::new)
}

fn read_metadata(shape: &mut StrictReader, node: &Node, settings: &mut Settings) {
    for entry in shape.entries(node, "metadata", &["root", "overlay"]) {
        match entry.key.name.as_str() {
            "root" => settings.metadata_root = read_path(shape, &entry.value, "metadata.root"),
            _ => settings.metadata_overlay = read_path(shape, &entry.value, "metadata.overlay"),
        }
    }
    if settings.metadata_overlay.is_some() && settings.metadata_root.is_none() {
        shape.invalid(node, "`metadata.overlay` is laid over `metadata.root`, which is missing");
        settings.metadata_overlay = None;
    }
}

fn read_path(shape: &mut StrictReader, node: &Node, what: &str) -> Option<RepoPath> {
    let text = shape.text(node, what)?;
    let trimmed = text.trim_start_matches("./").trim_matches('/');
    let path = RepoPath::new(if trimmed == "." { "" } else { trimmed });
    path.map_err(|error| shape.invalid(node, error.to_string())).ok()
}

fn read_secret(shape: &mut StrictReader, node: &Node) -> Option<PlaceRule> {
    read_places(shape, node, "secrets", "/spec/password", Pointer::parse)
}

/// A pointer alone, or a map with a pointer or the name of a preset.
fn read_ignored(shape: &mut StrictReader, node: &Node) -> Option<IgnoreRule> {
    let has = |key: &str| node.get(key).is_some();
    if !has("preset") {
        let PlaceRule { within, pointer } = read_places(shape, node, "ignore", "/status", Pointer::read)?;
        return Some(IgnoreRule { within, places: IgnoredPlaces::Pointer(pointer) });
    }
    let (mut within, mut preset) = (None, None);
    for entry in shape.entries(node, "ignore", &["preset", "within"]) {
        match entry.key.name.as_str() {
            "within" => within = Some(shape.text(&entry.value, "within")?),
            _ => {
                let choices: Vec<(&str, &'static Preset)> =
                    PRESETS.iter().map(|preset| (preset.name, preset)).collect();
                preset = Some(shape.choice(&entry.value, "preset", &choices)?);
            }
        }
    }
    Some(IgnoreRule { within, places: IgnoredPlaces::Preset(preset?) })
}

/// A pointer alone, or a map that says in which files.
fn read_places(
    shape: &mut StrictReader,
    node: &Node,
    what: &str,
    example: &str,
    read: fn(&str) -> Result<Pointer, &'static str>,
) -> Option<PlaceRule> {
    if node.as_str().is_some() {
        return Some(PlaceRule { within: None, pointer: read_pattern(shape, node, what, read)? });
    }
    let mut within = None;
    let mut pointer = None;
    for entry in shape.entries(node, what, &["within", "pointer"]) {
        match entry.key.name.as_str() {
            "within" => within = Some(shape.text(&entry.value, "within")?),
            _ => pointer = Some(read_pattern(shape, &entry.value, "pointer", read)?),
        }
    }
    if pointer.is_none() {
        shape.invalid(node, format!("an entry of `{what}` needs a `pointer`, such as `{example}` or `/**/name`"));
    }
    Some(PlaceRule { within, pointer: pointer? })
}

fn read_compare(shape: &mut StrictReader, node: &Node) -> Option<CompareRule> {
    let mut rule = CompareRule::default();
    for entry in shape.entries(node, "compare", &["within", "filterAttributes", "suppressAttributes"]) {
        match entry.key.name.as_str() {
            "within" => rule.within = Some(shape.text(&entry.value, "within")?),
            "filterAttributes" => rule.filter = read_attributes(shape, &entry.value, "filterAttributes"),
            _ => rule.suppress = read_attributes(shape, &entry.value, "suppressAttributes"),
        }
    }
    if rule.filter.is_empty() && rule.suppress.is_empty() {
        shape.invalid(node, "a compare rule needs `filterAttributes` or `suppressAttributes`");
        return None;
    }
    Some(rule)
}

/// Pointers, or names of top-level attributes; one alone need not be a list.
fn read_attributes(shape: &mut StrictReader, node: &Node, what: &str) -> Vec<SmolStr> {
    let items = if node.as_str().is_some() { std::slice::from_ref(node) } else { shape.items(node, what) };
    let read = |item: &Node| match item.as_str() {
        Some(text) if !text.is_empty() && !text.starts_with('/') => {
            Some(SmolStr::new(std::iter::once(SmolStr::new(text)).collect::<Pointer>().to_string()))
        }
        _ => read_pointer(shape, item, what),
    };
    items.iter().filter_map(read).collect()
}

fn read_pointer(shape: &mut StrictReader, node: &Node, what: &str) -> Option<SmolStr> {
    read_pattern(shape, node, what, Pointer::parse)
}

fn read_pattern(
    shape: &mut StrictReader,
    node: &Node,
    what: &str,
    read: fn(&str) -> Result<Pointer, &'static str>,
) -> Option<SmolStr> {
    let text = shape.text(node, what)?;
    match read(&text) {
        Ok(pointer) if pointer.tokens().len() <= DEEPEST_PATTERN => Some(text),
        Ok(_) => {
            shape.invalid(node, format!("a pattern of places has at most {DEEPEST_PATTERN} levels"));
            None
        }
        Err(reason) => {
            shape.invalid(node, reason);
            None
        }
    }
}

fn read_list(shape: &mut StrictReader, node: &Node) -> Option<ListRule> {
    let (mut pointer, mut keys, mut is_unordered) = (None, Vec::new(), false);
    for entry in shape.entries(node, "lists", &["pointer", "keys", "unordered"]) {
        match entry.key.name.as_str() {
            "pointer" => pointer = Some(read_pointer(shape, &entry.value, "pointer")?),
            "keys" if entry.value.as_str().is_some() => keys.extend(shape.text(&entry.value, "keys")),
            "keys" => {
                for item in shape.items(&entry.value, "keys") {
                    keys.extend(shape.text(item, "keys"));
                }
            }
            _ => is_unordered = shape.flag(&entry.value, "unordered")?,
        }
    }
    if pointer.is_none() {
        shape.invalid(node, "a list rule needs a `pointer`, such as `/spec/hosts` or `/**/rules`");
    }
    Some(ListRule { pointer: pointer?, keys, is_unordered })
}

fn read_severities(shape: &mut StrictReader, node: &Node) -> Vec<(SmolStr, Option<Severity>)> {
    let choices = [
        ("off", None),
        ("note", Some(Severity::Note)),
        ("warning", Some(Severity::Warning)),
        ("error", Some(Severity::Error)),
    ];
    let ids: Vec<&str> = finding::RULES.iter().map(|rule| rule.id).collect();
    // An unknown rule would be a severity that never takes effect: the keys are checked like any other.
    shape
        .entries(node, "rules", &ids)
        .into_iter()
        .filter_map(|entry| {
            let severity = shape.choice(&entry.value, &entry.key.name, &choices)?;
            Some((entry.key.name.clone(), severity))
        })
        .collect()
}

fn read_limits(shape: &mut StrictReader, node: &Node, limits: &mut Limits) {
    for entry in shape.entries(node, "limits", &LIMITS) {
        let name = entry.key.name.as_str();
        let Some(amount) = read_amount(shape, &entry.value, name) else { continue };
        let small = u32::try_from(amount).unwrap_or(u32::MAX);
        match name {
            "file_bytes" => limits.file_bytes = amount.min(LARGEST_FILE),
            "run_bytes" => limits.run_bytes = amount,
            "depth" => limits.depth = small.min(DEEPEST),
            "nodes" => limits.nodes = amount,
            "entries" => limits.entries = amount,
            "include_depth" => limits.include_depth = small,
            "includes" => limits.includes = small,
            "expression_bytes" => limits.expression_bytes = amount,
            "expression_depth" => limits.expression_depth = small.min(DEEPEST_EXPRESSION),
            "expression_steps" => limits.expression_steps = amount,
            "expression_results" => limits.expression_results = amount,
            "cel_bytes" => limits.cel_bytes = small.min(LONGEST_EXPRESSION),
            "cel_steps" => limits.cel_steps = amount,
            "patch_matches" => limits.patch_matches = small,
            "patch_work" => limits.patch_work = amount,
            "request_steps" => limits.request_steps = amount,
            "run_nodes" => limits.run_nodes = amount,
            "run_steps" => limits.run_steps = amount,
            "changes" => limits.changes = amount,
            "output_bytes" => limits.output_bytes = amount,
            "memory_bytes" => limits.memory_bytes = amount,
            "seconds" => limits.seconds = amount,
            _ => limits.directory_depth = small.min(DEEPEST),
        }
    }
}

const LIMITS: [&str; 23] = [
    "file_bytes",
    "run_bytes",
    "depth",
    "nodes",
    "entries",
    "directory_depth",
    "include_depth",
    "includes",
    "expression_bytes",
    "expression_depth",
    "expression_steps",
    "expression_results",
    "cel_bytes",
    "cel_steps",
    "patch_matches",
    "patch_work",
    "request_steps",
    "run_nodes",
    "run_steps",
    "changes",
    "output_bytes",
    "memory_bytes",
    "seconds",
];

/// The parser of expressions recurses, and its stack is finite.
const LONGEST_EXPRESSION: u32 = 16 << 10;
/// Patterns are followed with one bit per level.
const DEEPEST_PATTERN: usize = 63;
/// Spans are 32 bits wide.
const LARGEST_FILE: u64 = 2 << 30;
/// Stages recurse once per level, and their stack is finite.
const DEEPEST: u32 = 256;
/// Each level of an expression takes a piece of memory.
const DEEPEST_EXPRESSION: u32 = 10_000;

/// A whole number, with an optional binary unit: `67108864`, `64 MiB`.
fn read_amount(shape: &mut StrictReader, node: &Node, what: &str) -> Option<u64> {
    let text = match &node.value {
        Value::Number(number) => number.as_str(),
        Value::String(text) => text.as_str(),
        _ => "",
    };
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic()).trim_end();
    let scale = match text[digits.len()..].trim() {
        "" | "B" => Some(1),
        "KiB" => Some(1_u64 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let amount = digits.parse::<u64>().ok().zip(scale).and_then(|(number, scale)| number.checked_mul(scale));
    if amount.is_none() {
        shape.wrong(node, what, "a whole number such as `1000` or `64 MiB`");
    }
    amount
}
