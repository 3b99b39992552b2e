//! Inputs and paths of units as bytes. An edit concerns few units, so that what is known about the others is never taken apart.
//!
//! Paths and names are in one table and are named by their number: most trees repeat the same paths. Numbers take as few bytes as
//! they need, seven bits in each.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::Input;
use crate::path::RepoPath;
use crate::resource::Unit;

/// Bytes, and a table of texts that are referred to by number.
#[derive(Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    texts: Vec<Range<usize>>,
    /// Where the table ends.
    body: usize,
}

impl Packed {
    /// Bytes that begin with a table; nothing if there is none.
    pub(super) fn new(bytes: Vec<u8>) -> Option<Self> {
        let mut packed = Self { bytes, texts: Vec::new(), body: 0 };
        let mut cursor = packed.at(0);
        // Nothing is reserved: a wrong length must not be believed.
        let count = cursor.number()?;
        let texts = (0..count).map(|_| cursor.range()).collect::<Option<Vec<_>>>()?;
        let body = cursor.at;
        (packed.texts, packed.body) = (texts, body);
        Some(packed)
    }

    /// Reads what follows the table.
    pub(super) fn body(&self) -> Cursor<'_> {
        self.at(self.body)
    }

    /// How many texts there are.
    pub(super) fn text_count(&self) -> usize {
        self.texts.len()
    }

    fn at(&self, at: usize) -> Cursor<'_> {
        Cursor { packed: self, at }
    }

    fn text(&self, number: usize) -> Option<&[u8]> {
        self.texts.get(number).and_then(|range| self.bytes.get(range.clone()))
    }
}

/// Reads packed bytes from some place on.
#[derive(Clone)]
pub(super) struct Cursor<'p> {
    packed: &'p Packed,
    at: usize,
}

impl<'p> Cursor<'p> {
    /// Whether everything was read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.packed.bytes.len()
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.packed.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn range(&mut self) -> Option<Range<usize>> {
        let length = self.number()?;
        let range = self.at..self.at.checked_add(length)?;
        self.packed.bytes.get(range.clone())?;
        self.at = range.end;
        Some(range)
    }

    /// The number of a text that there is.
    pub(super) fn text_number(&mut self) -> Option<usize> {
        self.number().filter(|number| *number < self.packed.texts.len())
    }

    pub(super) fn text(&mut self) -> Option<&'p [u8]> {
        let number = self.number()?;
        self.packed.text(number)
    }

    /// As many items as a number says.
    pub(super) fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| read(self)).collect()
    }

    pub(super) fn input(&mut self) -> Option<InputRef<'p>> {
        Some(match self.byte()? {
            FILE => InputRef::File(self.text()?),
            ABSENT => InputRef::Absent(self.text()?),
            LISTING => InputRef::Listing(self.text()?),
            SUBTREE => InputRef::Subtree(self.text()?),
            LOOKUP => InputRef::Lookup { from: self.text()?, index: self.text()?, key: self.text()? },
            INDEX => InputRef::Index(self.text()?),
            OUTPUT => InputRef::Output { layout: self.text()?, key: self.text()? },
            _ => return None,
        })
    }

    /// Goes past a list of inputs, which is left as it is.
    pub(super) fn input_set(&mut self, packed: &Arc<Packed>) -> Option<InputSet> {
        let at = self.at;
        for _ in 0..self.number()? {
            let kind = self.byte()?;
            for _ in 0..texts_of(kind)? {
                self.text_number()?;
            }
        }
        Some(InputSet { packed: Arc::clone(packed), at })
    }

    /// Goes past a list of paths, which is left as it is.
    pub(super) fn path_list(&mut self, packed: &Arc<Packed>) -> Option<PathList> {
        let at = self.at;
        for _ in 0..self.number()? {
            self.text_number()?;
        }
        Some(PathList { packed: Arc::clone(packed), at })
    }
}

