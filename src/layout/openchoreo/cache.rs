//! What renderings of one snapshot share: types and traits, compiled once.

use std::sync::Arc;

use smol_str::SmolStr;

use super::definition::{DATA_PLANE, Definition};
use crate::expression::cel::Programs;
use crate::memo::Memo;
use crate::patch::CelReader;
use crate::path::RepoPath;
use crate::settings::Given;
use crate::value::Node;

/// Types and traits by where they are written, and expressions by their texts. Shared between threads.
#[derive(Debug, Default)]
pub(super) struct Cache {
    definitions: Memo<DefinitionPlace, Arc<Definition>>,
    programs: Programs,
}

/// Where a type or a trait is written: a document, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DefinitionPlace {
    pub(super) file: RepoPath,
    pub(super) position: usize,
    pub(super) part: SmolStr,
}

impl Cache {
    /// A type or a trait, compiled once.
    pub(super) fn definition(
        &self,
        place: DefinitionPlace,
        kind: &str,
        name: &str,
        spec: &Node,
        given: Given<'_>,
    ) -> Arc<Definition> {
        self.definitions.get(&place, || {
            let reader = CelReader {
                sources: given.sources,
                limits: given.limits,
                programs: Some(&self.programs),
                is_deferred: true,
            };
            Arc::new(Definition::read(kind, name, spec, DATA_PLANE, &reader))
        })
    }
}
