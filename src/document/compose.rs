//! Builds values from the events of a YAML parser: spans, anchors, aliases, merge keys, and the limits against alias bombs.

use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::finding;
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Entry, Extra, Key, KeyKind, Node, Step, StepKind, Value};

use super::entries::{self, Merge};
use super::problems::{Problems, quoted};
use super::scalar::{self, Core, Style, Tag};
use super::{layout, write};

/// Builds one document.
///
/// Children of all open collections are on common stacks and move out when their collection closes, so that each collection is
/// allocated once, with its exact size.
pub(super) struct Composer<'a> {
    text: &'a str,
    limits: &'a Limits,
    problems: &'a mut Problems,
    frames: Vec<OpenCollection>,
    items: Vec<Node>,
    entries: Vec<Entry>,
    merges: Vec<Merge>,
    anchors: Vec<Anchor>,
    root: Option<Node>,
    /// Values so far, after alias expansion.
    nodes: u64,
    /// Those of them that the run does not know of yet.
    unbooked: u64,
    /// The number of bytes that aliases and collection keys expand to, beyond what is written.
    expanded: u64,
    /// The end of the last token.
    cursor: usize,
}

/// The initial size of the stacks, enough for most documents.
const USUAL_DEPTH: usize = 8;
const USUAL_ENTRIES: usize = 16;

/// Values are booked on the account of the run in batches, because threads share it.
pub(super) const BATCH: u64 = 1024;

/// The document cannot be completed; the reason is already reported.
pub(super) struct Stop;

/// What may precede a value.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) tag: Option<(Tag, Range<usize>)>,
    /// As given by [`Composer::anchor`].
    pub(super) anchor: Option<usize>,
}

/// The two kinds of collection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    List,
    Map,
}

/// An open collection.
struct OpenCollection {
    collection: Collection,
    /// Whether it is written with brackets.
    is_flow: bool,
    start: usize,
    /// The start of its children on their stack.
    first: usize,
    /// The start of its merge keys on theirs.
    first_merge: usize,
    pending: Pending,
    properties: Properties,
    /// The number of bytes of its text with aliases expanded.
    bytes: u64,
}

/// What a map expects next.
enum Pending {
    Key,
    ValueOf(Key),
    Merge(Span),
}

struct Anchor {
    id: usize,
    name: SmolStr,
    span: Span,
    /// `None` while its value is still open.
    node: Option<Node>,
    bytes: u64,
}

impl<'a> Composer<'a> {
    /// Starts a document whose content follows `start`.
    pub(super) fn new(text: &'a str, start: usize, limits: &'a Limits, problems: &'a mut Problems) -> Self {
        Self {
            text,
            limits,
            problems,
            frames: Vec::with_capacity(USUAL_DEPTH),
            items: Vec::new(),
            entries: Vec::with_capacity(USUAL_ENTRIES),
            merges: Vec::new(),
            anchors: Vec::new(),
            root: None,
            nodes: 0,
            unbooked: 0,
            expanded: 0,
            cursor: start,
        }
    }

    /// The value and its anchors; `None` if nothing was written.
    pub(super) fn finish(self) -> Option<(Node, Vec<(SmolStr, Node)>)> {
        self.limits.note_nodes(self.unbooked);
        let anchors = self.anchors.into_iter().filter_map(|anchor| Some((anchor.name, anchor.node?)));
        Some((self.root?, anchors.collect()))
    }

    /// Receives findings.
    pub(super) fn problems(&mut self) -> &mut Problems {
        self.problems
    }

    /// The innermost bracket that is still open.
    pub(super) fn open_bracket(&self) -> Option<usize> {
        let is_bracket = |frame: &&OpenCollection| frame.is_flow && self.text[frame.start..].starts_with(['[', '{']);
        self.frames.iter().rev().find(is_bracket).map(|frame| frame.start)
    }

    /// The opening quote of the scalar that follows, if it is quoted.
    pub(super) fn opening_quote(&self) -> Option<usize> {
        layout::opening_quote(self.text, self.cursor)
    }

    /// Registers the anchor of the value that follows.
    pub(super) fn anchor(&mut self, id: usize, name: &str, range: Range<usize>) -> usize {
        let span = self.problems.span(range);
        self.anchors.push(Anchor { id, name: name.into(), span, node: None, bytes: 0 });
        self.anchors.len() - 1
    }

