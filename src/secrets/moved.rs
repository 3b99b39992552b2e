//! Secrets that only one of two versions has: a value that left its secret place, or came to one, is as secret on the other side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::derived::{Needles, hide_needles, secrets_in};
use super::mask::secret;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::value::{Node, Secret, Value};

/// Secrets that another version of the same resources does not have as secrets.
#[derive(Debug, Default)]
pub struct MovedSecrets {
    /// The texts of all of them.
    forms: BTreeSet<String>,
    /// Those of each file, which are also looked for in longer texts.
    by_file: BTreeMap<RepoPath, Sought>,
    /// Those that are looked for in longer texts of every file.
    everywhere: Sought,
}

/// Secrets that are looked for in longer texts.
#[derive(Debug, Default)]
struct Sought {
    secrets: Vec<Secret>,
    needles: OnceLock<Needles>,
}

impl Sought {
    fn extend(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        self.secrets.extend(secrets);
        self.needles = OnceLock::new();
    }

    /// What is looked for is put in order once, not for every resource.
    fn hide(&self, payload: Node) -> Node {
        hide_needles(payload, self.needles.get_or_init(|| Needles::new(&self.secrets)))
    }
}

/// Shorter values are equal by chance too often.
const SHORTEST: usize = 6;
/// Shorter values are part of longer texts of other files by chance.
const LONG: usize = 12;

impl MovedSecrets {
    /// The secrets of these resources that the others do not have. All of them are hidden already. What resources and namespaces
    /// are called is in the open, also if a Secret mentions it.
    pub fn new<'r>(here: impl Iterator<Item = &'r Resource>, there: impl Iterator<Item = &'r Resource>) -> Self {
        let mut moved = Self::default();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let mut named = |resource: &'r Resource| {
            if let Identity::Kubernetes(name) = &resource.identity {
                names.extend([name.name.as_str(), name.namespace.as_str()]);
            }
            (&resource.file, secrets_in([&resource.payload]))
        };
        let here: Vec<(&RepoPath, Vec<Secret>)> = here.map(&mut named).collect();
        if here.iter().all(|(_, secrets)| secrets.is_empty()) {
            return moved;
        }
        let mut known: BTreeSet<String> =
            there.map(&mut named).flat_map(|(_, secrets)| secrets).flat_map(|secret| secret.forms()).collect();
        known.extend(names.into_iter().map(str::to_owned));
        for (file, secrets) in here {
            for secret in secrets.into_iter().filter(|secret| !secret.is_withheld()) {
                let forms = secret.forms();
                let length = forms.first().map_or(0, |form| form.chars().count());
                if length >= SHORTEST && !forms.first().is_some_and(|form| known.contains(form)) {
                    moved.forms.extend(forms);
                    moved.everywhere.extend((length >= LONG).then(|| secret.clone()));
                    moved.by_file.entry(file.clone()).or_default().extend([secret]);
                }
            }
        }
        moved
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.forms.extend(others.forms);
        for (file, sought) in others.by_file {
            self.by_file.entry(file).or_default().extend(sought.secrets);
        }
        self.everywhere.extend(others.everywhere.secrets);
        self
    }

    /// These, looked for in longer texts of every file.
    #[must_use]
    pub fn in_every_file(mut self) -> Self {
        let by_file = std::mem::take(&mut self.by_file);
        self.everywhere.extend(by_file.into_values().flat_map(|sought| sought.secrets));
        self
    }

    /// All of them.
    pub fn secrets(&self) -> Vec<Secret> {
        self.by_file.values().flat_map(|sought| &sought.secrets).cloned().collect()
    }

    /// These secrets, wherever they are.
    pub fn of(secrets: &[Secret]) -> Self {
        let mut moved = Self::default();
        for secret in secrets {
            let forms = secret.forms();
            let is_long = forms.first().is_some_and(|form| form.chars().count() >= LONG);
            moved.everywhere.extend(is_long.then(|| secret.clone()));
            moved.forms.extend(forms);
        }
        moved
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The resource with copies of these secrets hidden.
    #[must_use]
    pub fn hide(&self, resource: Resource) -> Resource {
        if self.is_empty() {
            return resource;
        }
        let payload = match self.by_file.get(&resource.file) {
            Some(sought) => sought.hide(resource.payload),
            None => resource.payload,
        };
        let payload = self.everywhere.hide(payload);
        Resource { payload: self.equal(&payload).unwrap_or(payload), ..resource }
    }

    fn equal(&self, node: &Node) -> Option<Node> {
        match &node.value {
            Value::Map(_) | Value::List(_) => node.map_children(|child| self.equal(child.node)),
            Value::String(text) => self.forms.contains(text.trim()).then(|| secret(node)),
            Value::Number(number) => self.forms.contains(number.as_str()).then(|| secret(node)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::resource::KubernetesName;
    use crate::testing::read;

    fn resource(kind: &str, name: &str, payload: Node) -> Resource {
        let [kind, name] = [kind, name].map(Into::into);
        let identity = Identity::Kubernetes(KubernetesName { group: "".into(), kind, namespace: "".into(), name });
        Resource { identity, file: RepoPath::root(), position: 0, payload, unit: None }
    }

    #[test]
    fn names_of_resources_are_no_secrets() {
        let hidden = read("{data: {bucket: results, password: hunter-2}}")
            .map_children(|data| data.node.map_children(|child| Some(secret(child.node))));
        let [mine, other] = [resource("Secret", "mine", hidden.unwrap()), resource("Namespace", "results", read("{}"))];
        let moved = MovedSecrets::new([&mine, &other].into_iter(), std::iter::empty());
        let user = resource("ConfigMap", "user", read("{namespace: results, copy: hunter-2}"));
        assert_eq!(to_inline(&moved.hide(user).payload), "{namespace: results, copy: •••}");
    }
}
