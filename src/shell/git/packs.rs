//! Objects of packs, for reading many of them in a row.
//!
//! Most objects of a pack are stored as the difference to another one, their base. gix keeps the last objects that it was asked for, but
//! neither their bases nor what lies between, so reading a whole tree inflates the same bases again and again. Here everything that is
//! unpacked on the way is kept for a while. What is unusual in any way is left to gix, which also says what is wrong with it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use gix::objs::Kind;
use gix::odb::pack::data;
use gix::odb::pack::data::entry::Header;

use super::pack_index::PackIndex;
use crate::shell::recent::Recent;

/// The packs of a repository and of those that it borrows objects from.
pub(super) struct Packs {
    packs: Vec<Pack>,
    /// Where the last object was found.
    last: AtomicUsize,
}

/// A pack. What cannot be read of it is left to gix.
struct Pack {
    /// The file of the index.
    path: PathBuf,
    hash: gix::hash::Kind,
    index: OnceLock<Option<PackIndex>>,
    data: OnceLock<Option<data::File>>,
}

/// Where an object is: the number of the pack, and the offset there.
pub(super) type Offset = (usize, data::Offset);

/// The longest chain of differences that is followed; git makes chains of 50, or of 250 if asked for small packs.
const LONGEST_CHAIN: usize = 4096;

impl Packs {
    /// The packs of directories of objects.
    pub(super) fn open(directories: &[PathBuf], hash: gix::hash::Kind) -> Self {
        let listed = directories.iter().filter_map(|objects| std::fs::read_dir(objects.join("pack")).ok());
        let paths = listed.flatten().filter_map(Result::ok).map(|file| file.path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "idx") && path.is_file())
            .collect();
        paths.sort();
        let packs = paths.into_iter().map(|path| Pack::new(path, hash)).collect();
        Self { packs, last: AtomicUsize::new(0) }
    }

    /// Where an object is, if it is in a pack. gix can find an object as well, but inflates it to do so.
    pub(super) fn find(&self, id: &gix::oid) -> Option<Offset> {
        let last = self.last.load(Ordering::Relaxed);
        let others = (0..self.packs.len()).filter(|number| *number != last);
        let (number, offset) =
            std::iter::once(last).chain(others).find_map(|number| Some((number, self.packs.get(number)?.find(id)?)))?;
        self.last.store(number, Ordering::Relaxed);
        Some((number, offset))
    }

    /// The indices of all packs; nothing if one of them cannot be read.
    pub(super) fn indices(&self) -> Option<Vec<&PackIndex>> {
        self.packs.iter().map(Pack::index).collect()
    }
}

impl Pack {
    fn new(path: PathBuf, hash: gix::hash::Kind) -> Self {
        Self { path, hash, index: OnceLock::new(), data: OnceLock::new() }
    }

    /// An index is read in place: to map it would make its pages part of what the run takes, and to check it takes longer than most runs.
    fn find(&self, id: &gix::oid) -> Option<data::Offset> {
        self.index()?.find(id.as_bytes())
    }

    fn index(&self) -> Option<&PackIndex> {
        self.index.get_or_init(|| PackIndex::open(&self.path, self.hash.len_in_bytes())).as_ref()
    }

    fn data(&self) -> Option<&data::File> {
        let open = || data::File::at(self.path.with_extension("pack"), self.hash).ok();
        self.data.get_or_init(open).as_ref()
    }
}

/// Unpacks objects. Each thread has its own.
pub(super) struct Unpacker {
    inflate: gix::zlib::Inflate,
    /// The instructions of the difference that is being applied.
    delta: Vec<u8>,
    /// What was unpacked lately.
    recent: Recent<Offset, Unpacked>,
    /// Larger objects than this are left to gix.
    most_bytes: u64,
}

/// An object.
#[derive(Clone)]
pub(super) struct Unpacked {
    pub kind: Kind,
    /// Most objects are only looked at, or are bases of others: a slice in the pointer would be one more copy of each.
    pub bytes: Arc<Vec<u8>>,
}

impl Unpacker {
    /// An unpacker that refuses objects of more than `most_bytes` and keeps about `kept_bytes`.
    pub(super) fn new(most_bytes: u64, kept_bytes: usize) -> Self {
        // The recent and the older ones have the same share.
        let recent = Recent::new(kept_bytes / 2);
        Self { inflate: gix::zlib::Inflate::default(), delta: Vec::new(), recent, most_bytes }
    }

