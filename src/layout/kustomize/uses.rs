//! What kustomizations do with files beside them: what becomes part of a Secret must not be shown anywhere.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::load::is_kustomization;
use crate::layout::{FileTable, IndexEntry};
use crate::path::RepoPath;
use crate::scan;
use crate::secrets::may_be_secret_kind;
use crate::value::Node;

/// What a kustomization does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KustomizeUse {
    /// The content of the file becomes part of a ConfigMap.
    PlainContent,
    /// The file is a patch of a Secret.
    SecretPatch,
    /// The content of the file becomes part of a Secret.
    SecretContent,
}

impl KustomizeUse {
    const ALL: [Self; 3] = [Self::PlainContent, Self::SecretPatch, Self::SecretContent];

    /// The index of kustomizations by the names of the files that they use so.
    fn index(self) -> &'static str {
        match self {
            Self::PlainContent => "kustomize content",
            Self::SecretPatch => "kustomize patches of secrets",
            Self::SecretContent => "kustomize content of secrets",
        }
    }
}

/// What is done with files, by their paths. What makes the content of a file more secret counts.
#[derive(Debug, Clone, Default)]
pub struct KustomizeUses(BTreeMap<RepoPath, KustomizeUse>);

impl KustomizeUses {
    /// What a kustomization in a directory does with files.
    pub fn of(kustomization: &Node, directory: &RepoPath) -> Self {
        let mut uses = Self::default();
        named_uses(kustomization).for_each(|(name, used)| uses.note(directory, &name, used));
        uses
    }

    /// What is done with a file.
    pub fn get(&self, file: &RepoPath) -> Option<KustomizeUse> {
        self.0.get(file).copied()
    }

    /// Whether nothing is done with any file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds what others do with files.
    pub fn extend(&mut self, others: &Self) {
        others.0.iter().for_each(|(file, used)| self.add(file.clone(), *used));
    }

    fn note(&mut self, directory: &RepoPath, name: &str, used: KustomizeUse) {
        located(directory, name).into_iter().for_each(|file| self.add(file, used));
    }

    fn add(&mut self, file: RepoPath, used: KustomizeUse) {
        let known = self.0.entry(file).or_insert(used);
        *known = (*known).max(used);
    }
}

/// What the kustomizations of a tree do with files, by the directories of the kustomizations.
pub fn uses_by_directory(table: &FileTable) -> BTreeMap<RepoPath, KustomizeUses> {
    let mut found: BTreeMap<RepoPath, KustomizeUses> = BTreeMap::new();
    for (path, facts) in table.iter().filter(|(path, _)| is_kustomization(path.file_name())) {
        for entry in facts.entries.iter() {
            let used = KustomizeUse::ALL.into_iter().find(|used| used.index() == entry.index);
            if let (Some(used), Some(directory)) = (used, path.parent()) {
                found.entry(directory.clone()).or_default().note(&directory, &entry.key, used);
            }
        }
    }
    found
}

/// Whether a file may be a kustomization that uses other files, judged by its bytes. A no is certain.
pub(in crate::layout) fn may_use_files(file: &RepoPath, bytes: &[u8]) -> bool {
    // A field can be written with escapes, and a text in units of two bytes.
    let has_field = || scan::contains(bytes, b"Generator") || scan::contains(bytes, b"patches");
    is_kustomization(file.file_name()) && (has_field() || [b'\\', 0].iter().any(|byte| scan::has_byte(bytes, *byte)))
}

/// What indexes list about a kustomization, so that it is known without being read what it does with files.
pub(in crate::layout) fn index_of_uses(kustomization: &Node) -> impl Iterator<Item = IndexEntry> {
    named_uses(kustomization).map(|(key, used)| IndexEntry { index: used.index().into(), key })
}

