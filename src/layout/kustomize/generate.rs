//! Generated ConfigMaps and Secrets, and the suffix that is made of their content.

use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use smol_str::SmolStr;

use super::fields::{get_at, set_at};
use super::file::{Generator, Kustomization, Options, Text};
use super::load::Loader;
use super::resource::{Behavior, Resource};
use super::transform::metadata_entries;
use super::{Fatal, fatal, run_limit};
use crate::limits::Counted;
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// Adds what the generators of a kustomization make. With contents that are not in the repository, what is merged or replaced may be
/// among these.
pub(super) fn generate(
    directory: &RepoPath,
    kustomization: &Kustomization,
    loader: &Loader<'_>,
    resources: &mut Vec<Resource>,
    is_open: bool,
) -> Result<(), Fatal> {
    let all = kustomization.config_maps.iter().map(|generator| (generator, false));
    let all = all.chain(kustomization.secrets.iter().map(|generator| (generator, true)));
    for (generator, is_secret) in all {
        let options = united(&generator.options, &kustomization.generator_options);
        let made = Made { directory, generator, options: &options, is_secret, loader }.resource()?;
        absorb(made, generator, resources, is_open)?;
    }
    Ok(())
}

/// Local options, completed by those of the file.
fn united(own: &Options, shared: &Options) -> Options {
    let pairs = |own: &[(Text, Text)], shared: &[(Text, Text)]| {
        let is_new = |pair: &&(Text, Text)| own.iter().all(|(key, _)| key.value != pair.0.value);
        own.iter().chain(shared.iter().filter(is_new)).cloned().collect()
    };
    Options {
        labels: pairs(&own.labels, &shared.labels),
        annotations: pairs(&own.annotations, &shared.annotations),
        disable_name_suffix_hash: own.disable_name_suffix_hash || shared.disable_name_suffix_hash,
        immutable: own.immutable || shared.immutable,
    }
}

struct Made<'a> {
    directory: &'a RepoPath,
    generator: &'a Generator,
    options: &'a Options,
    is_secret: bool,
    loader: &'a Loader<'a>,
}

/// A key of the generated object.
struct Datum {
    key: SmolStr,
    content: Arc<[u8]>,
    span: Span,
}

