//! The facts of a tree as bytes: small, and read without taking apart what is known about units.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::packed::{Cursor, Packed, Writer};
use super::{FileFacts, Found, IndexEntry, Input, Inputs, TreeFacts, UnitFacts};
use crate::path::RepoPath;
use crate::resource::Unit;

impl TreeFacts {
    /// The facts as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let file_sets = self.files.values().map(|file| &file.inputs);
        let found_sets = self.finding.values().map(|found| &found.inputs);
        let mut sets = Sets::default();
        file_sets.chain(found_sets).for_each(|set| sets.add(set));
        let mut out = Writer::default();
        out.list(sets.all.iter(), |out, set| out.list(set.iter(), Writer::input));
        out.list(self.files.iter(), |out, (path, file)| {
            out.text(path.as_bytes());
            out.number(sets.number(&file.inputs));
            out.list(file.entries.iter(), |out, entry| {
                out.text(entry.index.as_bytes());
                out.text(entry.key.as_bytes());
            });
        });
        out.list(self.finding.iter(), |out, (layout, found)| {
            out.text(layout.as_bytes());
            out.number(sets.number(&found.inputs));
            out.list(found.units.iter(), Writer::unit);
        });
        out.list(self.units.iter(), |out, (unit, facts)| {
            out.unit(unit);
            out.input_set(&facts.inputs);
            out.list(facts.found.iter(), Writer::unit);
            out.path_list(&facts.shows);
            out.number(usize::from(facts.is_shown));
            out.number(usize::from(facts.is_broken));
        });
        out.finish()
    }

    /// The facts in some bytes; nothing if these were not written by [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let packed = Arc::new(Packed::new(bytes)?);
        let mut names = Names { known: vec![None; packed.text_count()] };
        let mut body = packed.body();
        let facts = names.facts(&mut body, &packed)?;
        body.is_at_end().then_some(facts)
    }
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

/// The names that were made of texts, each once.
struct Names {
    known: Vec<Option<SmolStr>>,
}

impl Names {
    fn facts(&mut self, body: &mut Cursor<'_>, packed: &Arc<Packed>) -> Option<TreeFacts> {
        let sets: Vec<Inputs> = body.list(|body| Some(body.list(|body| body.input()?.to_input())?.into()))?;
        let files = self.list(body, |names, body| names.file(body, &sets))?;
        let finding = self.list(body, |names, body| {
            let layout = names.name(body)?;
            let inputs = sets.get(body.number()?)?.clone();
            Some((layout, Found { inputs, units: names.list(body, Self::unit)? }))
        })?;
        let units = self.list(body, |names, body| names.unit_facts(body, packed))?;
        let (finding, units) = (finding.into_iter().collect(), units.into_iter().collect());
        Some(TreeFacts { files: Arc::new(files.into_iter().collect()), finding, units })
    }

    fn file(&mut self, body: &mut Cursor<'_>, sets: &[Inputs]) -> Option<(RepoPath, FileFacts)> {
        let path = RepoPath::new(body.text()?).ok()?;
        let inputs = sets.get(body.number()?)?.clone();
        let entries =
            self.list(body, |names, body| Some(IndexEntry { index: names.name(body)?, key: names.name(body)? }))?;
        Some((path, FileFacts { inputs, entries: entries.into() }))
    }

    fn unit_facts(&mut self, body: &mut Cursor<'_>, packed: &Arc<Packed>) -> Option<(Unit, UnitFacts)> {
        let unit = self.unit(body)?;
        let inputs = body.input_set(packed)?;
        let found = self.list(body, Self::unit)?;
        let shows = body.path_list(packed)?;
        let (is_shown, is_broken) = (body.number()? == 1, body.number()? == 1);
        Some((unit, UnitFacts { inputs, found, shows, is_shown, is_broken }))
    }

    fn list<T>(
        &mut self,
        body: &mut Cursor<'_>,
        read: impl Fn(&mut Self, &mut Cursor<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let length = body.number()?;
        (0..length).map(|_| read(self, body)).collect()
    }

    fn unit(&mut self, body: &mut Cursor<'_>) -> Option<Unit> {
        Some(Unit { layout: self.name(body)?, key: self.name(body)? })
    }

    fn name(&mut self, body: &mut Cursor<'_>) -> Option<SmolStr> {
        let mut at = body.clone();
        let (number, text) = (at.text_number()?, body.text()?);
        let known = &mut self.known[number];
        if known.is_none() {
            *known = std::str::from_utf8(text).ok().map(SmolStr::new);
        }
        known.clone()
    }
}
