//! Replacements: values copied from a field of one resource to fields of others.

use smol_str::SmolStr;

use super::fields::in_place_of;
use super::file::{Fields, Kustomization, Selector, read_selector};
use super::patch::Context;
use super::pattern::expression;
use super::resource::Resource;
use super::scalars::{Dialect, plain};
use super::selector::Compiled;
use super::shared::Writes;
use super::{Fatal, fatal};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// Applies the replacements of a kustomization, one after the other.
pub(super) fn replacements(
    context: &Context<'_>,
    kustomization: &Kustomization,
    resources: &mut [Resource],
) -> Result<(), Fatal> {
    for entry in &kustomization.replacements {
        let Some(name) =
            Fields::new(entry, "a replacement", &["path", "source", "sourceValue", "targets"])?.text("path")?
        else {
            replacement(entry, resources, context)?;
            continue;
        };
        let file = context.loader.required(context.directory, &name)?;
        for document in context.loader.documents(&file, Dialect::Yaml11)?.iter() {
            for entry in document.as_list().unwrap_or(std::slice::from_ref(document)) {
                replacement(entry, resources, context)?;
            }
        }
    }
    Ok(())
}

/// How a part of a text is taken or replaced.
#[derive(Default)]
struct Part {
    delimiter: SmolStr,
    index: i64,
    create: bool,
}

fn read_part(node: Option<&Node>) -> Result<Part, Fatal> {
    let Some(node) = node else { return Ok(Part::default()) };
    let fields = Fields::new(node, "options of a replacement", &["delimiter", "index", "create", "encoding"])?;
    let index = match fields.get("index").map(|node| (&node.value, node.span)) {
        None => 0,
        Some((Value::Number(number), span)) => {
            number.as_str().parse().map_err(|_| fatal(span, "an index is a whole number"))?
        }
        Some((_, span)) => return Err(fatal(span, "an index is a whole number")),
    };
    let delimiter = fields.text("delimiter")?.map(|text| text.value).unwrap_or_default();
    Ok(Part { delimiter, index, create: fields.flag("create")? })
}

fn replacement(entry: &Node, resources: &mut [Resource], context: &Context<'_>) -> Result<(), Fatal> {
    let fields = Fields::new(entry, "a replacement", &["source", "sourceValue", "targets", "path"])?;
    let value = match (fields.get("source"), fields.get("sourceValue")) {
        (Some(_), Some(_)) => return Err(fatal(entry.span, "a replacement has either `source` or `sourceValue`")),
        (Some(source), None) => match source_value(source, resources) {
            Err(failure) if context.is_open => {
                context.loader.note(source.span, format!("{}; it may be outside of this repository", failure.message));
                return Ok(());
            }
            value => value?,
        },
        (None, Some(value)) => value.clone(),
        (None, None) => return Err(fatal(entry.span, "a replacement has a `source`")),
    };
    let Some(targets) = fields.get("targets").and_then(Node::as_list).filter(|targets| !targets.is_empty()) else {
        return Err(fatal(entry.span, "a replacement has `targets`"));
    };
    for target in targets {
        apply_target(target, &value, resources, context)?;
    }
    Ok(())
}

fn source_value(source: &Node, resources: &[Resource]) -> Result<Node, Fatal> {
    let known = ["group", "version", "kind", "name", "namespace", "fieldPath", "options"];
    let fields = Fields::new(source, "a source", &known)?;
    let selector = read_selector(source)?;
    let mut found = resources.iter().filter(|resource| is_exactly(&selector, resource));
    let (resource, second) = (found.next(), found.next());
    let Some(resource) = resource.filter(|_| second.is_none()) else {
        let many = if second.is_some() { "several resources match" } else { "no resource matches" };
        return Err(fatal(source.span, format!("{many} this source")));
    };
    let path = fields.text("fieldPath")?;
    let path_text = path.as_ref().map_or("metadata.name", |path| path.value.as_str());
    let at = path.as_ref().map_or(source.span, |path| path.span);
    let path = read_path(path_text);
    if path.contains(&PathStep::Every) {
        return Err(fatal(at, "the path of a source has no `*`"));
    }
    let found =
        select(&resource.node, &path).ok_or_else(|| fatal(at, format!("there is no `{path_text}` in the source")))?;
    let part = read_part(fields.get("options"))?;
    if part.delimiter.is_empty() {
        return Ok(found.clone());
    }
    let text = scalar_text(found).ok_or_else(|| fatal(at, "only text can be split"))?;
    let index = usize::try_from(part.index).ok();
    match index.and_then(|index| text.split(part.delimiter.as_str()).nth(index)) {
        Some(piece) => Ok(Node::text(piece, found.span)),
        None => Err(fatal(at, "the source has no part with this index")),
    }
}

