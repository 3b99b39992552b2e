//! The directories that hold resources, and which of them a file belongs to.

use super::Format;
use crate::path::RepoPath;

/// A directory that holds resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its path in the repository.
    pub path: RepoPath,
    /// Whether every YAML and JSON file in it is a resource named by its path.
    pub layout: RootLayout,
    /// The format of new files, and the value of `resource_format`.
    pub format: Format,
}

/// How files become resources below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RootLayout {
    /// As recognised: `resource.*` directories, Kubernetes documents, other files by their path.
    #[default]
    Detect,
    /// `<logical-path>/resource.*` and `<logical-path>.*`, always.
    Declarest,
}

/// All roots of a repository. There is always at least one: without configuration, the whole repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots(Vec<Root>);

impl Default for Roots {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Roots {
    /// These roots; none means the whole repository.
    pub fn new(mut roots: Vec<Root>) -> Self {
        if roots.is_empty() {
            roots.push(Root { path: RepoPath::root(), layout: RootLayout::default(), format: Format::default() });
        }
        Self(roots)
    }

    /// Every root, in the order of the configuration.
    pub fn all(&self) -> &[Root] {
        &self.0
    }

    /// The paths of all roots.
    pub fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.0.iter().map(|root| &root.path)
    }

    /// The innermost root that contains a file or directory.
    pub fn around(&self, path: &RepoPath) -> Option<&Root> {
        let containing = self.0.iter().filter(|root| path.is_within(&root.path));
        containing.max_by_key(|root| root.path.as_bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn roots(paths: &[&str]) -> Roots {
        let root = |text: &&str| Root { path: path(text), layout: RootLayout::Detect, format: Format::Json };
        Roots::new(paths.iter().map(root).collect())
    }

    #[test]
    fn a_file_belongs_to_the_innermost_root() {
        let roots = roots(&["config", "config/inner", "other"]);
        let around = |text| roots.around(&path(text)).map(|root| root.path.to_string());
        assert_eq!(around("config/a.yaml").as_deref(), Some("config"));
        assert_eq!(around("config/inner/a.yaml").as_deref(), Some("config/inner"));
        assert_eq!(around("config2/a.yaml"), None);
    }

    #[test]
    fn without_roots_the_repository_is_one() {
        assert_eq!(Roots::default(), roots(&[]));
        assert_eq!(Roots::default().around(&path("a/b.yaml")).map(|root| root.path.clone()), Some(RepoPath::root()));
    }
}