impl Made<'_> {
    fn resource(&self) -> Result<Resource, Fatal> {
        let span = self.generator.span;
        let by = self.field();
        let text = |value: &str| Node::text(value, span).through(by, span);
        let own = |text: &Text| Node::text(text.value.clone(), text.span).through(by, span);
        let mut metadata = vec![Entry::named("name", span, own(&self.generator.name))];
        if let Some(namespace) = self.generator.namespace.as_ref().filter(|namespace| !namespace.value.is_empty()) {
            metadata.push(Entry::named("namespace", span, own(namespace)));
        }
        for (name, pairs) in [("labels", &self.options.labels), ("annotations", &self.options.annotations)] {
            if !pairs.is_empty() {
                let entry = |(key, value): &(Text, Text)| Entry::named(key.value.clone(), key.span, own(value));
                metadata.push(Entry::named(name, span, Node::map(pairs.iter().map(entry).collect(), span)));
            }
        }
        let kind = if self.is_secret { "Secret" } else { "ConfigMap" };
        let mut entries = vec![
            Entry::named("apiVersion", span, text("v1")),
            Entry::named("kind", span, text(kind)),
            Entry::named("metadata", span, Node::map(metadata, span)),
        ];
        if self.is_secret {
            let kind = self.generator.kind.as_ref().map_or("Opaque", |kind| kind.value.as_str());
            entries.push(Entry::named("type", span, text(if kind.is_empty() { "Opaque" } else { kind })));
        }
        let (data, binary) = self.data()?;
        if self.is_secret || !data.is_empty() {
            entries.push(Entry::named("data", span, Node::map(data, span)));
        }
        if !binary.is_empty() {
            entries.push(Entry::named("binaryData", span, Node::map(binary, span)));
        }
        if self.options.immutable {
            entries.push(Entry::named("immutable", span, Node::new(Value::Bool(true), span)));
        }
        let mut resource = Resource::new(Node::map(entries, span));
        resource.wants_hash = !self.options.disable_name_suffix_hash;
        resource.has_internal_annotations = true;
        Ok(resource)
    }

    fn field(&self) -> StepKind {
        StepKind::Kustomize(if self.is_secret { "secretGenerator" } else { "configMapGenerator" })
    }

    fn data(&self) -> Result<(Vec<Entry>, Vec<Entry>), Fatal> {
        let (mut data, mut binary): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
        for datum in self.sources()? {
            if data.iter().chain(&binary).any(|entry| entry.key.name == datum.key) {
                return Err(fatal(datum.span, format!("the key `{}` is generated twice", datum.key)));
            }
            let limits = self.loader.given().limits;
            if !limits.has_memory_for(datum.content.len() as u64) {
                return Err(run_limit(datum.span, limits, Counted::Values));
            }
            let plain = std::str::from_utf8(&datum.content).ok().filter(|_| !self.is_secret);
            let is_binary = plain.is_none() && !self.is_secret;
            let value = plain.map_or_else(|| base64(&datum.content), ToOwned::to_owned);
            let node = Node::text(value, datum.span).through(self.field(), self.generator.span);
            let entry = Entry::named(datum.key, datum.span, node);
            if is_binary { binary.push(entry) } else { data.push(entry) }
        }
        Ok((data, binary))
    }

    /// The keys and values of all sources, in order.
    fn sources(&self) -> Result<Vec<Datum>, Fatal> {
        let mut data = Vec::new();
        for name in &self.generator.envs {
            let (bytes, span) = self.file(&name.value, name.span)?;
            let text = std::str::from_utf8(&bytes).map_err(|_| fatal(name.span, "this file is not text"))?;
            data.extend(environment(text, span.filter(|span| span.range().len() == text.len()), name.span));
        }
        for literal in &self.generator.literals {
            let wrong = || fatal(literal.span, "a literal has the form `key=value`");
            let (key, value) = literal.value.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(wrong)?;
            data.push(Datum { key: key.into(), content: unquoted(value).as_bytes().into(), span: literal.span });
        }
        for file in &self.generator.files {
            let (key, path) = self.key_and_path(file)?;
            let (content, span) = self.file(path, file.span)?;
            data.push(Datum { key, content, span: span.unwrap_or(file.span) });
        }
        Ok(data)
    }

    fn key_and_path<'t>(&self, file: &'t Text) -> Result<(SmolStr, &'t str), Fatal> {
        match file.value.split_once('=') {
            None => {
                let name = file.value.rsplit('/').next().unwrap_or(&file.value);
                Ok((name.into(), &file.value))
            }
            Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => Ok((key.into(), path)),
            Some(_) => Err(fatal(file.span, "a file is written as `path` or `key=path`")),
        }
    }

    /// The content of a file, and its place if it is text.
    fn file(&self, name: &str, span: Span) -> Result<(Arc<[u8]>, Option<Span>), Fatal> {
        let missing = || fatal(span, format!("there is no file `{name}`"));
        let path = self.loader.locate(self.directory, name).ok_or_else(missing)?;
        let bytes = self.loader.bytes(&path)?.ok_or_else(missing)?;
        self.loader.note_outside(self.directory, &path, span);
        let text = self.loader.text(&path).ok().flatten();
        Ok((bytes, text.map(|text| Span::new(text.source, 0, text.text.len()))))
    }
}

/// The pairs of a file with one on each line.
fn environment(text: &str, file: Option<Span>, listed: Span) -> Vec<Datum> {
    let mut data = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = file.map_or(listed, |file| Span::new(file.source, start, start + line.trim_end().len()));
        start += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim_start();
        if !line.is_empty() && !line.starts_with('#') {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            data.push(Datum { key: key.into(), content: value.as_bytes().into(), span });
        }
    }
    data
}

/// A value without one pair of equal quotes around it.
fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Base 64, in lines of 70 characters once it is that long.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = (group >> (18 - 6 * at)) & 63;
            encoded.push(if at <= chunk.len() { char::from(ALPHABET[digit as usize]) } else { '=' });
        }
    }
    if encoded.len() < 70 {
        return encoded;
    }
    let mut lines = String::with_capacity(encoded.len() + encoded.len() / 70 + 1);
    for at in (0..encoded.len()).step_by(70) {
        lines.push_str(&encoded[at..encoded.len().min(at + 70)]);
        lines.push('\n');
    }
    lines
}

/// Adds a generated resource, or merges it into the one that is there.
fn absorb(made: Resource, generator: &Generator, resources: &mut Vec<Resource>, is_open: bool) -> Result<(), Fatal> {
    let id = made.id();
    let mut found = resources.iter_mut().filter(|resource| resource.is_called(&id));
    match (found.next(), found.next(), generator.behavior) {
        (_, Some(_), _) => Err(fatal(generator.span, format!("several resources are called {}", id.shown()))),
        (Some(_), None, Behavior::Create) => {
            Err(fatal(generator.span, format!("{} exists already: set `behavior: merge` or `replace`", id.shown())))
        }
        // What it is merged with may be among the contents that are not in the repository.
        (None, None, behavior) if behavior == Behavior::Create || is_open => {
            resources.push(made);
            Ok(())
        }
        (None, None, _) => Err(fatal(generator.span, format!("there is no {} to merge with or replace", id.shown()))),
        (Some(old), None, behavior) => {
            old.node = combined(old, &made, behavior);
            old.wants_hash = old.wants_hash && made.wants_hash;
            Ok(())
        }
    }
}

