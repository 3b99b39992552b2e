//! The hash by which equal nodes are found, and damage of what was kept. A match of nodes is always verified, so a collision costs
//! time only.

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

/// A hasher that gives the same result in every run, so that the same input takes the same time.
pub fn hasher() -> FoldHasher<'static> {
    FoldHasher::with_seed(0x243f_6a88_85a3_08d3, SharedSeed::global_fixed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::hash::Hasher;

    fn hash(words: &[&[u8]]) -> u64 {
        let mut hasher = hasher();
        words.iter().for_each(|word| hasher.write(word));
        hasher.finish()
    }

    #[test]
    fn order_length_and_every_byte_matter() {
        assert_eq!(hash(&[b"ab", b"c"]), hash(&[b"ab", b"c"]));
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"c", b"ab"]));
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
        assert_ne!(hash(&[b"a\0"]), hash(&[b"a"]));
        let texts = (0..100_000).map(|at| format!("value-{}-{at}", at % 7));
        let hashes: BTreeSet<u64> = texts.map(|text| hash(&[text.as_bytes()])).collect();
        assert_eq!(hashes.len(), 100_000);
        let words: BTreeSet<u64> = (0..100_000_u64).map(|word| hash(&[&word.to_le_bytes()])).collect();
        assert_eq!(words.len(), 100_000);
    }
}
