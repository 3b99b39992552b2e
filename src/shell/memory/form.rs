//! The facts of a tree as bytes: small, and read in one go.
//!
//! Paths and names stand in one table and are named by their number, and so are sets of inputs; most trees say the same paths over
//! and over. Numbers take as few bytes as they need, seven bits in each.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::layout::{FileFacts, Found, IndexEntry, Input, Inputs, TreeFacts, UnitFacts};
use crate::path::RepoPath;
use crate::resource::Unit;

/// The facts as bytes.
pub(super) fn written(facts: &TreeFacts) -> Vec<u8> {
    let file_sets = facts.files.values().map(|file| &file.inputs);
    let found_sets = facts.finding.values().map(|found| &found.inputs);
    let unit_sets = facts.units.values().map(|unit| &unit.inputs);
    let mut sets = Sets::default();
    file_sets.chain(found_sets).chain(unit_sets).for_each(|set| sets.add(set));
    let mut out = Writer::default();
    out.list(sets.all.iter(), |out, set| out.list(set.iter(), Writer::input));
    out.list(facts.files.iter(), |out, (path, file)| {
        out.text(path.as_bytes());
        out.number(sets.number(&file.inputs));
        out.list(file.entries.iter(), |out, entry| {
            out.text(entry.index.as_bytes());
            out.text(entry.key.as_bytes());
        });
    });
    out.list(facts.finding.iter(), |out, (layout, found)| {
        out.text(layout.as_bytes());
        out.number(sets.number(&found.inputs));
        out.list(found.units.iter(), Writer::unit);
    });
    out.list(facts.units.iter(), |out, (unit, facts)| {
        out.unit(unit);
        out.number(sets.number(&facts.inputs));
        out.list(facts.found.iter(), Writer::unit);
        out.list(facts.shows.iter(), |out, path| out.text(path.as_bytes()));
        out.number(usize::from(facts.is_shown));
        out.number(usize::from(facts.is_broken));
    });
    out.finish()
}

/// Sets of inputs, each once. Those that are shared are known by their address.
#[derive(Default)]
struct Sets<'f> {
    numbers: HashMap<*const Input, usize>,
    all: Vec<&'f Inputs>,
}

impl<'f> Sets<'f> {
    fn add(&mut self, set: &'f Inputs) {
        let next = self.all.len();
        if *self.numbers.entry(set.as_ptr()).or_insert(next) == next {
            self.all.push(set);
        }
    }

    fn number(&self, set: &Inputs) -> usize {
        self.numbers.get(&set.as_ptr()).copied().unwrap_or_default()
    }
}

#[derive(Default)]
struct Writer<'f> {
    texts: HashMap<&'f [u8], usize>,
    table: Vec<u8>,
    body: Vec<u8>,
}

impl<'f> Writer<'f> {
    fn number(&mut self, number: usize) {
        push_number(&mut self.body, number);
    }

    fn text(&mut self, text: &'f [u8]) {
        let next = self.texts.len();
        let number = *self.texts.entry(text).or_insert(next);
        if number == next {
            push_number(&mut self.table, text.len());
            self.table.extend_from_slice(text);
        }
        self.number(number);
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.number(items.len());
        items.for_each(|item| write(self, item));
    }

    fn unit(&mut self, unit: &'f Unit) {
        self.text(unit.layout.as_bytes());
        self.text(unit.key.as_bytes());
    }

    fn input(&mut self, input: &'f Input) {
        let (kind, path) = match input {
            Input::File(path) => (b'f', path),
            Input::Absent(path) => (b'a', path),
            Input::Listing(path) => (b'l', path),
            Input::Subtree(path) => (b's', path),
            Input::Lookup { from, .. } => (b'i', from),
            Input::Index(index) => {
                self.body.push(b'x');
                return self.text(index.as_bytes());
            }
            Input::Output(unit) => {
                self.body.push(b'o');
                return self.unit(unit);
            }
        };
        self.body.push(kind);
        self.text(path.as_bytes());
        if let Input::Lookup { index, key, .. } = input {
            self.text(index.as_bytes());
            self.text(key.as_bytes());
        }
    }

