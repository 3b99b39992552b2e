//! The keys of resources that start with a dot.

use std::sync::Arc;

use super::datum::Datum;
use super::session::EvalSession;
use super::tree::ResourceId;
use super::trouble::{Result, fault, quoted};
use crate::finding;
use crate::suggest;
use crate::text::Span;

/// Every special key.
const KEYS: [&str; 14] = [
    ".",
    "..",
    ".name",
    ".path",
    ".file",
    ".kind",
    ".parents",
    ".ancestors",
    ".root",
    ".children",
    ".instances",
    ".descendents",
    ".descendants",
    ".all",
];

/// Whether a key is one of them.
pub(super) fn is_known(key: &str) -> bool {
    KEYS.contains(&key)
}

impl EvalSession<'_> {
    /// What a resource has under a special key.
    pub(super) fn special(&mut self, resource: ResourceId, key: &str, at: Span) -> Result<Option<Datum>> {
        let tree = self.tree;
        let list = |ids: Vec<ResourceId>| {
            let items: Arc<[Datum]> = ids.into_iter().map(Datum::Resource).collect();
            Some(Datum::List { items, at, height: 2 })
        };
        Ok(match key {
            "." => Some(Datum::Resource(resource)),
            ".." => tree.parent(resource).map(Datum::Resource),
            ".name" => Some(Datum::text(tree.name(resource), at)),
            ".path" => Some(Datum::text(tree.path(resource), at)),
            ".file" => tree.file(resource).map(|file| Datum::text(file, at)),
            ".kind" => tree.kind(resource).map(|kind| Datum::text(kind, at)),
            ".parents" => {
                let mut parents = self.ancestors(resource, at)?;
                parents.reverse();
                parents.pop();
                list(parents)
            }
            ".ancestors" => list(self.ancestors(resource, at)?),
            ".root" => self.ancestors(resource, at)?.pop().map(Datum::Resource),
            ".children" | ".instances" => {
                let children = tree.children(resource);
                self.spend(children.len() as u64, at)?;
                self.knows_all(at)?;
                list(children)
            }
            ".descendents" | ".descendants" => list(self.descendants(resource, at)?),
            ".all" => Some(Datum::Everything),
            _ => {
                let message = format!("{} is no special key of a resource", quoted(key));
                let finding = fault(&finding::EXPRESSION_UNKNOWN_SPECIAL_KEY, at, message).labelled("not known");
                let help = match suggest::nearest(key, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("special keys are {}", KEYS.map(|key| format!("`{key}`")).join(", ")),
                };
                return Err(finding.help(help).into());
            }
        })
    }

    /// A resource, its parent, and so on up to the root.
    pub(super) fn ancestors(&mut self, of: ResourceId, at: Span) -> Result<Vec<ResourceId>> {
        let mut found = vec![of];
        let mut next = self.tree.parent(of);
        while let Some(parent) = next {
            self.spend(1, at)?;
            found.push(parent);
            next = self.tree.parent(parent);
        }
        Ok(found)
    }

    /// A resource by its path, or by its name if no other has it.
    pub(super) fn named(&mut self, name: &str, at: Span) -> Result<Option<ResourceId>> {
        if let Some(found) = self.tree.by_path(name) {
            return Ok(Some(found));
        }
        let candidates = self.tree.by_name(name);
        self.knows_all(at)?;
        match candidates[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => {
                const SHOWN: usize = 8;
                let paths: Vec<String> = candidates.iter().take(SHOWN).map(|&id| quoted(&self.tree.path(id))).collect();
                let more = candidates.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let message = format!("{} is the name of several resources: {}{more}", quoted(name), paths.join(", "));
                let finding = fault(&finding::EXPRESSION_AMBIGUOUS_NAME, at, message).labelled("which one?");
                Err(finding.help("write the path of the one that is meant").into())
            }
        }
    }
}