/// The files that a kustomization uses, by the names that it has for them.
fn named_uses(kustomization: &Node) -> impl Iterator<Item = (SmolStr, KustomizeUse)> {
    let generators =
        [("secretGenerator", KustomizeUse::SecretContent), ("configMapGenerator", KustomizeUse::PlainContent)];
    let generated = generators.into_iter().flat_map(|(field, used)| {
        let names = items(kustomization, field).iter().flat_map(|generator| {
            let listed = ["files", "envs"].into_iter().flat_map(|field| items(generator, field));
            listed.chain(generator.get("env")).filter_map(Node::as_str)
        });
        names.map(move |name| (name.split_once('=').map_or(name, |(_, path)| path).into(), used))
    });
    let patches = ["patches", "patchesJson6902"].into_iter().flat_map(|field| items(kustomization, field));
    let of_secrets = patches.filter(|patch| {
        let target = patch.get("target");
        target.is_some_and(|target| may_be_secret_kind(target.get("kind")))
    });
    let patched = of_secrets.filter_map(|patch| patch.get("path").and_then(Node::as_str));
    generated.chain(patched.map(|name| (name.into(), KustomizeUse::SecretPatch)))
}

fn items<'n>(node: &'n Node, field: &str) -> &'n [Node] {
    node.get(field).and_then(Node::as_list).unwrap_or_default()
}

/// The path of a file that is named in a directory.
fn located(directory: &RepoPath, name: &str) -> Option<RepoPath> {
    name.split('/').try_fold(directory.clone(), |path, part| match part {
        "" | "." => Some(path),
        ".." => path.parent(),
        part => path.join(part.as_bytes()).ok(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::layout::FileFacts;
    use crate::testing::read;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    const KUSTOMIZATION: &str = "
secretGenerator: [{files: [password.txt, key=../shared/token], env: db.env}]
configMapGenerator: [{envs: [db.env, plain.env]}]
patches:
  - {path: of-secret.yaml, target: {kind: Secret}}
  - {path: of-deployment.yaml, target: {kind: Deployment}}
";

    #[test]
    fn the_most_secret_use_of_a_file_counts() {
        let uses = KustomizeUses::of(&read(KUSTOMIZATION), &path("apps/web"));
        let get = |file: &str| uses.get(&path(file));
        assert_eq!(get("apps/web/password.txt"), Some(KustomizeUse::SecretContent));
        assert_eq!(get("apps/shared/token"), Some(KustomizeUse::SecretContent));
        assert_eq!(get("apps/web/db.env"), Some(KustomizeUse::SecretContent));
        assert_eq!(get("apps/web/plain.env"), Some(KustomizeUse::PlainContent));
        assert_eq!(get("apps/web/of-secret.yaml"), Some(KustomizeUse::SecretPatch));
        assert_eq!(get("apps/web/of-deployment.yaml"), None);
    }

    #[test]
    fn what_indexes_list_says_the_same_as_the_kustomization() {
        let root = read(KUSTOMIZATION);
        let file = path("apps/web/kustomization.yaml");
        assert!(may_use_files(&file, KUSTOMIZATION.as_bytes()));
        let facts = FileFacts { inputs: Arc::new([]), entries: index_of_uses(&root).collect() };
        let known = uses_by_directory(&Arc::new(BTreeMap::from([(file, facts)])));
        assert_eq!(known[&path("apps/web")].0, KustomizeUses::of(&root, &path("apps/web")).0);
    }

    #[test]
    fn a_kustomization_without_generators_and_patches_need_not_be_read() {
        assert!(!may_use_files(&path("kustomization.yaml"), b"resources: [a.yaml]"));
        assert!(!may_use_files(&path("other.yaml"), KUSTOMIZATION.as_bytes()));
        assert!(may_use_files(&path("kustomization.yaml"), br#""secret\x47enerator": [{files: [a]}]"#));
        assert!(may_use_files(&path("kustomization.yaml"), b"s\0e\0c\0r\0e\0t\0G\0"));
    }
}