    /// The table, then everything that refers to it.
    fn finish(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.table.len() + self.body.len() + 10);
        push_number(&mut all, self.texts.len());
        all.extend(self.table);
        all.extend(self.body);
        all
    }
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The facts in some bytes; nothing if these were not written by [`written`].
pub(super) fn read(bytes: &[u8]) -> Option<TreeFacts> {
    let mut body = Body { left: bytes, table: &[] };
    let count = body.number()?;
    // Nothing is reserved: a wrong length must not be believed.
    let table: Vec<Text<'_>> = (0..count).map(|_| body.table_text()).collect::<Option<_>>()?;
    let mut body = Body { left: body.left, table: &table };
    let facts = body.facts()?;
    body.left.is_empty().then_some(facts)
}

/// A text of the table, as what it was asked for.
struct Text<'b> {
    bytes: &'b [u8],
    path: OnceCell<Option<RepoPath>>,
    name: OnceCell<Option<SmolStr>>,
}

/// The bytes that are left to read.
struct Body<'b> {
    left: &'b [u8],
    table: &'b [Text<'b>],
}

impl<'b> Body<'b> {
    fn facts(&mut self) -> Option<TreeFacts> {
        let sets: Vec<Inputs> = self.list(|body| Some(body.list(Body::input)?.into()))?;
        let files = self.list(|body| {
            let path = body.path()?;
            let inputs = body.set(&sets)?;
            let entries = body.list(|body| Some(IndexEntry { index: body.name()?, key: body.name()? }))?;
            Some((path, FileFacts { inputs, entries }))
        })?;
        let finding = self.list(|body| {
            let layout = body.name()?;
            Some((layout, Found { inputs: body.set(&sets)?, units: body.list(Body::unit)? }))
        })?;
        let units = self.list(|body| {
            let unit = body.unit()?;
            let inputs = body.set(&sets)?;
            let (found, shows) = (body.list(Body::unit)?, body.list(Body::path)?);
            let (is_shown, is_broken) = (body.number()? == 1, body.number()? == 1);
            Some((unit, UnitFacts { inputs, found, shows, is_shown, is_broken }))
        })?;
        let (finding, units) = (finding.into_iter().collect(), units.into_iter().collect());
        Some(TreeFacts { files: Arc::new(files.into_iter().collect()), finding, units })
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.left.split_first()?;
            self.left = rest;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn table_text(&mut self) -> Option<Text<'b>> {
        let length = self.number()?;
        let (bytes, rest) = self.left.split_at_checked(length)?;
        self.left = rest;
        Some(Text { bytes, path: OnceCell::new(), name: OnceCell::new() })
    }

    fn text(&mut self) -> Option<&'b Text<'b>> {
        let number = self.number()?;
        self.table.get(number)
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| read(self)).collect()
    }

    fn name(&mut self) -> Option<SmolStr> {
        let text = self.text()?;
        text.name.get_or_init(|| std::str::from_utf8(text.bytes).ok().map(SmolStr::new)).clone()
    }

    fn path(&mut self) -> Option<RepoPath> {
        let text = self.text()?;
        text.path.get_or_init(|| RepoPath::new(text.bytes).ok()).clone()
    }

    fn unit(&mut self) -> Option<Unit> {
        Some(Unit { layout: self.name()?, key: self.name()? })
    }

    fn set(&mut self, sets: &[Inputs]) -> Option<Inputs> {
        sets.get(self.number()?).cloned()
    }

    fn input(&mut self) -> Option<Input> {
        let (kind, rest) = self.left.split_first()?;
        self.left = rest;
        Some(match kind {
            b'f' => Input::File(self.path()?),
            b'a' => Input::Absent(self.path()?),
            b'l' => Input::Listing(self.path()?),
            b's' => Input::Subtree(self.path()?),
            b'i' => Input::Lookup { from: self.path()?, index: self.name()?, key: self.name()? },
            b'x' => Input::Index(self.name()?),
            b'o' => Input::Output(self.unit()?),
            _ => return None,
        })
    }
}
