//! The cause of a change: where each side of a value is defined, and the steps from there to its resource.

use super::{Change, ResourceChange};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::text::{SourceId, Sources, Span};
use crate::value::{Node, Step, StepKind};

/// The causes of a change on both sides; a side without a value has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Causes {
    /// Cause of the value before.
    pub before: Option<Cause>,
    /// Cause of the value after.
    pub after: Option<Cause>,
}

/// Where a value is defined, and how it got into its resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Where the value is defined.
    pub at: FileSpan,
    /// The steps from there to the resource, in order.
    pub via: Vec<Via>,
    /// Whether there are more steps than that.
    pub is_cut: bool,
    /// Whether the value is defined in the resource's own file.
    pub is_own: bool,
}

/// One step from a definition to the resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Via {
    /// The kind of step.
    pub kind: StepKind,
    /// Where the step is defined.
    pub at: FileSpan,
    /// Whether that is the resource's own file.
    pub is_own: bool,
}

/// A span together with the file as the resource refers to it. Files with equal content are read once, so the span's source
/// may name another file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileSpan {
    /// The file.
    pub file: RepoPath,
    /// The bytes.
    pub span: Span,
}

/// Steps that are kept; longer chains are cut.
const LONGEST_WAY: usize = 32;

/// The file of a resource on one side, and the text that was read for it.
#[derive(Debug, Clone)]
pub struct HomeFile {
    /// The root of the repository, which is no file, for what a unit renders.
    file: RepoPath,
    source: Option<SourceId>,
}

impl HomeFile {
    /// The files of both sides of a resource. A side without the resource uses the file of the other. What a unit renders has no
    /// file of its own.
    pub fn both(of: &ResourceChange) -> [Option<Self>; 2] {
        let of_side = |side: &Resource| match side.unit {
            Some(_) => Self { file: RepoPath::root(), source: None },
            None => Self { file: side.file.clone(), source: Some(side.payload.span.source) },
        };
        let (before, after) = (of.before.as_ref(), of.after.as_ref());
        [before.or(after).map(of_side), after.or(before).map(of_side)]
    }
}

/// The causes of a change of a resource; computed once and stored on the change.
pub fn causes<'c>(change: &'c Change, of: &ResourceChange, sources: &Sources) -> &'c Causes {
    change.causes.get_or_init(|| Causes::new(change, &HomeFile::both(of), sources))
}

/// The causes of a change, with the files of its resource given; computed once and stored on the change. With `None` every value
/// counts as external.
pub fn causes_at<'c>(change: &'c Change, homes: &[Option<HomeFile>; 2], sources: &Sources) -> &'c Causes {
    change.causes.get_or_init(|| Causes::new(change, homes, sources))
}

impl Causes {
    fn new(change: &Change, homes: &[Option<HomeFile>; 2], sources: &Sources) -> Self {
        let cause =
            |node: &Option<Node>, home: &Option<HomeFile>| Some(Cause::new(node.as_ref()?, home.as_ref(), sources));
        let mut causes = Self { before: cause(&change.before, &homes[0]), after: cause(&change.after, &homes[1]) };
        causes.keep_differing_inputs(sources);
        causes
    }

    /// Leaves out the inputs of expressions that are the same on both sides: they made no difference.
    fn keep_differing_inputs(&mut self, sources: &Sources) {
        let words = |cause: &Option<Cause>| -> Vec<(RepoPath, String)> {
            let inputs = cause.iter().flat_map(|cause| &cause.via).filter(|via| via.kind == StepKind::Input);
            inputs.map(|via| input_text(via, sources)).collect()
        };
        let (before, after) = (words(&self.before), words(&self.after));
        for (cause, other) in [(&mut self.before, after), (&mut self.after, before)] {
            let Some(cause) = cause else { continue };
            cause.via.retain(|via| via.kind != StepKind::Input || !other.contains(&input_text(via, sources)));
        }
    }

    /// The causes of the sides that have a value, the older one first.
    pub fn sides(&self) -> impl Iterator<Item = &Cause> {
        self.before.iter().chain(&self.after)
    }

    /// Whether some side is defined outside of the resource's own file.
    pub fn is_external(&self) -> bool {
        self.sides().any(|side| !side.is_own)
    }

    /// Whether both sides are defined by equal text in one file, so that something else made the difference: an input of an
    /// expression, or a step from the definition to the resource.
    pub fn is_same_text(&self, sources: &Sources) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        let (old, new) = (sources.get(before.at.span.source), sources.get(after.at.span.source));
        before.at.file == after.at.file && old.part(before.at.span.range()) == new.part(after.at.span.range())
    }
}

fn input_text(via: &Via, sources: &Sources) -> (RepoPath, String) {
    let text = sources.get(via.at.span.source);
    (via.at.file.clone(), text.text.get(via.at.span.range()).unwrap_or_default().to_owned())
}

impl Cause {
    fn new(node: &Node, of: Option<&HomeFile>, sources: &Sources) -> Self {
        let (at, is_own) = place(node.span, of, sources);
        let mut steps: Vec<&Step> = node.steps().take(LONGEST_WAY + 1).collect();
        let is_cut = steps.len() > LONGEST_WAY;
        steps.truncate(LONGEST_WAY);
        let via = steps.iter().rev().map(|step| {
            let (at, is_own) = place(step.at, of, sources);
            Via { kind: step.kind, at, is_own }
        });
        Self { at, via: via.collect(), is_cut, is_own }
    }
}

/// The file and span, and whether it is in the resource's own file.
fn place(span: Span, of: Option<&HomeFile>, sources: &Sources) -> (FileSpan, bool) {
    let file = match of {
        Some(home) if home.source == Some(span.source) => home.file.clone(),
        _ => sources.get(span.source).path.clone(),
    };
    let is_own = of.is_some_and(|home| home.file == file);
    (FileSpan { file, span }, is_own)
}

impl FileSpan {
    /// Whether both start at the same offset of the same file. Sources are not compared, because a text may be read twice.
    pub fn is_same(&self, other: &Self) -> bool {
        self.span.start == other.span.start && self.file == other.file
    }
}
