//! The appearance of the output.

/// Everything a writer for people needs to know about the place it writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Columns of the terminal; 0 if there is none, so that lines may be as long as they are.
    pub width: usize,
    /// Whether a terminal shows the output: long values and lists are then shortened to what a person reads.
    pub is_terminal: bool,
    /// Whether colours may be used. They never carry anything that is not also said in characters.
    pub color: bool,
    /// Whether our own symbols must be ASCII.
    pub ascii: bool,
    /// How much to say: 0 cuts long values and says so, 1 shows everything and where it is written.
    pub verbosity: u8,
    /// Whether to list the changes that rules of the user take out.
    pub show_suppressed: bool,
    /// Whether a CI runner reads along, one that takes some lines as commands.
    pub in_ci: bool,
}

/// Wide enough for most lines, narrow enough for a log viewer; for layouts that need a width.
const UNKNOWN_WIDTH: usize = 100;
/// More columns than any line has.
const UNLIMITED: usize = 1 << 30;
/// Below this nothing can be laid out; lines may then be longer than the terminal.
const NARROWEST: usize = 20;

impl Style {
    /// The columns that a line may take.
    pub fn columns(&self) -> usize {
        match self.width {
            0 => UNLIMITED,
            width => width.max(NARROWEST),
        }
    }

    /// The columns of a layout that needs some width, such as two columns.
    pub fn finite_columns(&self) -> usize {
        match self.width {
            0 => UNKNOWN_WIDTH,
            width => width.max(NARROWEST),
        }
    }

    /// Whether long values may be shortened. Through a pipe and into a file everything goes whole.
    pub fn is_limited(&self) -> bool {
        self.is_terminal && self.verbosity == 0
    }

    /// Whether to show everything.
    pub fn is_verbose(&self) -> bool {
        self.verbosity > 0
    }

    /// The symbols to draw with.
    pub(super) fn symbols(&self) -> &'static Symbols {
        if self.ascii { &ASCII } else { &UNICODE }
    }
}

/// Everything we draw that is not plain text, in one of two alphabets.
#[derive(Debug)]
pub(super) struct Symbols {
    /// Marks a moved item or resource.
    pub moved: &'static str,
    /// Marks a reordered list.
    pub order: &'static str,
    /// A value that is never shown.
    pub secret: &'static str,
    /// From the old to the new.
    pub arrow: &'static str,
    /// Something was left out here.
    pub ellipsis: &'static str,
    /// From a string into the document it holds.
    pub embedded: &'static str,
    /// Between two columns.
    pub bar: &'static str,
    /// A blank that would otherwise not be seen.
    pub space: &'static str,
    /// The one that counts.
    pub winner: &'static str,
    /// How often.
    pub times: &'static str,
}

static UNICODE: Symbols = Symbols {
    moved: "»",
    order: "⇆",
    secret: "•",
    arrow: "→",
    ellipsis: "…",
    embedded: "›",
    bar: "│",
    space: "·",
    winner: "▸",
    times: "×",
};

static ASCII: Symbols = Symbols {
    moved: ">>",
    order: "<>",
    secret: "*",
    arrow: "->",
    ellipsis: "...",
    embedded: ">",
    bar: "|",
    space: "_",
    winner: ">",
    times: "x",
};
