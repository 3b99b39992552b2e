//! Evaluates a path over values: the core of the language.

use std::sync::Arc;

use smol_str::SmolStr;

use super::datum::{Datum, Group};
use super::grammar::{Against, Key, Path, Segment, Test, is_integer};
use super::scope::Scope;
use super::secrecy::{beneath, opened, shows_a_secret};
use super::session::EvalSession;
use super::special;
use super::trace::{TraceKind, Verdict};
use super::trouble::{self, Result, place};
use crate::text::Span;
use crate::value::{Node, Number, Value};

/// Whether all matches are wanted, or it is enough to know that there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    All,
    Any,
}

/// A path that is being evaluated: its text, its variables, and the matches so far.
struct Cursor<'a> {
    node: &'a Node,
    text: &'a str,
    scope: &'a Scope,
    want: Want,
    found: Vec<Datum>,
}

/// A segment's key, its variable replaced.
#[derive(Debug, Clone, PartialEq)]
enum Resolved {
    Empty,
    Star,
    /// An index for lists, and its text for maps.
    Integer(Option<i64>, SmolStr),
    /// A key; whether it was a variable's value.
    Text(SmolStr, bool),
    /// Nothing has such a key: an undefined variable, or a value that is no key.
    Nothing,
}

impl EvalSession<'_> {
    /// All matches of a path that is written as text.
    pub(super) fn matches(&mut self, node: &Node, text: &SmolStr, scope: &Scope) -> Result<Vec<Datum>> {
        let path = self.path(node, text)?;
        self.trace.open(TraceKind::Path, text, None);
        let mut cursor = Cursor { node, text, scope, want: Want::All, found: Vec::new() };
        self.deeper(node.span, |session| session.start(&path, &mut cursor))?;
        self.trace.close(Verdict::Matches(cursor.found.len()));
        Ok(cursor.found)
    }

    /// The first segment decides where to start.
    fn start(&mut self, path: &Path, cursor: &mut Cursor<'_>) -> Result<()> {
        let [first, rest @ ..] = &path.segments[..] else { return Ok(()) };
        let at = cursor.span_of(first);
        if first.is_blank() && !rest.is_empty() {
            return self.run(&Group::One(Datum::Everything), rest, cursor);
        }
        let scope = cursor.scope;
        let current = &scope.current;
        match (&first.key, &current.datum) {
            (Key::Variable(name), _) => {
                let Some(value) = self.variable(name, cursor.scope, at)? else { return Ok(()) };
                if !self.is_kept(&value, first, cursor)? {
                    return Ok(());
                }
                self.run(&Group::One(value), rest, cursor)
            }
            // In a loop `.` is the item, whatever it is.
            (Key::Text(key), datum) if key == "." && !matches!(datum, Datum::Resource(_)) => {
                if !self.is_kept(datum, first, cursor)? {
                    return Ok(());
                }
                self.run(&Group::One(datum.clone()), rest, cursor)
            }
            (Key::Text(key), Datum::Resource(_)) if key.starts_with('.') => {
                self.run(&Group::One(current.datum.clone()), &path.segments, cursor)
            }
            (_, Datum::Resource(id)) if current.climbs => {
                let mut next = Some(*id);
                while let Some(resource) = next.filter(|_| cursor.found.is_empty()) {
                    self.run(&Group::One(Datum::Resource(resource)), &path.segments, cursor)?;
                    next = self.tree.parent(resource);
                }
                Ok(())
            }
            _ => self.run(&Group::One(current.datum.clone()), &path.segments, cursor),
        }
    }

    /// Applies segments to values; with `?` only the first value that leads to a result counts.
    fn run(&mut self, values: &Group, segments: &[Segment], cursor: &mut Cursor<'_>) -> Result<()> {
        let Some(segment) = segments.first() else { return self.collect(values, cursor) };
        let key = self.resolved(segment, cursor)?;
        let before = cursor.found.len();
        for position in 0..values.len() {
            self.spend(1, cursor.span_of(segment))?;
            let value = self.settled(values.at(position))?;
            if self.trace.is_on() {
                let on = Some(self.shown(&value));
                self.trace.open(TraceKind::Segment, &cursor.text[segment.range.clone()], on);
            }
            let verdict = self.step(&value, &key, segments, cursor)?;
            self.trace.close(verdict);
            if cursor.found.len() > before && (segment.takes_first || cursor.want == Want::Any) {
                break;
            }
        }
        Ok(())
    }

    /// Adds values that passed all segments to the matches.
    fn collect(&mut self, values: &Group, cursor: &mut Cursor<'_>) -> Result<()> {
        for position in 0..values.len() {
            if cursor.found.len() as u64 >= self.limits.expression_results {
                let limit = self.limits.expression_results;
                return Err(trouble::limit(cursor.node.span, "the number of matches", limit, "expression_results"));
            }
            cursor.found.push(self.settled(values.at(position))?);
            if cursor.want == Want::Any {
                break;
            }
        }
        Ok(())
    }

    /// Applies the first segment to one value, and the rest to what it gives.
    fn step(
        &mut self,
        value: &Datum,
        key: &Resolved,
        segments: &[Segment],
        cursor: &mut Cursor<'_>,
    ) -> Result<Verdict> {
        let [segment, rest @ ..] = segments else { return Ok(Verdict::Kept) };
        let at = cursor.span_of(segment);
        if *key == Resolved::Star
            && let Some(members) = self.members(value, at)?
        {
            return self.each_member(&members, segment, rest, cursor);
        }
        if !matches!(key, Resolved::Integer(..))
            && let Some(items) = value.items()
        {
            stacked(|| self.run(&items, segments, cursor))?;
            return Ok(Verdict::EachItem(items.len()));
        }
        let Some(part) = self.lookup(value, key, at)? else { return Ok(Verdict::Dropped("has no such key")) };
        if !self.is_kept(&part, segment, cursor)? {
            return Ok(Verdict::Dropped("does not pass"));
        }
        let verdict = Verdict::Gives(self.shown(&part));
        stacked(|| self.run(&Group::One(part), rest, cursor))?;
        Ok(verdict)
    }

    /// `*`: the values of a map that pass, as one group for what follows.
    fn each_member(
        &mut self,
        members: &Group,
        segment: &Segment,
        rest: &[Segment],
        cursor: &mut Cursor<'_>,
    ) -> Result<Verdict> {
        let before = cursor.found.len();
        let mut kept = Vec::new();
        for position in 0..members.len() {
            self.spend(1, cursor.span_of(segment))?;
            let value = self.settled(members.at(position))?;
            if !self.is_kept(&value, segment, cursor)? {
                continue;
            }
            if !segment.takes_first {
                kept.push(value);
                continue;
            }
            stacked(|| self.run(&Group::One(value), rest, cursor))?;
            if cursor.found.len() > before {
                return Ok(Verdict::Kept);
            }
        }
        let verdict = Verdict::EachItem(kept.len());
        stacked(|| self.run(&Group::Many(kept.into()), rest, cursor))?;
        Ok(verdict)
    }

    fn members(&mut self, value: &Datum, at: Span) -> Result<Option<Group>> {
        if let Datum::Everything = value {
            let all: Arc<[Datum]> = self.everything(at)?.iter().copied().map(Datum::Resource).collect();
            return Ok(Some(Group::Many(all)));
        }
        Ok(value.members())
    }

    /// One key in one value.
    fn lookup(&mut self, value: &Datum, key: &Resolved, at: Span) -> Result<Option<Datum>> {
        let (name, is_variable) = match key {
            Resolved::Empty => return Ok(Some(value.clone())),
            Resolved::Star | Resolved::Nothing => return Ok(None),
            Resolved::Integer(index, text) => match value.items() {
                Some(items) => {
                    return index.and_then(|index| item(&items, index)).map(|it| self.settled(it)).transpose();
                }
                None => (text, false),
            },
            Resolved::Text(text, is_variable) => (text, *is_variable),
        };
        match value {
            // A variable reaches attributes whose names look special.
            Datum::Resource(id) if name.starts_with('.') && (!is_variable || special::is_known(name)) => {
                self.special(*id, name, at)
            }
            Datum::Resource(id) => {
                let attribute = self.payload(*id, at)?.map(|payload| self.settled(payload)).transpose()?;
                let attribute = attribute.and_then(|payload| payload.member(name));
                attribute.map(|attribute| self.settled(attribute)).transpose()
            }
            Datum::Everything => Ok(self.named(name, at)?.map(Datum::Resource)),
            _ => value.member(name).map(|member| self.settled(member)).transpose(),
        }
    }

    fn resolved(&mut self, segment: &Segment, cursor: &Cursor<'_>) -> Result<Resolved> {
        let integer = |text: &SmolStr| Resolved::Integer(text.parse().ok(), text.clone());
        let name = match &segment.key {
            Key::Empty => return Ok(Resolved::Empty),
            Key::Star => return Ok(Resolved::Star),
            Key::Integer(text) => return Ok(integer(text)),
            Key::Text(text) => return Ok(Resolved::Text(text.clone(), false)),
            Key::Variable(name) => name,
        };
        let Some(datum) = self.variable(name, cursor.scope, cursor.span_of(segment))? else {
            return Ok(Resolved::Nothing);
        };
        if datum.is_secret() {
            return shows_a_secret(cursor.span_of(segment), "what this variable holds");
        }
        let Some(text) = datum.scalar_text() else { return Ok(Resolved::Nothing) };
        Ok(match datum.as_value() {
            Some(Value::Number(_)) if is_integer(&text) => integer(&text),
            _ if text.is_empty() => Resolved::Empty,
            _ => Resolved::Text(text, true),
        })
    }

    /// Whether a value passes the filters and the test of a segment.
    fn is_kept(&mut self, value: &Datum, segment: &Segment, cursor: &Cursor<'_>) -> Result<bool> {
        for filter in &segment.filters {
            if self.trace.is_on() {
                let on = Some(self.shown(value));
                self.trace.open(TraceKind::Filter, &cursor.text[filter.range.clone()], on);
            }
            let (node, text, scope) = (cursor.node, cursor.text, cursor.scope);
            let mut inner = Cursor { node, text, scope, want: Want::Any, found: Vec::new() };
            let values = Group::One(value.clone());
            self.deeper(cursor.span_of(segment), |it| it.run(&values, &filter.path.segments, &mut inner))?;
            let holds = inner.found.is_empty() == filter.is_negated;
            self.trace.close(if holds { Verdict::Kept } else { Verdict::Dropped("does not hold") });
            if !holds {
                return Ok(false);
            }
        }
        let Some(test) = &segment.test else { return Ok(true) };
        if self.trace.is_on() {
            let on = Some(self.shown(value));
            self.trace.open(TraceKind::Test, &test.to_string(), on);
        }
        let holds = self.is_equal(value, test, cursor.scope, cursor.span_of(segment))? != test.is_negated;
        self.trace.close(if holds { Verdict::Kept } else { Verdict::Dropped("does not hold") });
        Ok(holds)
    }

    fn is_equal(&mut self, value: &Datum, test: &Test, scope: &Scope, at: Span) -> Result<bool> {
        match &test.against {
            Against::Text(text) => Ok(is_text_equal(value, text)),
            Against::Variable(name) => match self.variable(name, scope, at)? {
                Some(other) => self.is_same(value, &other, at),
                None => Ok(false),
            },
        }
    }

    /// Deep equality without conversion; a resource equals itself alone.
    pub(super) fn is_same(&mut self, a: &Datum, b: &Datum, at: Span) -> Result<bool> {
        if let (Datum::Resource(a), Datum::Resource(b)) = (a, b) {
            return Ok(a == b);
        }
        if matches!(a, Datum::Resource(_)) || matches!(b, Datum::Resource(_)) {
            return Ok(false);
        }
        let (a, b) = (self.exported(a, at)?, self.exported(b, at)?);
        // Comparing costs a look at every value, unless the sizes say that they differ.
        self.spend(a.size().min(b.size()), at)?;
        if a.is_equal(&b) || a.size() != b.size() {
            return Ok(a.is_equal(&b));
        }
        // Whether two values are equal may be known even of secrets.
        let (open_a, open_b) = (opened(&a), opened(&b));
        let is_hidden = open_a.is_some() || open_b.is_some();
        Ok(is_hidden && open_a.unwrap_or(a).is_equal(&open_b.unwrap_or(b)))
    }
}

