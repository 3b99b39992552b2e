//! Declarest resources: `<logical-path>/resource.*`, named by the directory, and the older form `<logical-path>.*`.

use super::{FileDocument, Layout, Named, Role};
use crate::resource::{Identity, kubernetes_name};

/// Files that hold one resource each, named by a logical path.
pub struct Declarest;

impl Layout for Declarest {
    fn name(&self) -> &'static str {
        "declarest"
    }

    fn recognise<'d>(&self, document: &FileDocument<'d>) -> Option<Vec<Named<'d>>> {
        let root = &document.document.root;
        let logical = match document.role {
            Role::Resource(logical) => logical,
            // A Kubernetes document beside resource directories has a name of its own.
            Role::LegacyResource(logical) if kubernetes_name(root).is_none() => logical,
            _ => return None,
        };
        document.is_only.then(|| vec![(Identity::Logical(logical.clone()), root)])
    }
}
