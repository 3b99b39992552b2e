//! Names the part of a value that is being checked.

use crate::sanitize;

/// A part of a value, or a branch of a schema that applies to it; written out only if something is wrong there.
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: PlaceStep<'p>,
}

/// One step down from the parent.
#[derive(Clone, Copy)]
pub(super) enum PlaceStep<'p> {
    Root,
    Key(&'p str),
    Item(usize),
    Branch(&'static str, usize),
}

impl<'p> Place<'p> {
    /// The checked value itself.
    pub(super) const ROOT: Self = Self { parent: None, step: PlaceStep::Root };

    /// A part of this part.
    pub(super) fn child<'c>(&'c self, step: PlaceStep<'c>) -> Place<'c> {
        Place { parent: Some(self), step }
    }

    /// The place as a person reads it: `$.tags[1]`.
    pub(super) fn to_text(&self) -> String {
        let mut steps: Vec<PlaceStep<'_>> =
            std::iter::successors(Some(self), |place| place.parent).map(|place| place.step).collect();
        steps.reverse();
        let written = steps.into_iter().map(|step| match step {
            PlaceStep::Root => "$".to_owned(),
            PlaceStep::Key(name) => format!(".{}", sanitize::inline(name)),
            PlaceStep::Item(position) => format!("[{position}]"),
            PlaceStep::Branch(keyword, position) => format!(" {keyword}[{position}]"),
        });
        written.collect()
    }
}