impl Cursor<'_> {
    fn span_of(&self, segment: &Segment) -> Span {
        place(self.node, &segment.range)
    }
}

/// Long paths through deep lists need more stack than there may be.
fn stacked<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, work)
}

/// An item by its index, from the end if it is negative.
fn item(items: &Group, index: i64) -> Option<Datum> {
    let length = i64::try_from(items.len()).ok()?;
    let position = if index < 0 { length.checked_add(index)? } else { index };
    let position = usize::try_from(position).ok()?;
    (position < items.len()).then(|| items.at(position))
}

/// A test against text, which is read as the type of the left side. Text that cannot be read as that type is not equal.
fn is_text_equal(value: &Datum, text: &str) -> bool {
    match value.as_value().map(beneath) {
        Some(Value::String(own)) => own == text,
        Some(Value::Bool(own)) => text.trim().eq_ignore_ascii_case(if *own { "true" } else { "false" }),
        Some(Value::Number(own)) => {
            let text = text.trim();
            let is_readable = !own.is_integer() || is_integer(text.strip_prefix('+').unwrap_or(text));
            let is_decimal = !text.starts_with("0x") && !text.starts_with("0o");
            is_readable && is_decimal && Number::from_yaml(text).is_some_and(|number| number.is_equal(own))
        }
        _ => false,
    }
}
