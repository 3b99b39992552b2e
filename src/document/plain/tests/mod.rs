//! The fast way and the slow way read the same, and the fast way is taken where it should be.

mod corpus;
mod laws;
mod shapes;

use proptest::prelude::ProptestConfig;

use crate::document::{Document, split, yaml};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};

use super::super::problems::Problems;

/// Few random texts are plain, so more of them than usual.
fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(1000), ..usual }
}

/// Both ways on every piece of a text; says how many were plain, or panics where the two differ in anything at all.
fn compare(text: &str, limits: &Limits) -> usize {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
    let is_plain = |piece: std::ops::Range<usize>| {
        let Some(fast) = super::parse(text, piece.clone(), limits, &Problems::new(source)) else { return false };
        let mut problems = Problems::new(source);
        let mut slow = Vec::new();
        yaml::parse(text, piece, limits, &mut problems, &mut slow);
        assert_eq!(problems.into_findings(limits).len(), 0, "accepted, but there is something to say about {text:?}");
        // What is shown for debugging leaves nothing out: spans, kinds of keys, tags, steps, hashes.
        let (fast, slow) = (vec![fast], slow);
        let shown = |documents: &[Document]| format!("{documents:?}");
        if shown(&fast) != shown(&slow) {
            assert_eq!(format!("{fast:#?}"), format!("{slow:#?}"), "{text:?}");
        }
        true
    };
    split(text).into_iter().filter(|piece| is_plain(piece.clone())).count()
}
