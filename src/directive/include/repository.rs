//! The repositories that includes name: which of them are this one, and where in it they lead.

use smol_str::SmolStr;

use super::load::{Loaded, resolve};
use crate::directive::Context;
use crate::directive::unfurl::PROJECT;
use crate::path::{Pointer, RepoPath};
use crate::value::Node;

/// Where the files of an include are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In this directory.
    Directory(RepoPath),
    /// Not in this repository.
    Elsewhere,
}

/// Files of the snapshot that finding a repository depended on.
pub(super) type Asked = Vec<RepoPath>;

/// The place that a repository's name means in a document of `file`; the documents are those that may declare it.
pub(super) fn place(
    name: &str,
    file: &RepoPath,
    documents: [&Node; 2],
    context: &Context<'_>,
    asked: &mut Asked,
) -> Place {
    let directory = file.parent().unwrap_or_default();
    let project = project_above(&directory, context, asked);
    let project_root = project.as_ref().and_then(|path| match context.includes.load(path, context).0 {
        Loaded::Ready(indexed) => Some(indexed.document.root.clone()),
        _ => None,
    });
    let declared = documents.into_iter().find_map(|root| declared(root, name));
    let declared = declared.or_else(|| project_root.as_ref().and_then(|root| declared_by_project(root, name)));
    match (declared, name) {
        (Some(url), _) => own_directory(&url, context.remotes).map_or(Place::Elsewhere, Place::Directory),
        (None, "self") => Place::Directory(directory),
        (None, "spec") => {
            let project = project.and_then(|path| path.parent());
            Place::Directory(project.unwrap_or(directory))
        }
        (None, _) => Place::Elsewhere,
    }
}

/// The nearest project file at or above a directory.
fn project_above(directory: &RepoPath, context: &Context<'_>, asked: &mut Asked) -> Option<RepoPath> {
    for directory in std::iter::successors(Some(directory.clone()), RepoPath::parent) {
        let path = directory.join(PROJECT.as_bytes()).ok()?;
        asked.push(path.clone());
        if matches!(context.snapshot.entry(&path), Ok(Some(_))) {
            return Some(path);
        }
    }
    None
}

/// The address of a repository that a document declares.
fn declared(root: &Node, name: &str) -> Option<String> {
    let lists: [&[&str]; 2] = [&["spec", "service_template", "repositories"], &["repositories"]];
    lists.into_iter().find_map(|keys| {
        let path: Pointer = keys.iter().map(SmolStr::new).chain([SmolStr::new(name)]).collect();
        address(root.at(&path)?)
    })
}

fn declared_by_project(root: &Node, name: &str) -> Option<String> {
    let environments = root.get("environments")?.as_map()?;
    environments.entries().iter().find_map(|entry| address(entry.value.get("repositories")?.get(name)?))
}

fn address(repository: &Node) -> Option<String> {
    let url = repository.as_str().or_else(|| repository.get("url").and_then(Node::as_str))?;
    Some(url.to_owned())
}

/// The directory of this repository that an address means; nothing if it means another repository or another revision.
fn own_directory(url: &str, remotes: &[SmolStr]) -> Option<RepoPath> {
    let (address, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (revision, path) = fragment.split_once(':').unwrap_or((fragment, ""));
    let is_own = remotes.iter().any(|remote| normalised(remote) == normalised(address));
    if !is_own || !revision.is_empty() {
        return None;
    }
    resolve(&RepoPath::root(), path.trim_start_matches('/')).ok()
}

/// An address without what does not tell repositories apart: scheme, user, port, `.git`, a slash at the end, the case of the host.
fn normalised(url: &str) -> String {
    let url = url.split(['#', '?']).next().unwrap_or(url).trim();
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => url.split_once(':').filter(|(host, _)| !host.contains('/')).unwrap_or(("", url)),
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host).to_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    format!("{host}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_repository_are_equal() {
        let one = normalised("https://example.com/own/repo.git");
        for same in [
            "git@example.com:own/repo.git",
            "ssh://git@EXAMPLE.com:22/own/repo",
            "https://user:pw@example.com/own/repo/",
            "git://example.com/own/repo.git#v1:x",
        ] {
            assert_eq!(normalised(same), one, "{same}");
        }
        for other in ["https://example.com/own/repo2", "https://example.org/own/repo", "own/repo"] {
            assert_ne!(normalised(other), one, "{other}");
        }
    }

    #[test]
    fn only_the_same_revision_of_the_same_repository_is_here() {
        let remotes = ["https://example.com/own/repo.git".into()];
        let found = |url: &str| own_directory(url, &remotes).map(|path| path.to_string());
        assert_eq!(found("https://example.com/own/repo#:sub/dir").as_deref(), Some("sub/dir"));
        assert_eq!(found("git@example.com:own/repo.git").as_deref(), Some(""));
        assert_eq!(found("https://example.com/own/repo#v1:sub"), None);
        assert_eq!(found("https://example.com/other/repo"), None);
        assert_eq!(found("https://example.com/own/repo#:../out"), None);
    }
}
