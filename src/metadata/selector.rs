//! Where metadata for a path is stored: resource paths, collection markers, wildcards and globs, and the files they lead to.

use std::fmt;

use crate::glob::{check_glob, is_glob};
use crate::names::{self, Format};
use crate::path::{LogicalPath, LogicalPathError, PathError, RepoPath};
use crate::sanitize;

/// The segment that matches any segment, and as the last of a directory means "the collection".
pub use crate::names::WILDCARD;

/// What metadata applies to: one resource, or a collection of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataPath {
    segments: Vec<String>,
    is_collection: bool,
}

impl MetadataPath {
    /// Reads what somebody wrote: `/customers/acme` is a resource; `/customers/`, `/customers/_` and everything with a wildcard
    /// or a glob in it is a collection.
    pub fn parse(text: &str) -> Result<Self, LogicalPathError> {
        let refused = |reason| LogicalPathError::new(text, reason);
        let trimmed = text.trim();
        if !trimmed.starts_with('/') {
            return Err(refused("it does not start with `/`"));
        }
        let mut segments: Vec<String> = Vec::new();
        for segment in trimmed.split('/') {
            match segment {
                "" | "." => {}
                ".." => return Err(refused("`..` would lead to another path")),
                _ if segment.contains('\0') => return Err(refused("it holds a NUL byte")),
                _ => segments.push(segment.to_owned()),
            }
        }
        if segments.iter().filter(|segment| is_glob(segment)).any(|segment| check_glob(segment).is_err()) {
            return Err(refused("a glob in it is malformed"));
        }
        let is_marked = segments.last().is_some_and(|last| last == WILDCARD) && segments.pop().is_some();
        let has_wildcard = segments.iter().any(|segment| segment == WILDCARD || is_glob(segment));
        let is_collection = is_marked || has_wildcard || trimmed.ends_with('/') || segments.is_empty();
        Ok(Self { segments, is_collection })
    }

    /// The metadata of one resource.
    pub fn of_resource(path: &LogicalPath) -> Self {
        Self { segments: path.segments().map(str::to_owned).collect(), is_collection: path.is_root() }
    }

    /// The collection whose metadata is in a directory named `_`, or the resource whose metadata is in any other, both
    /// below the root of all metadata.
    pub fn of_directory(below: &RepoPath) -> Option<Self> {
        let mut segments: Vec<String> = below.to_str()?.split('/').map(str::to_owned).collect();
        let is_collection = segments.last().is_some_and(|last| last == WILDCARD);
        if is_collection {
            segments.pop();
        }
        segments.retain(|segment| !segment.is_empty());
        (is_collection || !segments.is_empty()).then_some(Self { segments, is_collection })
    }

    /// The collection at the same path.
    #[must_use]
    pub fn to_collection(&self) -> Self {
        Self { segments: self.segments.clone(), is_collection: true }
    }

    /// Whether it applies to a collection and everything below.
    pub fn is_collection(&self) -> bool {
        self.is_collection
    }

    /// The segments, without a collection's marker.
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// The path of one resource or collection, if no wildcard is in it.
    pub fn to_logical(&self) -> Option<LogicalPath> {
        let is_plain = |segment: &String| segment != WILDCARD && !is_glob(segment);
        let plain = self.segments.iter().all(is_plain);
        plain.then(|| self.segments.iter().fold(LogicalPath::root(), |path, segment| path.child(segment)))
    }

    /// The directory that holds the metadata file.
    pub fn directory(&self, base: &RepoPath) -> Result<RepoPath, PathError> {
        let marker = self.is_collection.then_some(WILDCARD);
        let names = self.segments.iter().map(String::as_str).chain(marker);
        names.into_iter().try_fold(base.clone(), |directory, name| directory.join(name.as_bytes()))
    }