fn combined(old: &Resource, made: &Resource, behavior: Behavior) -> Node {
    let mut node = made.node.clone();
    for field in ["labels", "annotations"] {
        let entries = both(metadata_entries(&old.node, field), metadata_entries(&made.node, field));
        if !entries.is_empty() {
            node = set_at(&node, &["metadata", field], Node::map(entries, old.node.span));
        }
    }
    for field in ["name", "namespace"] {
        node = match get_at(&old.node, &["metadata", field]) {
            Some(value) => set_at(&node, &["metadata", field], value.clone()),
            None => super::fields::remove_at(&node, &["metadata", field]),
        };
    }
    if behavior == Behavior::Merge {
        for field in ["data", "binaryData"] {
            let entries = |node: &Node| {
                node.get(field).and_then(Node::as_map).map_or_else(Vec::new, |map| map.entries().to_vec())
            };
            let all = both(&entries(&old.node), &entries(&made.node));
            node = if all.is_empty() {
                super::fields::remove_at(&node, &[field])
            } else {
                set_at(&node, &[field], Node::map(all, made.node.span))
            };
        }
    }
    node
}

fn both(old: &[Entry], new: &[Entry]) -> Vec<Entry> {
    let is_kept = |entry: &&Entry| new.iter().all(|other| other.key.name != entry.key.name);
    old.iter().filter(is_kept).chain(new).cloned().collect()
}

/// Adds the suffix to the names of all that want one.
pub(super) fn add_hashes(resources: &mut [Resource]) -> Result<(), Fatal> {
    for resource in resources.iter_mut().filter(|resource| resource.wants_hash) {
        let hash = content_hash(&resource.node)?;
        resource.add_hash(hash);
    }
    Ok(())
}

/// Ten digits that stand for the content of a ConfigMap or a Secret.
fn content_hash(node: &Node) -> Result<SmolStr, Fatal> {
    let is_secret = node.get("kind").and_then(Node::as_str) == Some("Secret");
    let mut text = String::from("{");
    if !is_secret && let Some(binary) = node.get("binaryData") {
        text.push_str("\"binaryData\":");
        json(binary, &mut text)?;
        text.push(',');
    }
    text.push_str("\"data\":");
    match node.get("data") {
        Some(data) => json(data, &mut text)?,
        None => text.push_str("\"\""),
    }
    let kind = if is_secret { "Secret" } else { "ConfigMap" };
    let _ = write!(text, ",\"kind\":\"{kind}\",\"name\":\"\"");
    if is_secret {
        if let Some(data) = node.get("stringData") {
            text.push_str(",\"stringData\":");
            json(data, &mut text)?;
        }
        text.push_str(",\"type\":");
        match node.get("type") {
            Some(kind) => json(kind, &mut text)?,
            None => text.push_str("\"\""),
        }
    }
    text.push('}');
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).take(10);
    Ok(digits
        .map(|digit| match char::from_digit(u32::from(digit), 16).unwrap_or('0') {
            '0' => 'g',
            '1' => 'h',
            '3' => 'k',
            'a' => 'm',
            'e' => 't',
            other => other,
        })
        .collect())
}

/// Compact JSON with sorted keys and Go's escapes.
fn json(node: &Node, text: &mut String) -> Result<(), Fatal> {
    match &node.value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => text.push_str(number.as_str()),
        Value::String(value) => quoted(value, text),
        Value::List(list) => {
            text.push('[');
            for (at, item) in list.items().iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                json(item, text)?;
            }
            text.push(']');
        }
        Value::Map(map) => {
            let mut entries: Vec<&Entry> = map.entries().iter().collect();
            entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
            text.push('{');
            for (at, entry) in entries.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                quoted(&entry.key.name, text);
                text.push(':');
                json(&entry.value, text)?;
            }
            text.push('}');
        }
        Value::Secret(_) => return Err(fatal(node.span, "a hidden value has no suffix")),
    }
    Ok(())
}

fn quoted(value: &str, text: &mut String) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_wrapped_once_it_is_long() {
        assert_eq!(base64(b"s3cr3t"), "czNjcjN0");
        assert_eq!(base64(b"a"), "YQ==");
        assert_eq!(base64(&[0; 51]).len(), 68);
        let long = base64(&[0; 54]);
        assert_eq!(long.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(long.ends_with('\n'));
    }

    #[test]
    fn one_pair_of_equal_quotes_is_removed() {
        assert_eq!(unquoted("\"a\""), "a");
        assert_eq!(unquoted("'a'"), "a");
        assert_eq!(unquoted("\"a'"), "\"a'");
        assert_eq!(unquoted("''a''"), "'a'");
    }
}
