//! Indices of packs, read in place: an object is found with two small reads, however large the index is.
//!
//! gix maps an index and checks its whole table of offsets when it opens it. In a large repository that takes longer than comparing two
//! commits.

use std::cmp::Ordering;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// An index of the second version, which git has written since 2007.
pub(super) struct PackIndex {
    file: File,
    /// How many ids begin with a byte, or with a smaller one.
    fan: Vec<u32>,
    id_length: usize,
}

const HEADER: usize = 8;
const FAN: usize = 256;
/// A signature and the number of the version.
const SECOND_VERSION: [u8; HEADER] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

impl PackIndex {
    /// Opens an index. Nothing for one of the first version, and for what is no index.
    pub(super) fn open(path: &Path, id_length: usize) -> Option<Self> {
        let file = File::open(path).ok()?;
        let mut start = [0; HEADER + FAN * 4];
        read_at(&file, &mut start, 0)?;
        let (header, table) = start.split_at(HEADER);
        let fan: Vec<u32> = table.chunks_exact(4).map(number).collect();
        let is_sound = header == SECOND_VERSION && fan.is_sorted();
        let index = Self { file, fan, id_length };
        (is_sound && index.file.metadata().ok()?.len() >= index.offsets_end()).then_some(index)
    }

    /// How many objects the pack has.
    pub(super) fn count(&self) -> u32 {
        self.fan.last().copied().unwrap_or_default()
    }

    /// Where an object is in the pack.
    pub(super) fn find(&self, id: &[u8]) -> Option<u64> {
        self.position(id)?.ok().and_then(|position| self.offset(position))
    }

    /// How many hexadecimal digits an id shares with the most similar other one; nothing if the index cannot be read.
    pub(super) fn shared_digits(&self, id: &[u8]) -> Option<usize> {
        let (before, after) = match self.position(id)? {
            Ok(position) => (position.checked_sub(1), position + 1),
            Err(position) => (position.checked_sub(1), position),
        };
        let neighbours = before.into_iter().chain((after < self.count()).then_some(after));
        neighbours
            .map(|position| Some(shared_digits(id, &self.ids(position..position + 1)?)))
            .try_fold(0, |most, shared| Some(most.max(shared?)))
    }

    /// At most two ids that begin with these hexadecimal digits, of which `least` is the first possible one.
    pub(super) fn beginning(&self, least: &[u8], digits: usize) -> Option<Vec<Vec<u8>>> {
        let start = self.position(least)?.unwrap_or_else(|position| position);
        let listed = self.ids(start..self.count().min(start.saturating_add(2)))?;
        let is_meant = |id: &&[u8]| shared_digits(least, id) >= digits;
        Some(listed.chunks_exact(self.id_length).take_while(is_meant).map(<[u8]>::to_vec).collect())
    }

    /// The position of an id, or the one that it would have.
    fn position(&self, id: &[u8]) -> Option<Result<u32, u32>> {
        let first = usize::from(*id.first()?);
        let mut low = if first == 0 { 0 } else { self.fan[first - 1] };
        let mut high = self.fan[first];
        while low < high {
            let expected = low + share(high - low, id);
            // Ids are spread evenly, so that one is hardly ever farther away than the square root of their number.
            let width = (high - low).isqrt() + 8;
            let window = expected.saturating_sub(width).max(low)..expected.saturating_add(width).min(high);
            let ids = self.ids(window.clone())?;
            let mut listed = ids.chunks_exact(self.id_length);
            let (least, most) = (listed.next()?, listed.next_back().unwrap_or(&ids));
            if id < least && window.start > low {
                high = window.start;
            } else if id > most && window.end < high {
                low = window.end;
            } else {
                return Some(
                    position_in(&ids, self.id_length, id).map(|at| at + window.start).map_err(|at| at + window.start),
                );
            }
        }
        Some(Err(low))
    }

    fn ids(&self, positions: Range<u32>) -> Option<Vec<u8>> {
        let mut ids = vec![0; positions.len() * self.id_length];
        read_at(&self.file, &mut ids, self.ids_start() + u64::from(positions.start) * self.id_length as u64)?;
        Some(ids)
    }

    /// An offset of less than two gigabytes has four bytes; the others are in a table of their own.
    fn offset(&self, position: u32) -> Option<u64> {
        let mut short = [0; 4];
        read_at(&self.file, &mut short, self.offsets_start() + u64::from(position) * 4)?;
        let short = u32::from_be_bytes(short);
        let large = short & !LARGE;
        if short == large {
            return Some(u64::from(short));
        }
        let mut long = [0; 8];
        read_at(&self.file, &mut long, self.offsets_end() + u64::from(large) * 8)?;
        Some(u64::from_be_bytes(long))
    }

    fn ids_start(&self) -> u64 {
        (HEADER + FAN * 4) as u64
    }

