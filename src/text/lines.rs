//! Where the lines of a text start, so that a byte offset becomes a line.

use memchr::memchr_iter;

/// Byte offset to line, by binary search. Lines are counted from 0 here.
#[derive(Debug)]
pub struct LineIndex {
    starts: Starts,
    length: usize,
}

/// The first byte of each line.
#[derive(Debug)]
enum Starts {
    Plain(Box<[u32]>),
    /// For texts of which nothing else is kept: half the size.
    Packed {
        blocks: Box<[u32]>,
        within: Box<[u16]>,
    },
}

/// So many lines share a block, within which a line starts less than 64 KiB behind the first one.
const LINES: usize = 64;

impl LineIndex {
    pub(super) fn new(text: &str) -> Self {
        let feeds = memchr_iter(b'\n', text.as_bytes()).filter_map(|at| u32::try_from(at + 1).ok());
        let starts = Starts::Plain(std::iter::once(0).chain(feeds).collect());
        Self { starts, length: text.len() }
    }

    /// Needs less memory than before, unless lines are very long.
    pub(super) fn packed(self) -> Self {
        let Starts::Plain(starts) = &self.starts else { return self };
        let blocks = starts.chunks(LINES).map(|block| block[0]).collect();
        let within =
            starts.chunks(LINES).flat_map(|block| block.iter().map(|start| u16::try_from(start - block[0]).ok()));
        match within.collect() {
            Some(within) => Self { starts: Starts::Packed { blocks, within }, length: self.length },
            None => self,
        }
    }

    /// How long the text is.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The line that holds the byte.
    pub fn line_of(&self, offset: usize) -> usize {
        let above = match &self.starts {
            Starts::Plain(starts) => starts.partition_point(|&start| start as usize <= offset),
            Starts::Packed { blocks, within } => {
                let block = blocks.partition_point(|&start| start as usize <= offset).saturating_sub(1);
                let first = block * LINES;
                let lines = &within[first..(first + LINES).min(within.len())];
                let start = blocks[block] as usize;
                first + lines.partition_point(|&line| start + usize::from(line) <= offset)
            }
        };
        above.saturating_sub(1)
    }

    /// The first byte of a line; past the last line, the end of the text.
    pub fn start_of(&self, line: usize) -> usize {
        match &self.starts {
            Starts::Plain(starts) => starts.get(line).map_or(self.length, |&start| start as usize),
            Starts::Packed { blocks, within } => {
                let start = |&at: &u16| blocks[line / LINES] as usize + usize::from(at);
                within.get(line).map_or(self.length, start)
            }
        }
    }

    /// How many lines there are; a text without a line feed has one.
    pub fn count(&self) -> usize {
        match &self.starts {
            Starts::Plain(starts) => starts.len(),
            Starts::Packed { within, .. } => within.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_is_the_same(lengths in prop::collection::vec(prop_oneof![0..40_usize, 0..2_000_usize], 0..400)) {
            let lines: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            let text = lines.join("\n");
            let (plain, packed) = (LineIndex::new(&text), LineIndex::new(&text).packed());
            prop_assert_eq!(plain.count(), packed.count());
            prop_assert_eq!(plain.count(), text.matches('\n').count() + 1);
            for line in 0..=plain.count() {
                prop_assert_eq!(plain.start_of(line), packed.start_of(line));
            }
            for offset in (0..=text.len() + 1).step_by(7) {
                prop_assert_eq!(plain.line_of(offset), packed.line_of(offset));
            }
        }
    }

    #[test]
    fn very_long_lines_are_not_packed() {
        let text = format!("a\n{}\nb", "x".repeat(1 << 16));
        let lines = LineIndex::new(&text).packed();
        assert!(matches!(lines.starts, Starts::Plain(_)));
        assert_eq!((lines.count(), lines.line_of(text.len()), lines.start_of(1)), (3, 2, 2));
    }
}