    /// Adds a scalar; an empty range without properties means that nothing is written there.
    pub(super) fn scalar(
        &mut self,
        text: &str,
        style: Style,
        range: Range<usize>,
        properties: Properties,
    ) -> Result<(), Stop> {
        let is_missing = range.is_empty() && style == Style::Plain && properties.is_none();
        if is_missing && self.frames.is_empty() {
            return Ok(());
        }
        let range = match style {
            Style::Plain if is_missing => self.nothing_at(range.start),
            Style::Plain | Style::Quoted => range,
            Style::Block => {
                let is_empty = text.trim_end_matches('\n').is_empty();
                layout::block_scalar(self.text, self.cursor, range, is_empty)
            }
        };
        self.cursor = self.cursor.max(range.end);
        let span = self.problems.span(range);
        let is_key = self.is_key_due();
        if is_key && text == "<<" && style == Style::Plain && properties.allow_merge_key() {
            if let Some(at) = properties.anchor {
                self.anchors[at].node = Some(Node::new(Value::String(text.into()), span));
            }
            self.await_value_of(Pending::Merge(span));
            return Ok(());
        }
        self.count(u64::from(!is_key), span)?;
        let value = self.resolve(text, style, span, &properties);
        if is_key && properties.is_none() {
            return self.scalar_key(value, text.len() as u64, span);
        }
        let node = Node { value, span, extra: properties.to_extra(&self.anchors) };
        self.complete(node, text.len() as u64, properties.anchor, span)
    }