/// Whether a resource is or was called exactly as a selector says.
fn is_exactly(selector: &Selector, resource: &Resource) -> bool {
    let fits = |wanted: &SmolStr, found: &str| wanted.is_empty() || wanted == found;
    resource.ids().any(|id| {
        fits(&selector.group, &id.group)
            && fits(&selector.version, &id.version)
            && fits(&selector.kind, &id.kind)
            && fits(&selector.name, &id.name)
            && fits(&selector.namespace, id.effective_namespace())
    })
}

fn apply_target(target: &Node, value: &Node, resources: &mut [Resource], context: &Context<'_>) -> Result<(), Fatal> {
    let limits = context.loader.given().limits;
    let fields = Fields::new(target, "a target", &["select", "reject", "fieldPaths", "options"])?;
    let selector = fields.get("select").ok_or_else(|| fatal(target.span, "a target has a `select`"))?;
    let select = Compiled::new(&read_selector(selector)?, selector.span)?;
    let reject = fields.each("reject", |node| Compiled::new(&read_selector(node)?, node.span))?;
    let mut paths = fields.texts("fieldPaths")?;
    if paths.is_empty() {
        paths.push(super::file::Text { value: "metadata.name".into(), span: target.span });
    }
    let part = read_part(fields.get("options"))?;
    let selected = |resource: &&mut Resource| {
        select.selects_by_any_name(resource) && !reject.iter().any(|reject| reject.rejects(resource))
    };
    let mut is_used = false;
    for resource in resources.iter_mut().filter(selected) {
        is_used = true;
        for path in &paths {
            context.pay(resource, path.span)?;
            let writes = Writes::default();
            let setter = Setter { value, part: &part, span: path.span, text: &path.value, limits, writes: &writes };
            let (changed, count) = setter.write(&resource.node, &read_path(&path.value))?;
            if count == 0 && !part.create {
                return Err(fatal(path.span, format!("there is no `{}` in {}", path.value, resource.id().shown())));
            }
            super::check_size(&changed, path.span, limits)?;
            resource.node = resource.shared.written(changed, writes);
        }
    }
    if !is_used && !context.is_lenient() {
        context.loader.note_no_match(selector.span, "no resource here matches this target of a replacement");
    }
    Ok(())
}

/// A step of a field path.
#[derive(Debug, PartialEq, Eq, Clone)]
enum PathStep {
    Key(SmolStr),
    Match(SmolStr, SmolStr),
    Every,
}

/// Splits `a.b\.c.[d.e/f].[k=v].*`.
fn read_path(path: &str) -> Vec<PathStep> {
    let mut parts: Vec<(String, bool)> = vec![(String::new(), false)];
    let mut depth = 0_u32;
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(last) = parts.last_mut() else { break };
        match character {
            '\\' if characters.peek() == Some(&'.') => last.0.extend(characters.next()),
            '[' if depth == 0 && last.0.is_empty() => {
                depth = 1;
                last.1 = true;
            }
            '[' if depth > 0 => {
                depth += 1;
                last.0.push('[');
            }
            ']' if depth > 1 => {
                depth -= 1;
                last.0.push(']');
            }
            ']' if depth == 1 => depth = 0,
            '.' if depth == 0 => parts.push((String::new(), false)),
            other => last.0.push(other),
        }
    }
    let parts = parts.into_iter().filter(|(text, _)| !text.is_empty());
    parts
        .map(|(text, is_bracketed)| match text.split_once('=') {
            Some((key, value)) if is_bracketed => PathStep::Match(key.into(), value.into()),
            _ if text == "*" => PathStep::Every,
            _ => PathStep::Key(text.into()),
        })
        .collect()
}