    /// Behind the ids there are four bytes of checksum for each object.
    fn offsets_start(&self) -> u64 {
        self.ids_start() + u64::from(self.count()) * (self.id_length as u64 + 4)
    }

    fn offsets_end(&self) -> u64 {
        self.offsets_start() + u64::from(self.count()) * 4
    }
}

/// Marks the position of a large offset.
const LARGE: u32 = 1 << 31;

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The share of a number that is to an id, among those with the same first byte, what its further bytes are to all of them.
fn share(number: u32, id: &[u8]) -> u32 {
    let place = id.iter().skip(1).take(4).fold(0_u64, |place, byte| place << 8 | u64::from(*byte));
    ((u64::from(number) * place) >> 32) as u32
}

/// The position of an id among sorted ones, or the one that it would have.
fn position_in(ids: &[u8], length: usize, id: &[u8]) -> Result<u32, u32> {
    let (mut low, mut high) = (0, ids.len() / length);
    while low < high {
        let middle = low.midpoint(high);
        match ids[middle * length..][..length].cmp(id) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle as u32),
            Ordering::Greater => high = middle,
        }
    }
    Err(low as u32)
}

/// How many hexadecimal digits two ids have in common at their start.
pub(super) fn shared_digits(one: &[u8], other: &[u8]) -> usize {
    let digit = |id: &[u8], at: usize| Some(id.get(at / 2)? >> (4 * ((at + 1) % 2)) & 0xf);
    (0..one.len() * 2).take_while(|at| digit(one, *at) == digit(other, *at)).count()
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> Option<()> {
    use std::os::unix::fs::FileExt as _;
    file.read_exact_at(bytes, offset).ok()
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> Option<()> {
    use std::os::windows::fs::FileExt as _;
    while !bytes.is_empty() {
        let read = file.seek_read(bytes, offset).ok().filter(|read| *read > 0)?;
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    /// An index of these ids, sorted; the offset of each is given.
    fn written(ids: &[([u8; 20], u64)]) -> tempfile::NamedTempFile {
        let mut bytes = SECOND_VERSION.to_vec();
        for first in 0..=255_u8 {
            let count = ids.iter().filter(|(id, _)| id[0] <= first).count() as u32;
            bytes.extend(count.to_be_bytes());
        }
        ids.iter().for_each(|(id, _)| bytes.extend(id));
        bytes.extend(vec![0; ids.len() * 4]);
        let mut large = Vec::new();
        for (_, offset) in ids {
            let short = u32::try_from(*offset).ok().filter(|short| short & LARGE == 0);
            bytes.extend(short.unwrap_or(LARGE | large.len() as u32).to_be_bytes());
            large.extend(short.is_none().then_some(*offset));
        }
        large.iter().for_each(|offset| bytes.extend(offset.to_be_bytes()));
        bytes.extend([0; 40]);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    fn id(start: &[u8]) -> [u8; 20] {
        std::array::from_fn(|at| start.get(at).copied().unwrap_or_default())
    }

    proptest! {
        /// What is in an index is found at its place, and nothing else is, however unevenly ids are spread.
        #[test]
        fn what_is_there_is_found(
            starts in prop::collection::btree_map(prop::collection::vec(prop_oneof![Just(0_u8), Just(7), any::<u8>()], 1..4), any::<u64>(), 0..2000),
            other in prop::collection::vec(any::<u8>(), 1..4),
        ) {
            let ids: std::collections::BTreeMap<[u8; 20], u64> = starts.iter().map(|(start, at)| (id(start), at >> 8)).collect();
            let listed: Vec<([u8; 20], u64)> = ids.iter().map(|(id, at)| (*id, *at)).collect();
            let file = written(&listed);
            let index = PackIndex::open(file.path(), 20).expect("it is in order");
            prop_assert_eq!(index.count() as usize, ids.len());
            for (id, offset) in &ids {
                prop_assert_eq!(index.find(id), Some(*offset));
                let shared = ids.keys().filter(|it| *it != id).map(|it| shared_digits(id, it)).max();
                prop_assert_eq!(index.shared_digits(id), Some(shared.unwrap_or_default()));
            }
            prop_assert_eq!(index.find(&id(&other)), ids.get(&id(&other)).copied());
        }
    }

    #[test]
    fn what_is_no_index_is_left_to_others() {
        let whole = written(&[(id(&[1]), 12), (id(&[200, 3]), 5 << 32)]);
        let bytes = std::fs::read(whole.path()).unwrap();
        let opened = |bytes: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(bytes).unwrap();
            PackIndex::open(file.path(), 20).is_some()
        };
        assert!(opened(&bytes));
        assert!(!opened(&bytes[8..]), "the first version has no header");
        assert!(!opened(&bytes[..1060]), "cut off");
        let mut descending = bytes.clone();
        descending[8] = 9;
        assert!(!opened(&descending));
    }
}