const FILE: u8 = b'f';
const ABSENT: u8 = b'a';
const LISTING: u8 = b'l';
const SUBTREE: u8 = b's';
const LOOKUP: u8 = b'i';
const INDEX: u8 = b'x';
const OUTPUT: u8 = b'o';

/// How many texts follow the first byte of an input.
fn texts_of(kind: u8) -> Option<usize> {
    match kind {
        FILE | ABSENT | LISTING | SUBTREE | INDEX => Some(1),
        OUTPUT => Some(2),
        LOOKUP => Some(3),
        _ => None,
    }
}

/// An [`Input`] in packed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputRef<'p> {
    File(&'p [u8]),
    Absent(&'p [u8]),
    Listing(&'p [u8]),
    Subtree(&'p [u8]),
    Lookup { index: &'p [u8], key: &'p [u8], from: &'p [u8] },
    Index(&'p [u8]),
    Output { layout: &'p [u8], key: &'p [u8] },
}

impl InputRef<'_> {
    /// The input; nothing if these bytes cannot be one.
    pub(super) fn to_input(self) -> Option<Input> {
        let path = |bytes: &[u8]| RepoPath::new(bytes).ok();
        let name = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(Into::into);
        Some(match self {
            Self::File(bytes) => Input::File(path(bytes)?),
            Self::Absent(bytes) => Input::Absent(path(bytes)?),
            Self::Listing(bytes) => Input::Listing(path(bytes)?),
            Self::Subtree(bytes) => Input::Subtree(path(bytes)?),
            Self::Lookup { index, key, from } => {
                Input::Lookup { index: name(index)?, key: name(key)?, from: path(from)? }
            }
            Self::Index(bytes) => Input::Index(name(bytes)?),
            Self::Output { layout, key } => Input::Output(Unit { layout: name(layout)?, key: name(key)? }),
        })
    }
}

/// What a unit depends on.
#[derive(Clone)]
pub struct InputSet {
    packed: Arc<Packed>,
    at: usize,
}

impl InputSet {
    /// These inputs.
    pub fn new(inputs: &[Input]) -> Self {
        let mut out = Writer::default();
        out.list(inputs.iter(), Writer::input);
        let (packed, at) = out.packed();
        Self { packed, at }
    }

    fn cursor(&self) -> (usize, Cursor<'_>) {
        let mut cursor = self.packed.at(self.at);
        (cursor.number().unwrap_or_default(), cursor)
    }

    /// Its inputs, one by one.
    pub(super) fn iter(&self) -> impl Iterator<Item = InputRef<'_>> {
        let (count, mut cursor) = self.cursor();
        (0..count).map_while(move |_| cursor.input())
    }

    /// Whether it depends on the content of a file.
    pub fn reads(&self, path: &RepoPath) -> bool {
        self.iter().any(|input| input == InputRef::File(path.as_bytes()))
    }

    /// The units whose output it depends on.
    pub fn outputs(&self) -> impl Iterator<Item = Unit> {
        self.iter().filter(|input| matches!(input, InputRef::Output { .. })).filter_map(|input| {
            match input.to_input() {
                Some(Input::Output(unit)) => Some(unit),
                _ => None,
            }
        })
    }

    /// Whether a file is reached, or something holds for another input.
    pub(super) fn any(&self, reached: &mut ReachedFiles<'_>, holds: impl Fn(InputRef<'_>) -> bool) -> bool {
        let (count, mut cursor) = self.cursor();
        let files = reached.by_table.entry(Arc::as_ptr(&self.packed)).or_default();
        files.resize(self.packed.text_count(), None);
        (0..count).any(|_| match self.packed.bytes.get(cursor.at) {
            Some(&FILE | &ABSENT) => {
                cursor.at += 1;
                let Some(number) = cursor.text_number() else { return true };
                let text = self.packed.text(number).unwrap_or_default();
                *files[number].get_or_insert_with(|| (reached.is_reached)(text))
            }
            _ => cursor.input().is_none_or(&holds),
        })
    }
}

impl Default for InputSet {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl PartialEq for InputSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.packed, &other.packed) && self.at == other.at || self.iter().eq(other.iter())
    }
}