/// The one value that a path of a source leads to.
fn select<'n>(node: &'n Node, path: &[PathStep]) -> Option<&'n Node> {
    let Some((first, rest)) = path.split_first() else {
        return (!matches!(node.value, Value::Null)).then_some(node);
    };
    match (first, &node.value) {
        (PathStep::Key(key), Value::Map(map)) => select(map.get(key)?, rest),
        (PathStep::Key(key), Value::List(list)) => select(list.items().get(key.parse::<usize>().ok()?)?, rest),
        (PathStep::Match(key, value), Value::List(list)) => {
            let is_match = |item: &&Node| item.get(key).and_then(scalar_text).is_some_and(|text| text == *value);
            select(list.items().iter().find(is_match)?, rest)
        }
        _ => None,
    }
}

struct Setter<'a> {
    value: &'a Node,
    part: &'a Part,
    span: Span,
    text: &'a str,
    limits: &'a Limits,
    /// What was written in the place of something else.
    writes: &'a Writes,
}

impl Setter<'_> {
    /// The node with the value written, and at how many places.
    fn write(&self, node: &Node, path: &[PathStep]) -> Result<(Node, usize), Fatal> {
        let Some((first, rest)) = path.split_first() else { return Ok((self.placed(node)?, 1)) };
        match (first, &node.value) {
            (PathStep::Key(key), Value::List(list)) if is_index(key) => {
                let (index, length) = (key.parse().unwrap_or(usize::MAX), list.items().len());
                if index < length {
                    return self.children(node, rest, |at, _| at == index);
                }
                if self.part.create && index == length {
                    return self.append(node, None, rest);
                }
                Err(fatal(self.span, format!("the list in `{}` has only {length} items", self.text)))
            }
            (PathStep::Key(key), Value::Map(_)) if !is_index(key) => self.key(node, key, rest),
            (PathStep::Match(key, value), Value::List(_)) => self.matching(node, (key, value), rest),
            (PathStep::Every, Value::List(_)) => self.children(node, rest, |_, _| true),
            (_, Value::Null) => Ok((node.clone(), 0)),
            _ => Err(fatal(self.span, format!("`{}` leads through a value of another kind", self.text))),
        }
    }

    fn matching(&self, node: &Node, (key, value): (&str, &str), rest: &[PathStep]) -> Result<(Node, usize), Fatal> {
        let pattern =
            expression(value).ok_or_else(|| fatal(self.span, format!("`{value}` is not a regular expression")))?;
        let meant = |item: &Node| if key.is_empty() { scalar_text(item) } else { scalar_text(item.get(key)?) };
        let is_match = |item: &Node| meant(item).is_some_and(|text| pattern.is_match(&text));
        let rest = if key.is_empty() { &[] } else { rest };
        let (changed, count) = self.children(node, rest, |_, item| is_match(item))?;
        if count > 0 || !self.part.create || node.children().any(|item| is_match(item.node)) {
            return Ok((changed, count));
        }
        let named = Node::new(plain(value), self.span);
        let item = if key.is_empty() { named } else { Node::map(vec![Entry::named(key, self.span, named)], self.span) };
        self.append(node, Some(item), rest)
    }

    fn key(&self, node: &Node, key: &str, rest: &[PathStep]) -> Result<(Node, usize), Fatal> {
        let (child, count) = match node.get(key) {
            Some(child) => self.write(child, rest)?,
            None if self.part.create => self.created(rest)?,
            None => return Ok((node.clone(), 0)),
        };
        Ok((super::fields::set_at(node, &[key], child), count))
    }

    /// What is made where nothing is.
    fn created(&self, path: &[PathStep]) -> Result<(Node, usize), Fatal> {
        let empty = match path.first() {
            None => return Ok((self.new_value()?, 1)),
            Some(PathStep::Match(..)) => Node::list(Vec::new(), self.span),
            Some(PathStep::Key(key)) if is_index(key) => Node::list(Vec::new(), self.span),
            Some(PathStep::Key(_) | PathStep::Every) => Node::map(Vec::new(), self.span),
        };
        self.write(&empty, path)
    }

    fn children(
        &self,
        node: &Node,
        rest: &[PathStep],
        is_meant: impl Fn(usize, &Node) -> bool,
    ) -> Result<(Node, usize), Fatal> {
        let (mut total, mut at) = (0, 0);
        let changed = node.try_map_children(|child| {
            at += 1;
            if !is_meant(at - 1, child.node) {
                return Ok(None);
            }
            let (changed, count) = self.write(child.node, rest)?;
            total += count;
            Ok::<_, Fatal>((count > 0).then_some(changed))
        })?;
        Ok((changed.unwrap_or_else(|| node.clone()), total))
    }

    fn append(&self, node: &Node, item: Option<Node>, rest: &[PathStep]) -> Result<(Node, usize), Fatal> {
        let (item, count) = match item {
            Some(item) => self.write(&item, rest)?,
            None => self.created(rest)?,
        };
        let mut items = node.as_list().unwrap_or_default().to_vec();
        items.push(item);
        Ok((Node { extra: node.extra.clone(), ..Node::list(items, node.span) }, count))
    }

    fn through(&self, value: Value) -> Node {
        Node::new(value, self.value.span).through(StepKind::Kustomize("replacements"), self.span)
    }

    /// The value in a field that is new: a text without quotes, whatever it was before.
    fn new_value(&self) -> Result<Node, Fatal> {
        match &self.value.value {
            Value::List(_) | Value::Map(_) if self.part.delimiter.is_empty() => {
                Ok(self.value.clone().through(StepKind::Kustomize("replacements"), self.span))
            }
            _ => {
                let text = self.joined("")?;
                Ok(self.through(if text.is_empty() { Value::String(SmolStr::default()) } else { plain(&text) }))
            }
        }
    }

    /// The text to write in the place of another one.
    fn joined(&self, old: &str) -> Result<String, Fatal> {
        let new = scalar_text(self.value).unwrap_or_default();
        let delimiter = self.part.delimiter.as_str();
        if delimiter.is_empty() {
            return Ok(new);
        }
        let mut parts: Vec<&str> = old.split(delimiter).collect();
        match usize::try_from(self.part.index) {
            Err(_) => parts.insert(0, &new),
            Ok(index) if index >= parts.len() => parts.push(&new),
            Ok(index) => parts[index] = &new,
        }
        let joined = parts.join(delimiter);
        if joined.len() as u64 > self.limits.file_bytes {
            return Err(fatal(self.span, "this replacement makes a text that is larger than the limit for a file"));
        }
        Ok(joined)
    }

    /// The value in a field that holds something else: a scalar keeps the type of the field.
    fn placed(&self, old: &Node) -> Result<Node, Fatal> {
        let Some(before) = scalar_text(old).or_else(|| matches!(old.value, Value::Null).then(String::new)) else {
            if !self.part.delimiter.is_empty() {
                return Err(fatal(self.span, format!("`{}` is not text", self.text)));
            }
            let new = self.value.clone().through(StepKind::Kustomize("replacements"), self.span);
            return Ok(in_place_of(Some(old), new));
        };
        let text = self.joined(&before)?;
        let value = match (&old.value, plain(&text)) {
            (Value::String(_), _) => Value::String(text.into()),
            (Value::Null, _) if text.is_empty() => Value::String(SmolStr::default()),
            (Value::Bool(_), Value::Bool(value)) => Value::Bool(value),
            (Value::Number(old), Value::Number(new)) if new.is_integer() || !old.is_integer() => Value::Number(new),
            (Value::Null, Value::Null) => Value::Null,
            _ => {
                let message = format!("`{}` has another type, and this value cannot be read as it", self.text);
                return Err(fatal(self.span, message));
            }
        };
        let placed = in_place_of(Some(old), self.through(value));
        self.writes.note(&Pointer::root(), old, &placed);
        Ok(placed)
    }
}

/// Whether a step is a place in a list.
fn is_index(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

fn scalar_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.to_string()),
        Value::Number(number) => Some(number.as_str().to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_dots_outside_of_brackets() {
        let key = |text: &str| PathStep::Key(text.into());
        assert_eq!(read_path("a.b\\.c.*"), [key("a"), key("b.c"), PathStep::Every]);
        assert_eq!(
            read_path("metadata.annotations.[config.io/x].0.[name=a.b].v"),
            [
                key("metadata"),
                key("annotations"),
                key("config.io/x"),
                key("0"),
                PathStep::Match("name".into(), "a.b".into()),
                key("v"),
            ]
        );
    }
}
