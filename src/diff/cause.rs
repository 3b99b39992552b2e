//! Why a value changed: where each side of it is written, and what brought it from there to its resource.

use super::{Change, ResourceChange};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::text::{SourceId, Sources, Span};
use crate::value::{Node, Step, StepKind};

/// The causes of a change on both sides; a side without a value has none.
#[derive(Debug, Clone, Default)]
pub struct Causes {
    /// Of the value before.
    pub before: Option<Cause>,
    /// Of the value after.
    pub after: Option<Cause>,
}

/// Where a value is written and what brought it.
#[derive(Debug, Clone)]
pub struct Cause {
    /// Where it is written; of a map or a list, where that is.
    pub at: FileSpan,
    /// What brought it from there, in the order it happened.
    pub via: Vec<Via>,
    /// Whether the way is longer than that.
    pub is_cut: bool,
    /// Whether it is written in the resource's own file.
    pub is_own: bool,
}

/// One step on the way of a value.
#[derive(Debug, Clone)]
pub struct Via {
    /// What brought it.
    pub kind: StepKind,
    /// Where that is written.
    pub at: FileSpan,
    /// Whether that is the resource's own file.
    pub is_own: bool,
}

/// A place in a file, as the resource knows it: what stands in several files is read once, and its spans name only one of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileSpan {
    /// The file.
    pub file: RepoPath,
    /// The bytes.
    pub span: Span,
}

/// Nobody follows a longer way.
const LONGEST_WAY: usize = 32;

/// Where a resource stands on one side: its file, and the text that was read for it.
#[derive(Debug, Clone)]
pub struct HomeFile {
    file: RepoPath,
    source: SourceId,
}

impl HomeFile {
    /// Where both sides of a resource stand; what is missing on one side stands where the other does.
    pub fn both(of: &ResourceChange) -> [Option<Self>; 2] {
        let of_side = |side: &Resource| Self { file: side.file.clone(), source: side.payload.span.source };
        let (before, after) = (of.before.as_ref(), of.after.as_ref());
        [before.or(after).map(of_side), after.or(before).map(of_side)]
    }
}

/// Why a change of a resource came about.
pub fn causes(change: &Change, of: &ResourceChange, sources: &Sources) -> Causes {
    causes_at(change, &HomeFile::both(of), sources)
}

/// The same for whoever knows only where the resource stands, or not even that: then nothing is its own.
pub fn causes_at(change: &Change, homes: &[Option<HomeFile>; 2], sources: &Sources) -> Causes {
    let cause = |node: &Option<Node>, home: &Option<HomeFile>| Some(Cause::of(node.as_ref()?, home.as_ref(), sources));
    Causes { before: cause(&change.before, &homes[0]), after: cause(&change.after, &homes[1]) }
}

impl Causes {
    /// Both sides as far as they are there, the older one first.
    pub fn sides(&self) -> impl Iterator<Item = &Cause> {
        self.before.iter().chain(&self.after)
    }

    /// Whether some side is written, or was brought by something, outside of the resource's own file.
    pub fn is_external(&self) -> bool {
        self.sides().any(|side| !side.is_own)
    }

    /// Whether both sides are written at the same place of a file in the same words, so that something else made the difference:
    /// what an expression reads, or what brings the value.
    pub fn is_same_text(&self, sources: &Sources) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        let (old, new) = (sources.get(before.at.span.source), sources.get(after.at.span.source));
        before.at.file == after.at.file && old.text.get(before.at.span.range()) == new.text.get(after.at.span.range())
    }
}

impl Cause {
    fn of(node: &Node, of: Option<&HomeFile>, sources: &Sources) -> Self {
        let (at, is_own) = place(node.span, of, sources);
        let mut steps: Vec<&Step> =
            std::iter::successors(node.step(), |step| step.before.as_deref()).take(LONGEST_WAY + 1).collect();
        let is_cut = steps.len() > LONGEST_WAY;
        steps.truncate(LONGEST_WAY);
        let via = steps.iter().rev().map(|step| {
            let (at, is_own) = place(step.at, of, sources);
            Via { kind: step.kind, at, is_own }
        });
        Self { at, via: via.collect(), is_cut, is_own }
    }
}

/// A place, and whether it is in the resource's own file.
fn place(span: Span, of: Option<&HomeFile>, sources: &Sources) -> (FileSpan, bool) {
    let file = match of {
        Some(home) if home.source == span.source => home.file.clone(),
        _ => sources.get(span.source).path.clone(),
    };
    let is_own = of.is_some_and(|home| home.file == file);
    (FileSpan { file, span }, is_own)
}

impl FileSpan {
    /// Whether both are the same place of the same file, on one side of a comparison. A text that is read twice is two sources.
    pub fn is_same(&self, other: &Self) -> bool {
        self.span.start == other.span.start && self.file == other.file
    }
}
