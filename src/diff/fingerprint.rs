//! Stable ids for groups of changes, independent of unrelated commits, runs and machines.

use std::fmt;

use super::{Change, ChangeKind, PathStep};
use crate::document::Format;
use crate::value::{Key, KeyKind, Node, Value};

/// Twelve hexadecimal digits that depend on the change and on the files that cause it, but not on lines or secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:012x}", self.0 >> 16)
    }
}

/// FNV-1a over what is fed to it; each piece with its length, so that pieces cannot run into each other.
#[derive(Debug, Clone)]
pub struct Digest(u64);

impl Digest {
    /// Nothing fed yet.
    #[expect(clippy::new_without_default, reason = "a digest of nothing is never wanted")]
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Feeds a piece to it.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn mark(&mut self, mark: u8) {
        self.bytes(&[mark]);
    }

    /// What is left of everything; the last bytes reach all digits.
    pub fn finish(&self) -> Fingerprint {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Fingerprint(mixed ^ (mixed >> 29))
    }

    pub(super) fn kind(&mut self, kind: ChangeKind) {
        self.mark(match kind {
            ChangeKind::Add => b'+',
            ChangeKind::Remove => b'-',
            ChangeKind::Value => b'~',
            ChangeKind::Type => b'T',
            ChangeKind::Text => b'=',
            ChangeKind::Reorder => b'o',
            ChangeKind::Move => b'm',
        });
    }

    /// Adds the view and the path, with list items by their labels.
    pub(super) fn shape(&mut self, path: &[PathStep]) {
        for step in path {
            match step {
                PathStep::Key(key) => self.key(key),
                PathStep::Item { label: Some(label), .. } => {
                    self.mark(b'i');
                    self.bytes(label.as_bytes());
                }
                PathStep::Item { label: None, .. } => self.mark(b'*'),
                PathStep::Embedded(Format::Json) => self.mark(b'j'),
                PathStep::Embedded(Format::Yaml) => self.mark(b'y'),
                PathStep::Metadata => self.mark(b'M'),
                PathStep::Expression(_) => self.mark(b'E'),
                PathStep::Request(operation) => {
                    self.mark(b'R');
                    self.bytes(operation.as_bytes());
                }
            }
        }
    }

    fn key(&mut self, key: &Key) {
        self.mark(match key.kind {
            KeyKind::Text => b'k',
            KeyKind::Scalar => b'c',
            KeyKind::Collection => b'l',
        });
        self.bytes(key.name.as_bytes());
    }

    /// The values that all these changes have in common. Where one side is a secret, the other may have been one too; and where
    /// every resource has another value, there would be as many as resources.
    pub(super) fn values(&mut self, changes: &[&Change]) {
        let is_secret = |node: &Option<Node>| matches!(node, Some(Node { value: Value::Secret(_), .. }));
        if changes.iter().any(|change| is_secret(&change.before) || is_secret(&change.after)) {
            return self.mark(b'x');
        }
        let sides: [fn(&Change) -> &Option<Node>; 2] = [|change| &change.before, |change| &change.after];
        for side in sides {
            let mut values = changes.iter().filter_map(|change| side(change).as_ref());
            match values.next() {
                None => self.mark(b'0'),
                Some(first) if values.all(|value| value.is_identical(first)) => self.node(first),
                Some(_) => self.mark(b'v'),
            }
        }
    }

    fn node(&mut self, node: &Node) {
        if let Some(tag) = node.tag() {
            self.mark(b'!');
            self.bytes(tag.as_bytes());
        }
        match &node.value {
            Value::Null => self.mark(b'n'),
            Value::Bool(value) => self.mark(if *value { b't' } else { b'f' }),
            Value::Number(number) => {
                self.mark(b'd');
                self.bytes(number.as_str().as_bytes());
            }
            Value::String(text) => {
                self.mark(b's');
                self.bytes(text.as_bytes());
            }
            Value::List(list) => {
                self.mark(b'[');
                list.items().iter().for_each(|item| self.node(item));
                self.mark(b']');
            }
            Value::Map(map) => {
                let mut entries: Vec<_> = map.entries().iter().collect();
                entries.sort_by(|a, b| (&a.key.name, a.key.kind).cmp(&(&b.key.name, b.key.kind)));
                self.mark(b'{');
                for entry in entries {
                    self.key(&entry.key);
                    self.node(&entry.value);
                }
                self.mark(b'}');
            }
            Value::Secret(_) => self.mark(b'x'),
        }
    }
}

/// The fingerprint of some text.
pub fn digest_of(text: &[u8]) -> Fingerprint {
    let mut digest = Digest::new();
    digest.bytes(text);
    digest.finish()
}

impl From<Fingerprint> for u64 {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.0
    }
}
