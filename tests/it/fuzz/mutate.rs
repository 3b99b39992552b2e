//! Damage to bytes: a generator of random numbers, and what is done with them.

/// Numbers that are the same for the same seed.
pub(super) struct Random(u64);

/// Words that mean something to one of the languages, and bytes that mean something to terminals, runners and browsers.
const WORDS: &[&str] = &[
    "&a ",
    "*a",
    "<<: *a\n",
    "!!str ",
    "!!binary ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    ": ",
    "- ",
    "|\n",
    ">-\n",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    "#",
    "\t",
    "\u{feff}",
    "+include: a.yaml\n",
    "+/a",
    "+*a",
    "+%: whiteout",
    "+&: a",
    "{{",
    "}}",
    "{{range .l}}",
    "{{end}}",
    "{{../id}}",
    "${",
    "${resource.",
    ".map(x, x)",
    "eval: ",
    "{eval: '::a::b'}",
    ".children::",
    "::",
    "$start",
    "[?(@.a=='b')]",
    "/-",
    "~1",
    "op: move",
    "forEach: ",
    "jqExpression: ",
    "| map(.)",
    "recurse",
    "limit(3; ",
    "..",
    "kind: Secret\n",
    "stringData:\n",
    "null",
    "~",
    "1e400",
    "0x1F",
    "-0",
    "00",
    "1_000",
    ".nan",
    "true",
    "9999999999999999999999",
    "resources: [..]\n",
    "namePrefix: p-\n",
    "patches:\n",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "\u{85}",
    "\u{2028}",
    "\r",
    "\0",
    "\x07",
    "::error::x",
    "##[add-mask]x",
    "`",
    "```",
    "</details>",
    "<img src=x>",
    "@team",
    "|",
    "\\",
    "\u{fffd}",
    "é",
    "日本",
    "😀",
];

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Self(seed ^ 0x9e37_79b9_7f4a_7c15);
        for _ in 0..4 {
            random.number();
        }
        random
    }

    pub(super) fn number(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number below a limit; 0 if there is none.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { usize::try_from(self.number() % limit as u64).unwrap_or(0) }
    }

    /// One of several.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Bytes with a few damages.
    pub(super) fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.below(4) {
            self.damage_once(bytes, other);
        }
        bytes.truncate(64 << 10);
    }

    fn damage_once(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let (start, end) = self.range(bytes.len());
        match self.below(9) {
            0 if !bytes.is_empty() => bytes[start.min(end.saturating_sub(1))] ^= 1 << self.below(8),
            1 => drop(bytes.drain(start..end)),
            2 => {
                let copy = bytes[start..end].to_vec();
                let at = self.below(bytes.len() + 1);
                drop(bytes.splice(at..at, copy));
            }
            3 => {
                let (from, to) = self.range(other.len());
                drop(bytes.splice(start..start, other[from..to].iter().copied()));
            }
            4 => self.damage_lines(bytes),
            _ => {
                let word = self.pick(WORDS).as_bytes();
                drop(bytes.splice(start..start, word.iter().copied()));
            }
        }
    }

    /// Moves, repeats or indents a line.
    fn damage_lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return;
        }
        let (one, other) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(3) {
            0 => lines.swap(one, other),
            1 => lines.insert(other, lines[one].clone()),
            _ => drop(lines[one].splice(0..0, *b"  ")),
        }
        *bytes = lines.concat();
    }

    fn range(&mut self, length: usize) -> (usize, usize) {
        let start = self.below(length + 1);
        (start, (start + self.below(40)).min(length))
    }
}
