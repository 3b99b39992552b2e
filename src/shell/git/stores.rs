//! Where objects are stored: packs, and files of single objects, of a repository and of those that it borrows objects from.

use std::path::{Path, PathBuf};

use gix::odb::loose;

use super::pack_index::shared_digits;
use super::packs::{Packs, Unpacked, Unpacker};

/// The stores of a repository. What is unusual in any way is left to gix.
pub(super) struct Stores {
    packs: Packs,
    files: Vec<loose::Store>,
    hash: gix::hash::Kind,
}

impl Stores {
    /// The stores of a directory of objects. Objects of more than `most_bytes` are left to gix.
    pub(super) fn open(objects: &Path, hash: gix::hash::Kind, most_bytes: u64) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let borrowed = gix::odb::alternate::resolve(objects.to_owned(), &here).unwrap_or_default();
        let directories: Vec<PathBuf> = std::iter::once(objects.to_owned()).chain(borrowed).collect();
        let options = loose::Options { alloc_limit_bytes: usize::try_from(most_bytes).ok(), ..Default::default() };
        let files = |directory: &PathBuf| loose::Store::at_opts(directory, hash, options);
        Self { packs: Packs::open(&directories, hash), files: directories.iter().map(files).collect(), hash }
    }

    pub(super) fn packs(&self) -> &Packs {
        &self.packs
    }

    /// An object, unless there is something unusual about it.
    pub(super) fn read(&self, unpacker: &mut Unpacker, id: &gix::oid) -> Option<Unpacked> {
        unpacker.read(&self.packs, id).or_else(|| {
            let mut bytes = Vec::new();
            let kind = self.files.iter().find_map(|files| Some(files.try_find(id, &mut bytes).ok()??.kind))?;
            Some(Unpacked { kind, bytes: bytes.into() })
        })
    }

    /// The only object whose id begins with these hexadecimal digits.
    pub(super) fn beginning(&self, digits: &str) -> Option<gix::ObjectId> {
        let most = self.hash.len_in_hex();
        let padded = format!("{digits:0<most$}");
        let least = gix::ObjectId::from_hex(padded.as_bytes()).ok().filter(|_| digits.len() >= FEWEST_DIGITS)?;
        let mut found = self.files_like(&least);
        found.retain(|id| shared_digits(id.as_bytes(), least.as_bytes()) >= digits.len());
        for index in self.packs.indices()? {
            let listed = index.beginning(least.as_bytes(), digits.len())?;
            found.extend(listed.iter().filter_map(|id| gix::ObjectId::try_from(id.as_slice()).ok()));
        }
        found.sort_unstable();
        found.dedup();
        if found.len() == 1 { found.pop() } else { None }
    }

    /// The number of hexadecimal digits that git shows of an id by default: enough for the number of objects, and for no other object to
    /// begin with them.
    pub(super) fn digits_of(&self, id: &gix::oid) -> Option<usize> {
        let (mut count, mut shared) = (0, 0);
        for index in self.packs.indices()? {
            count += u64::from(index.count());
            shared = shared.max(index.shared_digits(id.as_bytes())?);
        }
        let others = self.files_like(id).into_iter().filter(|other| **other != *id);
        let shared = others.map(|other| shared_digits(id.as_bytes(), other.as_bytes())).fold(shared, usize::max);
        let bits = (u64::BITS - count.leading_zeros()) as usize;
        Some(bits.div_ceil(2).max(FEWEST_SHOWN).max(shared + 1).min(self.hash.len_in_hex()))
    }

    /// The objects in files of their own whose ids begin with the same byte.
    fn files_like(&self, id: &gix::oid) -> Vec<gix::ObjectId> {
        let start = format!("{:02x}", id.first_byte());
        let listed = self.files.iter().filter_map(|files| std::fs::read_dir(files.path().join(&start)).ok());
        let names = listed.flatten().filter_map(|file| file.ok()?.file_name().into_string().ok());
        names.filter_map(|name| gix::ObjectId::from_hex(format!("{start}{name}").as_bytes()).ok()).collect()
    }
}

/// git takes no shorter abbreviations.
const FEWEST_DIGITS: usize = 4;
const FEWEST_SHOWN: usize = 7;