    /// An object, if it is in a pack and there is nothing unusual about it.
    pub(super) fn read(&mut self, packs: &Packs, id: &gix::oid) -> Option<Unpacked> {
        let wanted = packs.find(id)?;
        let pack = packs.packs.get(wanted.0)?;
        let data = pack.data()?;
        let mut chain: Vec<(Offset, data::Entry)> = Vec::new();
        let mut at = wanted;
        let mut object = loop {
            if let Some(known) = self.recent.get(&at) {
                break known;
            }
            let entry = data.entry(at.1).ok()?;
            let base = match &entry.header {
                Header::OfsDelta { base_distance } => entry.checked_base_pack_offset(*base_distance)?,
                Header::RefDelta { base_id } => pack.find(base_id)?,
                _ => {
                    let object = self.full(data, &entry)?;
                    self.keep(at, &object);
                    break object;
                }
            };
            if chain.len() >= LONGEST_CHAIN {
                return None;
            }
            chain.push((at, entry));
            at.1 = base;
        };
        for (at, entry) in chain.into_iter().rev() {
            let size = self.size(entry.decompressed_size)?;
            self.delta.resize(size, 0);
            data.decompress_entry(&entry, &mut self.inflate, &mut self.delta).ok()?;
            let bytes = apply(&object.bytes, &self.delta, self.most_bytes)?;
            object = Unpacked { kind: object.kind, bytes: bytes.into() };
            self.keep(at, &object);
        }
        Some(object)
    }

    /// An object that is stored whole.
    fn full(&mut self, data: &data::File, entry: &data::Entry) -> Option<Unpacked> {
        let mut bytes = vec![0; self.size(entry.decompressed_size)?];
        data.decompress_entry(entry, &mut self.inflate, &mut bytes).ok()?;
        Some(Unpacked { kind: entry.header.as_kind()?, bytes: bytes.into() })
    }

    fn keep(&mut self, at: Offset, object: &Unpacked) {
        self.recent.keep(at, object.clone(), object.bytes.len());
    }

    fn size(&self, size: u64) -> Option<usize> {
        usize::try_from(size).ok().filter(|_| size <= self.most_bytes)
    }
}

/// Applies a difference to its base: a list of parts to copy from there, and of new bytes.
fn apply(base: &[u8], delta: &[u8], most_bytes: u64) -> Option<Vec<u8>> {
    let mut rest = delta;
    let base_size = size_in_front(&mut rest)?;
    let size = size_in_front(&mut rest).filter(|size| *size <= most_bytes)?;
    if base_size != base.len() as u64 {
        return None;
    }
    let size = usize::try_from(size).ok()?;
    let mut made = Vec::with_capacity(size);
    while let Some((&command, after)) = rest.split_first() {
        rest = after;
        let part = match command {
            0 => return None,
            new if new < 0x80 => {
                let (part, after) = rest.split_at_checked(usize::from(new))?;
                rest = after;
                part
            }
            copy => {
                let start = number(copy, 4, &mut rest)?;
                let length = match number(copy >> 4, 3, &mut rest)? {
                    0 => 0x1_0000,
                    length => length,
                };
                base.get(start..start.checked_add(length)?)?
            }
        };
        if part.len() > size - made.len() {
            return None;
        }
        made.extend_from_slice(part);
    }
    (made.len() == size).then_some(made)
}

/// A number of up to so many bytes, the lowest first; the bits say which of them are written, the others are zero.
fn number(bits: u8, most: u32, rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for at in (0..most).filter(|at| bits & (1 << at) != 0) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= usize::from(byte) << (8 * at);
    }
    Some(number)
}

/// A size: seven bits in each byte, the lowest first, until a byte has no eighth bit.
fn size_in_front(rest: &mut &[u8]) -> Option<u64> {
    let mut size = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        size |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_copy_parts_and_insert_bytes() {
        let base = b"a base of some length";
        // 21 bytes become 12: "base" from 2, then " and more".
        let delta = [&[21, 13, 0x80 | 0x01 | 0x10, 2, 4, 9][..], b" and more"].concat();
        assert_eq!(apply(base, &delta, 100).expect("it is in order"), b"base and more");
        assert_eq!(apply(base, &delta, 12), None, "more than is allowed");
        assert_eq!(apply(&base[1..], &delta, 100), None, "another base");
        for end in 0..delta.len() {
            assert_eq!(apply(base, &delta[..end], 100), None, "cut after {end} bytes");
        }
        assert_eq!(apply(base, &[21, 1, 0], 100), None, "a reserved instruction");
        assert_eq!(apply(base, &[21, 1, 2, b'a', b'b'], 100), None, "more bytes than announced");
        assert_eq!(apply(base, &[21, 4, 0x91, 19, 4], 100), None, "a part that the base does not have");
        assert_eq!(apply(base, &[0xff; 40], 100), None, "a size without an end");
    }

    #[test]
    fn a_copy_without_a_length_is_long() {
        let base = vec![7; 0x1_0000];
        let sizes = [0x80, 0x80, 0x04];
        let delta = [&sizes[..], &sizes, &[0x80]].concat();
        assert_eq!(apply(&base, &delta, 1 << 20).expect("it is in order"), base);
    }
}