    /// Adds a key that is a scalar without properties, as nearly every key is.
    fn scalar_key(&mut self, value: Value, bytes: u64, span: Span) -> Result<(), Stop> {
        self.check_depth(1, span)?;
        let key = self.key(Node::new(value, span), span)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.bytes += bytes;
            frame.pending = Pending::ValueOf(key);
        }
        Ok(())
    }

    /// Opens a list or map; the range is its bracket, or empty at its first child.
    pub(super) fn open(
        &mut self,
        collection: Collection,
        is_flow: bool,
        range: Range<usize>,
        properties: Properties,
    ) -> Result<(), Stop> {
        let is_in_block_map =
            self.frames.last().is_some_and(|frame| frame.collection == Collection::Map && !frame.is_flow);
        let start = match collection {
            Collection::List if !is_flow && is_in_block_map => layout::first_dash(self.text, self.cursor, range.start),
            _ => range.start,
        };
        // The one pair of `[? a]` starts with its question mark, which is not a bracket to skip.
        let is_bracket = is_flow && self.text.as_bytes().get(start) != Some(&b'?');
        self.cursor = self.cursor.max(if is_bracket { range.end } else { start });
        let span = self.problems.span(start..range.end);
        self.count(1, span)?;
        if self.frames.len() as u64 >= u64::from(self.limits.depth) {
            self.problems.report(self.problems.too_deep(span.range(), self.limits));
            return Err(Stop);
        }
        if let Some((Tag::Core(core), tag)) = &properties.tag {
            let fits = matches!((core, collection), (Core::Map, Collection::Map) | (Core::Seq, Collection::List));
            if !fits {
                self.report_misfit(*core, tag.clone(), span);
            }
        }
        let first = match collection {
            Collection::List => self.items.len(),
            Collection::Map => self.entries.len(),
        };
        let first_merge = self.merges.len();
        let pending = Pending::Key;
        self.frames.push(OpenCollection {
            collection,
            is_flow,
            start,
            first,
            first_merge,
            pending,
            properties,
            bytes: 0,
        });
        Ok(())
    }

    /// Closes the innermost collection; the range is its bracket, or empty.
    pub(super) fn close(&mut self, range: Range<usize>) -> Result<(), Stop> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if frame.is_flow && !range.is_empty() {
            self.cursor = range.end;
        }
        let span = self.problems.span(frame.start..self.cursor);
        let mut node = match frame.collection {
            Collection::List => Node::list(self.items.split_off(frame.first), span),
            Collection::Map => Node::map(self.close_entries(&frame)?, span),
        };
        node.extra = frame.properties.to_extra(&self.anchors);
        self.complete(node, frame.bytes, frame.properties.anchor, span)
    }

    /// Adds `*name`: the anchored value again.
    pub(super) fn alias(&mut self, id: usize, range: Range<usize>) -> Result<(), Stop> {
        self.cursor = range.end;
        let span = self.problems.span(range);
        let Ok(at) = self.anchors.binary_search_by_key(&id, |anchor| anchor.id) else {
            return self.undefined_alias("", span.range());
        };
        let anchor = &self.anchors[at];
        let Some(node) = anchor.node.clone() else {
            let name = quoted(&format!("*{}", anchor.name));
            let message = format!("the alias {name} is inside the value it refers to");
            let finding = self.problems.finding(&finding::DOCUMENT_ALIAS_CYCLE, span.range(), message);
            let finding = finding.labelled("this alias").related(anchor.span, "the value starts here");
            self.problems.report(finding.help("give the inner part an anchor of its own, or write it out"));
            return self.complete(Node::new(Value::Null, span), 0, None, span);
        };
        let bytes = anchor.bytes;
        self.count(node.size(), span)?;
        self.expand(bytes, span)?;
        self.complete(node.through(StepKind::Alias, span), bytes, None, span)
    }

    /// Reports `*name` without `&name` before it.
    pub(super) fn undefined_alias(&mut self, name: &str, range: Range<usize>) -> Result<(), Stop> {
        self.cursor = range.end;
        let span = self.problems.span(range);
        let message =
            format!("the alias {} names an anchor that is not defined before it", quoted(&format!("*{name}")));
        let finding = self.problems.finding(&finding::DOCUMENT_UNDEFINED_ALIAS, span.range(), message);
        let finding = finding.labelled("no such anchor in this document");
        self.problems.report(finding.help("quote the value if it is meant as text"));
        self.complete(Node::new(Value::Null, span), 0, None, span)
    }

    /// The position of a value that is not written: right after its colon, dash or question mark.
    fn nothing_at(&self, at: usize) -> Range<usize> {
        let at = if self.is_value_due() {
            layout::after_indicator(self.text, self.cursor, b":").unwrap_or(self.cursor)
        } else {
            layout::after_indicator(self.text, self.cursor, b"-?").unwrap_or(at)
        };
        at..at
    }

    fn resolve(&mut self, text: &str, style: Style, span: Span, properties: &Properties) -> Value {
        match &properties.tag {
            Some((Tag::Core(core), tag)) => core.apply(text).unwrap_or_else(|| {
                self.report_misfit(*core, tag.clone(), span);
                Value::Null
            }),
            Some((Tag::Untyped | Tag::Merge | Tag::Other(_), _)) => Value::String(text.into()),
            None if style != Style::Plain => Value::String(text.into()),
            None => {
                let value = scalar::resolve(text);
                if text.starts_with('0') && matches!(value, Value::String(_)) && scalar::is_overlong_number(text) {
                    let message = format!("a number of {} characters is too long to be read", text.len());
                    let finding = self.problems.finding(&finding::DOCUMENT_SYNTAX, span.range(), message);
                    self.problems.report(finding.help("quote it if it is meant as text"));
                }
                value
            }
        }
    }

    fn report_misfit(&mut self, core: Core, tag: Range<usize>, value: Span) {
        let message = format!("the tag `!!{}` does not fit its value", core.name());
        let finding = self.problems.finding(&finding::DOCUMENT_TAG, tag, message).labelled("this tag");
        self.problems.report(finding.related(value, "this value").help("remove the tag, or correct the value"));
    }

    /// Adds a completed value to the open collection. `written` is its range here, which for an alias differs from its definition.
    fn complete(&mut self, node: Node, bytes: u64, anchor: Option<usize>, written: Span) -> Result<(), Stop> {
        if let Some(at) = anchor {
            self.anchors[at].node = Some(node.clone());
            self.anchors[at].bytes = bytes;
        }
        self.check_depth(node.height(), written)?;
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.bytes += bytes;
        if frame.collection == Collection::List {
            self.items.push(node);
            return Ok(());
        }
        match std::mem::replace(&mut frame.pending, Pending::Key) {
            Pending::ValueOf(key) => self.entries.push(Entry { key, value: node }),
            Pending::Merge(key) => {
                let position = self.entries.len() - frame.first;
                self.merges.push(Merge { position, key, value: node });
            }
            Pending::Key => {
                let key = self.key(node, written)?;
                self.await_value_of(Pending::ValueOf(key));
            }
        }
        Ok(())
    }

    /// The key of a value: text as it is, other scalars as they are written, everything else as one line of YAML.
    fn key(&mut self, node: Node, span: Span) -> Result<Key, Stop> {
        let is_tagged = node.tag().is_some();
        let node = match (is_tagged, node.value) {
            (false, Value::String(name)) => return Ok(Key { name, kind: KeyKind::Text, span }),
            (false, Value::Null) => return Ok(Key { name: SmolStr::new_static("null"), kind: KeyKind::Scalar, span }),
            (false, Value::Bool(value)) => {
                let name = SmolStr::new_static(if value { "true" } else { "false" });
                return Ok(Key { name, kind: KeyKind::Scalar, span });
            }
            (false, Value::Number(number)) => {
                return Ok(Key { name: number.as_str().into(), kind: KeyKind::Scalar, span });
            }
            (_, value) => Node { value, ..node },
        };
        let room = self.limits.file_bytes.saturating_sub(self.expanded);
        let Some(name) = write::inline_within(&node, usize::try_from(room).unwrap_or(usize::MAX)) else {
            return Err(self.refuse_expansion(span));
        };
        self.expand(name.len() as u64, span)?;
        Ok(Key { name: name.into(), kind: KeyKind::Collection, span })
    }

    fn close_entries(&mut self, frame: &OpenCollection) -> Result<Vec<Entry>, Stop> {
        let entries = self.entries.split_off(frame.first);
        entries::report_duplicates(&entries, self.problems);
        if self.merges.len() == frame.first_merge {
            return Ok(entries);
        }
        let merges: Vec<Merge> = self.merges.drain(frame.first_merge..).collect();
        // Each entry that is merged is looked at, whether or not it is overridden.
        let looked_at = merges.iter().map(Merge::entries).sum();
        self.count(looked_at, self.problems.span(frame.start..self.cursor))?;
        let entries = entries::merged(entries, merges, self.problems);
        // The overridden values of a value that passed many merge keys count as depth, too.
        let limit = self.limits.depth as usize;
        let is_long = |entry: &&Entry| entry.value.step().is_some_and(|step| is_longer(step, limit));
        if let Some(entry) = entries.iter().find(is_long) {
            let at = entry.value.step().map_or(entry.value.span, |step| step.at);
            self.problems.report(self.problems.too_deep(at.range(), self.limits));
            return Err(Stop);
        }
        Ok(entries)
    }

    fn check_depth(&mut self, height: u32, at: Span) -> Result<(), Stop> {
        if self.frames.len() as u64 + u64::from(height) <= u64::from(self.limits.depth) {
            return Ok(());
        }
        self.problems.report(self.problems.too_deep(at.range(), self.limits));
        Err(Stop)
    }

    fn await_value_of(&mut self, pending: Pending) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pending = pending;
        }
    }

    fn is_key_due(&self) -> bool {
        let due = |frame: &OpenCollection| frame.collection == Collection::Map && matches!(frame.pending, Pending::Key);
        self.frames.last().is_some_and(due)
    }

    fn is_value_due(&self) -> bool {
        let due =
            |frame: &OpenCollection| frame.collection == Collection::Map && !matches!(frame.pending, Pending::Key);
        self.frames.last().is_some_and(due)
    }

    fn count(&mut self, nodes: u64, at: Span) -> Result<(), Stop> {
        self.nodes = self.nodes.saturating_add(nodes);
        self.unbooked = self.unbooked.saturating_add(nodes);
        if self.nodes > self.limits.nodes {
            self.problems.report(self.problems.too_many_nodes(at.range(), self.limits));
            return Err(Stop);
        }
        if self.unbooked >= BATCH && !self.limits.take_nodes(std::mem::take(&mut self.unbooked)) {
            self.problems.report(self.problems.too_many_in_run(at.range(), self.limits));
            return Err(Stop);
        }
        Ok(())
    }

    /// Counts the bytes of an alias against the limit: a long text under a thousand aliases is a bomb like many small values.
    fn expand(&mut self, bytes: u64, at: Span) -> Result<(), Stop> {
        self.expanded = self.expanded.saturating_add(bytes);
        if self.expanded <= self.limits.file_bytes {
            return Ok(());
        }
        Err(self.refuse_expansion(at))
    }

    fn refuse_expansion(&mut self, at: Span) -> Stop {
        let message = format!("aliases expand this document to more than {} bytes", self.limits.file_bytes);
        let finding = self.problems.finding(&finding::LIMIT_NODES, at.range(), message);
        self.problems.report(finding.help("raise `limits.file_bytes` in outcrop.yaml if this is intended"));
        Stop
    }
}

fn is_longer(way: &Step, limit: usize) -> bool {
    std::iter::successors(Some(way), |step| step.before.as_deref()).nth(limit).is_some()
}

impl Properties {
    fn is_none(&self) -> bool {
        self.tag.is_none() && self.anchor.is_none()
    }

    /// Whether `<<` with these properties is a merge key and not data.
    fn allow_merge_key(&self) -> bool {
        matches!(&self.tag, None | Some((Tag::Merge, _)))
    }

    fn to_extra(&self, anchors: &[Anchor]) -> Option<Arc<Extra>> {
        if self.is_none() {
            return None;
        }
        let tag = match &self.tag {
            Some((Tag::Other(tag), _)) => Some(tag.clone()),
            Some((Tag::Merge, _)) => Some(SmolStr::new_static("!!merge")),
            Some((Tag::Core(_) | Tag::Untyped, _)) | None => None,
        };
        let anchor = self.anchor.map(|at| anchors[at].name.clone());
        (tag.is_some() || anchor.is_some()).then(|| Arc::new(Extra { tag, anchor, ..Extra::default() }))
    }
}