    /// The file that a new document is written to.
    pub fn file(&self, base: &RepoPath, format: Format) -> Result<RepoPath, PathError> {
        self.directory(base)?.join(format!("{}.{}", names::METADATA, format.extension()).as_bytes())
    }

    /// Whether it can apply to a path with this segment at a depth, from 0.
    pub fn fits_at(&self, depth: usize, segment: &str) -> bool {
        self.segments.get(depth).map_or(self.is_collection, |own| segment_fits(own, segment))
    }

    /// Whether this layer takes part in the metadata of a path.
    pub fn applies_to(&self, path: &LogicalPath) -> bool {
        let mut segments = path.segments();
        let fits = self.segments.iter().all(|own| segments.next().is_some_and(|segment| segment_fits(own, segment)));
        fits && (self.is_collection || segments.next().is_none())
    }
}

/// Whether a segment of a selector matches a segment of a path.
pub(super) fn segment_fits(selector: &str, segment: &str) -> bool {
    selector == WILDCARD
        || selector == segment
        || (is_glob(selector) && check_glob(selector).is_ok() && crate::glob::glob_matches(selector, segment))
}

impl fmt::Display for MetadataPath {
    /// The selector, without a collection's marker: `/admin/realms/_/clients`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.segments.is_empty() {
            return f.write_str("/");
        }
        self.segments.iter().try_for_each(|segment| write!(f, "/{}", sanitize::inline(segment)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(text: &str) -> (String, bool, String) {
        let path = MetadataPath::parse(text).unwrap();
        let file = path.file(&RepoPath::root(), Format::Json).unwrap();
        (path.to_string(), path.is_collection(), file.to_string())
    }

    #[test]
    fn every_way_to_write_a_collection() {
        let at = |selector: &str, is_collection, file: &str| (selector.to_owned(), is_collection, file.to_owned());
        for root in ["/", "/_", " /_/ "] {
            assert_eq!(located(root), at("/", true, "_/metadata.json"), "{root}");
        }
        assert_eq!(located("/customers"), at("/customers", false, "customers/metadata.json"));
        for collection in ["/customers/", "/customers/_", "/customers/_/", "/customers//", "/./customers/_"] {
            assert_eq!(located(collection), at("/customers", true, "customers/_/metadata.json"), "{collection}");
        }
        for selector in ["/a/_/c", "/a/_/c/", "/a/_/c/_"] {
            assert_eq!(located(selector), at("/a/_/c", true, "a/_/c/_/metadata.json"), "{selector}");
        }
        assert_eq!(located("/_/_"), at("/_", true, "_/_/metadata.json"));
        assert_eq!(located("/v1/data/_/_"), at("/v1/data/_", true, "v1/data/_/_/metadata.json"));
        assert_eq!(located("/customers/a*"), at("/customers/a*", true, "customers/a*/_/metadata.json"));
        for wrong in ["", "a", "/a/../b", "/a/[b", "/a\0"] {
            assert!(MetadataPath::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_directory_names_what_its_metadata_applies_to() {
        for text in ["/", "/a", "/a/", "/a/_/b", "/x/a*"] {
            let path = MetadataPath::parse(text).unwrap();
            assert_eq!(MetadataPath::of_directory(&path.directory(&RepoPath::root()).unwrap()), Some(path));
        }
        assert_eq!(MetadataPath::of_directory(&RepoPath::root()), None);
    }

    #[test]
    fn collections_apply_to_everything_below_and_resources_to_themselves() {
        let applies = |selector: &str, path: &str| {
            MetadataPath::parse(selector).unwrap().applies_to(&LogicalPath::parse(path).unwrap())
        };
        assert!(applies("/", "/a") && applies("/a/", "/a") && applies("/a/", "/a/b/c") && applies("/_/b", "/a/b/c"));
        assert!(applies("/a", "/a") && !applies("/a", "/a/b"));
        assert!(applies("/a*/", "/ab/c") && !applies("/a*/", "/b/c") && !applies("/a/b/", "/a"));
    }
}