impl Eq for InputSet {}

impl fmt::Debug for InputSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Which files are reached; each text of a table is looked at once, however many units have it.
pub(super) struct ReachedFiles<'e> {
    is_reached: &'e dyn Fn(&[u8]) -> bool,
    by_table: HashMap<*const Packed, Vec<Option<bool>>>,
}

impl<'e> ReachedFiles<'e> {
    pub(super) fn new(is_reached: &'e dyn Fn(&[u8]) -> bool) -> Self {
        Self { is_reached, by_table: HashMap::new() }
    }
}

/// Paths in order.
#[derive(Clone)]
pub struct PathList {
    packed: Arc<Packed>,
    at: usize,
}

impl PathList {
    /// These paths.
    pub fn new(paths: &[RepoPath]) -> Self {
        let mut out = Writer::default();
        out.list(paths.iter(), |out, path| out.text(path.as_bytes()));
        let (packed, at) = out.packed();
        Self { packed, at }
    }

    fn numbers(&self) -> impl Iterator<Item = usize> {
        let mut cursor = self.packed.at(self.at);
        let count = cursor.number().unwrap_or_default();
        (0..count).map_while(move |_| cursor.text_number())
    }

    /// The bytes of each path.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.numbers().map_while(|number| self.packed.text(number))
    }
}

impl Default for PathList {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl PartialEq for PathList {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.packed, &other.packed) && self.at == other.at || self.iter().eq(other.iter())
    }
}

impl Eq for PathList {}

impl fmt::Debug for PathList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(String::from_utf8_lossy)).finish()
    }
}

/// The paths of many lists.
#[derive(Debug, Default)]
pub struct PathSet(HashSet<PathText>);

impl PathSet {
    /// Every path of these lists.
    pub fn of<'l>(lists: impl Iterator<Item = &'l PathList>) -> Self {
        let mut paths = HashSet::new();
        let mut known: HashMap<*const Packed, Vec<bool>> = HashMap::new();
        for list in lists {
            let known = known.entry(Arc::as_ptr(&list.packed)).or_default();
            known.resize(list.packed.text_count(), false);
            for number in list.numbers() {
                // Most paths are in many lists.
                if !std::mem::replace(&mut known[number], true) {
                    paths.insert(PathText { packed: Arc::clone(&list.packed), number });
                }
            }
        }
        Self(paths)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path is one of them.
    pub fn contains(&self, path: &RepoPath) -> bool {
        self.contains_bytes(path.as_bytes())
    }

    /// Whether the path of these bytes is one of them.
    pub fn contains_bytes(&self, path: &[u8]) -> bool {
        self.0.contains(path)
    }
}

/// A text of a table.
struct PathText {
    packed: Arc<Packed>,
    number: usize,
}

impl Borrow<[u8]> for PathText {
    fn borrow(&self) -> &[u8] {
        self.packed.text(self.number).unwrap_or_default()
    }
}

impl PartialEq for PathText {
    fn eq(&self, other: &Self) -> bool {
        Borrow::<[u8]>::borrow(self) == Borrow::<[u8]>::borrow(other)
    }
}

impl Eq for PathText {}

impl Hash for PathText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Borrow::<[u8]>::borrow(self).hash(state);
    }
}

impl fmt::Debug for PathText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(self.borrow()).fmt(f)
    }
}

/// Packs texts, numbers and lists.
#[derive(Default)]
pub(super) struct Writer<'f> {
    texts: HashMap<&'f [u8], usize>,
    table: Vec<u8>,
    body: Vec<u8>,
    /// The new numbers of texts of other tables.
    renumbered: HashMap<*const Packed, Vec<Option<usize>>>,
}

