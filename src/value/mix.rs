//! A fast hash for finding what may be equal; whoever finds a match still compares.

use std::hash::Hasher;

/// Folds 8 bytes at a time into the state by multiplication; the same on every machine and in every run.
pub(super) struct Mix(u64);

/// Odd, with bits all over: digits of π.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

impl Mix {
    pub(super) fn new() -> Self {
        Self(SEED)
    }

    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        // Both halves of the product matter; the rotation makes the order of words matter too.
        self.0 = (product as u64 ^ (product >> 64) as u64).rotate_left(23) ^ SEED;
    }
}

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.fold(u64::from_le_bytes(word)));
        let rest = rest.iter().rfold(0, |word, &byte| word << 8 | u64::from(byte));
        // The length keeps trailing zeros apart.
        self.fold(rest | (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, value: u8) {
        self.fold(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.fold(value);
    }

    fn write_i64(&mut self, value: i64) {
        self.fold(value.cast_unsigned());
    }

    fn write_usize(&mut self, value: usize) {
        self.fold(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.fold(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn hash(words: &[&[u8]]) -> u64 {
        let mut mix = Mix::new();
        words.iter().for_each(|word| mix.write(word));
        mix.finish()
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
