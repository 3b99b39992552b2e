//! Secrets that only one of two versions has: a value that left its secret place, or came to one, is as secret on the other side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::derived::{Needles, hide_needles, secrets_in};
use super::mask::secret;
use super::overridden::History;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::value::{Node, Secret, Value};

/// Secrets that another version of the same resources does not have as secrets.
#[derive(Debug, Default)]
pub struct MovedSecrets {
    /// The texts of all of them that are no words.
    forms: BTreeSet<String>,
    /// Those of each file, which are also looked for in longer texts. There words count, too.
    by_file: BTreeMap<RepoPath, Sought>,
    /// Those that are looked for in longer texts of every file.
    everywhere: Sought,
}

/// Secrets that are looked for in longer texts. Words are not: they are part of other words.
#[derive(Debug, Default)]
struct Sought {
    secrets: Vec<Secret>,
    needles: OnceLock<(BTreeSet<String>, Needles)>,
}

impl Sought {
    fn extend(&mut self, secrets: impl IntoIterator<Item = Secret>) {
        self.secrets.extend(secrets);
        self.needles = OnceLock::new();
    }

    /// What is looked for is put in order once, not for every resource.
    fn hide(&self, payload: Node) -> Node {
        let (words, needles) = self.needles.get_or_init(|| {
            let (words, others): (BTreeSet<String>, BTreeSet<String>) =
                self.secrets.iter().flat_map(Secret::forms).partition(|form| is_word(form));
            (words, Needles::of(others.into_iter().collect()))
        });
        let payload = hide_needles(payload, needles);
        if words.is_empty() { payload } else { hide_equal(&payload, words).unwrap_or(payload) }
    }
}

/// The value with texts hidden that are one of these.
fn hide_equal(node: &Node, texts: &BTreeSet<String>) -> Option<Node> {
    match &node.value {
        Value::Map(_) | Value::List(_) => node.map_children(|child| hide_equal(child.node, texts)),
        Value::String(text) => texts.contains(text.trim()).then(|| secret(node)),
        Value::Number(number) => texts.contains(number.as_str()).then(|| secret(node)),
        _ => None,
    }
}

/// Shorter values are equal by chance too often.
const SHORTEST: usize = 6;
/// Shorter values are part of longer texts of other files by chance.
const LONG: usize = 12;
/// How many bytes are searched at most for values that moved.
const MOST_SEARCHED: usize = 1 << 30;

/// Whether a text is a word, which is the same in other files by chance.
fn is_word(text: &str) -> bool {
    text.len() < LONG && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Keys and scalars that are not hidden, also those that are overridden.
fn open_texts<'n>(node: &'n Node, history: &mut History, texts: &mut Vec<&'n str>) {
    match &node.value {
        Value::String(text) => texts.push(text),
        Value::Number(number) => texts.push(number.as_str()),
        Value::Map(map) => texts.extend(map.entries().iter().map(|entry| entry.key.name.as_str())),
        _ => {}
    }
    node.children().for_each(|child| open_texts(child.node, history, texts));
    if let Some(loser) = node.overridden().filter(|loser| history.admits(loser)) {
        open_texts(loser, history, texts);
    }
}

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
                    moved.add(file, secret);
                }
            }
        }
        moved
    }

    fn add(&mut self, file: &RepoPath, secret: Secret) {
        self.add_for_every_file(&secret);
        self.by_file.entry(file.clone()).or_default().extend([secret]);
    }

    fn add_for_every_file(&mut self, secret: &Secret) {
        let forms = secret.forms();
        let is_long = forms.first().is_some_and(|form| form.chars().count() >= LONG);
        self.everywhere.extend(is_long.then(|| secret.clone()));
        self.forms.extend(forms.into_iter().filter(|form| !is_word(form)));
    }

    /// Those of them that these resources have in the open: nothing else has moved there.
    #[must_use]
    pub fn found_in<'r>(self, resources: impl IntoIterator<Item = &'r Resource>) -> Self {
        if self.by_file.is_empty() {
            return self;
        }
        let (mut texts, mut history) = (Vec::new(), History::default());
        resources.into_iter().for_each(|resource| open_texts(&resource.payload, &mut history, &mut texts));
        // Most keys and many values are in many resources.
        texts.sort_unstable();
        texts.dedup();
        let forms = self.by_file.values().flat_map(|sought| &sought.secrets).flat_map(Secret::forms);
        let needles = Needles::of(forms.collect::<BTreeSet<String>>().into_iter().collect());
        let is_much = texts.iter().map(|text| text.len()).sum::<usize>() > MOST_SEARCHED;
        // In doubt all of them have moved.
        let found = if is_much { None } else { Some(needles.found_in(texts)) };
        let is_found = |secret: &Secret| {
            let is_in = |found: &BTreeSet<&str>| secret.forms().iter().any(|form| found.contains(form.as_str()));
            found.as_ref().is_none_or(is_in)
        };
        let mut moved = Self::default();
        for (file, sought) in self.by_file {
            for secret in sought.secrets {
                if is_found(&secret) {
                    moved.add(&file, secret);
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
        secrets.iter().for_each(|secret| moved.add_for_every_file(secret));
        moved
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.by_file.is_empty()
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
        Resource { payload: hide_equal(&payload, &self.forms).unwrap_or(payload), ..resource }
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

    #[test]
    fn words_are_secret_in_their_own_file_and_only_what_is_in_the_open_has_moved() {
        let hidden = read("{data: {password: letmein, oci: dHJ1ZQ==, project: ZGVmYXVsdA==, key: a1b2c3d4}}")
            .map_children(|data| data.node.map_children(|child| Some(secret(child.node))));
        let mine = resource("Secret", "mine", hidden.unwrap());
        let moved = || MovedSecrets::new([&mine].into_iter(), std::iter::empty());
        let user = |file: &str| Resource {
            file: RepoPath::new(file.as_bytes()).unwrap(),
            ..resource("ConfigMap", "user", read("{a: letmein, b: letmein-not, default: true, key: a1b2c3d4}"))
        };
        let there = Resource { file: RepoPath::root(), ..user("b") };
        assert_eq!(to_inline(&moved().hide(there).payload), "{a: •••, b: letmein-not, default: true, key: •••}");
        let elsewhere = to_inline(&moved().hide(user("b")).payload);
        assert_eq!(elsewhere, "{a: letmein, b: letmein-not, default: true, key: •••}");
        assert!(moved().found_in(&[]).is_empty());
        let found = moved().found_in(&[resource("ConfigMap", "other", read("{text: has a1b2c3d4 in it}"))]);
        assert_eq!(found.secrets().len(), 1);
    }
}