impl<'f> Writer<'f> {
    pub(super) fn number(&mut self, number: usize) {
        push_number(&mut self.body, number);
    }

    pub(super) fn text(&mut self, text: &'f [u8]) {
        let number = self.number_of(text);
        self.number(number);
    }

    fn number_of(&mut self, text: &'f [u8]) -> usize {
        let next = self.texts.len();
        let number = *self.texts.entry(text).or_insert(next);
        if number == next {
            push_number(&mut self.table, text.len());
            self.table.extend_from_slice(text);
        }
        number
    }

    pub(super) fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.number(items.len());
        items.for_each(|item| write(self, item));
    }

    pub(super) fn unit(&mut self, unit: &'f Unit) {
        self.text(unit.layout.as_bytes());
        self.text(unit.key.as_bytes());
    }

    pub(super) fn input(&mut self, input: &'f Input) {
        let (kind, texts): (u8, [Option<&[u8]>; 3]) = match input {
            Input::File(path) => (FILE, [Some(path.as_bytes()), None, None]),
            Input::Absent(path) => (ABSENT, [Some(path.as_bytes()), None, None]),
            Input::Listing(path) => (LISTING, [Some(path.as_bytes()), None, None]),
            Input::Subtree(path) => (SUBTREE, [Some(path.as_bytes()), None, None]),
            Input::Lookup { index, key, from } => {
                (LOOKUP, [Some(from.as_bytes()), Some(index.as_bytes()), Some(key.as_bytes())])
            }
            Input::Index(index) => (INDEX, [Some(index.as_bytes()), None, None]),
            Input::Output(unit) => (OUTPUT, [Some(unit.layout.as_bytes()), Some(unit.key.as_bytes()), None]),
        };
        self.body.push(kind);
        texts.into_iter().flatten().for_each(|text| self.text(text));
    }

    /// Copies a set of inputs.
    pub(super) fn input_set(&mut self, set: &'f InputSet) {
        let (count, mut cursor) = set.cursor();
        self.number(count);
        let mut numbers = self.renumbered_of(&set.packed);
        for _ in 0..count {
            let Some((kind, texts)) = cursor.byte().and_then(|kind| Some((kind, texts_of(kind)?))) else { break };
            self.body.push(kind);
            (0..texts).for_each(|_| self.copy_text(&set.packed, &mut cursor, &mut numbers));
        }
        self.renumbered.insert(Arc::as_ptr(&set.packed), numbers);
    }

    /// Copies a list of paths.
    pub(super) fn path_list(&mut self, list: &'f PathList) {
        let mut cursor = list.packed.at(list.at);
        let count = cursor.number().unwrap_or_default();
        self.number(count);
        let mut numbers = self.renumbered_of(&list.packed);
        (0..count).for_each(|_| self.copy_text(&list.packed, &mut cursor, &mut numbers));
        self.renumbered.insert(Arc::as_ptr(&list.packed), numbers);
    }

    fn renumbered_of(&mut self, packed: &Arc<Packed>) -> Vec<Option<usize>> {
        self.renumbered.remove(&Arc::as_ptr(packed)).unwrap_or_else(|| vec![None; packed.text_count()])
    }

    fn copy_text(&mut self, packed: &'f Packed, cursor: &mut Cursor<'_>, numbers: &mut [Option<usize>]) {
        let Some(old) = cursor.text_number() else { return };
        let text = packed.text(old).unwrap_or_default();
        let new = *numbers[old].get_or_insert_with(|| self.number_of(text));
        self.number(new);
    }

    /// The table, then everything that refers to it.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.table.len() + self.body.len() + 10);
        push_number(&mut all, self.texts.len());
        all.extend(self.table);
        all.extend(self.body);
        all
    }

    /// What was written, to be read, and where it begins.
    fn packed(self) -> (Arc<Packed>, usize) {
        let packed = Packed::new(self.finish()).unwrap_or_default();
        let body = packed.body;
        (Arc::new(packed), body)
    }
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
