//! The three kinds of path that must never be mixed: a file's place in a snapshot, a resource's name, a place inside a document.

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::sanitize;

/// The path of a file or directory in a snapshot, as git stores it: bytes, `/` between components, no leading `/`.
///
/// The empty path is the root directory. Components are never empty, `.` or `..`, and never hold a NUL byte, so that joining
/// and climbing cannot leave the tree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RepoPath(Arc<[u8]>);

/// Why some bytes are not a [`RepoPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} is not a path inside the tree: {reason}")]
pub struct PathError {
    path: String,
    reason: &'static str,
}

impl RepoPath {
    /// The directory that holds everything.
    pub fn root() -> Self {
        Self::default()
    }

    /// Checks each component; the empty string is the root.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, PathError> {
        let bytes = bytes.as_ref();
        if bytes.is_empty() {
            return Ok(Self::root());
        }
        for component in bytes.split(|&byte| byte == b'/') {
            check_component(component).map_err(|reason| PathError { path: sanitize::quoted_path(bytes), reason })?;
        }
        Ok(Self(bytes.into()))
    }

    /// This directory's member `name`; a name from a hostile tree (`..`, `a/b`) is refused.
    pub fn join(&self, name: &[u8]) -> Result<Self, PathError> {
        let refused = |reason| PathError { path: sanitize::quoted_path(name), reason };
        if name.contains(&b'/') {
            return Err(refused("a name holds a slash"));
        }
        check_component(name).map_err(refused)?;
        if self.is_root() {
            return Ok(Self(name.into()));
        }
        Ok(Self(joined(&self.0, name)))
    }

    /// Whether this is the root directory.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes as git stores them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, if it is text.
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The directory that contains it; the root has none.
    pub fn parent(&self) -> Option<Self> {
        self.parent_bytes().map(|bytes| Self(bytes.into()))
    }

    /// The bytes of the directory that contains it, for lookups.
    pub fn parent_bytes(&self) -> Option<&[u8]> {
        let end = self.0.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        (!self.is_root()).then(|| &self.0[..end])
    }

    /// The last component; empty for the root.
    pub fn file_name(&self) -> &[u8] {
        let start = self.0.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        &self.0[start..]
    }

    /// The file name without its extension, and the extension without its dot, when both are text and neither is empty.
    pub fn stem_and_extension(&self) -> Option<(&str, &str)> {
        let (stem, extension) = std::str::from_utf8(self.file_name()).ok()?.rsplit_once('.')?;
        (!stem.is_empty() && !extension.is_empty()).then_some((stem, extension))
    }

    /// The components from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|&byte| byte == b'/').filter(|component| !component.is_empty())
    }

    /// The path relative to a directory; `None` if it is not in it.
    pub fn below(&self, directory: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(&*directory.0).filter(|_| self.is_within(directory))?;
        Self::new(rest.strip_prefix(b"/").unwrap_or(rest)).ok()
    }

    /// Whether some component starts with a dot.
    pub fn is_hidden(&self) -> bool {
        self.components().any(|component| component.starts_with(b"."))
    }

    /// Whether this is `directory` itself or is below it.
    pub fn is_within(&self, directory: &Self) -> bool {
        directory.is_root() || self.0.strip_prefix(&*directory.0).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

/// A directory and a name with a slash between them. Every listed file comes this way, so that an ordinary path is put together
/// where it costs nothing and copied once.
fn joined(directory: &[u8], name: &[u8]) -> Arc<[u8]> {
    const ORDINARY: usize = 256;
    let length = directory.len() + 1 + name.len();
    if length > ORDINARY {
        return [directory, b"/", name].concat().into();
    }
    let mut path = [b'/'; ORDINARY];
    path[..directory.len()].copy_from_slice(directory);
    path[directory.len() + 1..length].copy_from_slice(name);
    path[..length].into()
}

fn check_component(component: &[u8]) -> Result<(), &'static str> {
    match component {
        b"" => Err("a component is empty"),
        b"." | b".." => Err("a component is `.` or `..`"),
        _ if component.contains(&0) => Err("a component holds a NUL byte"),
        _ => Ok(()),
    }
}

impl fmt::Display for RepoPath {
    /// As git prints it: plain when it is printable text, C-quoted otherwise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sanitize::quoted_path(&self.0))
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RepoPath({self})")
    }
}

/// The name of a resource, independent of its file: `/customers/acme`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogicalPath(SmolStr);

/// Why some text is not a path of resources or of metadata.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} is not a logical path: {reason}")]
pub struct LogicalPathError {
    path: String,
    reason: &'static str,
}

impl LogicalPathError {
    /// Says why; the path is made visible.
    pub fn new(path: &str, reason: &'static str) -> Self {
        Self { path: format!("`{}`", sanitize::inline(path)), reason }
    }
}

impl LogicalPath {
    /// The place that holds everything; a collection, never a resource.
    pub fn root() -> Self {
        Self(SmolStr::new_static("/"))
    }

    /// Reads what somebody wrote: `\\` counts as `/`, empty and `.` segments are dropped, `..` and `_` are refused.
    pub fn parse(text: &str) -> Result<Self, LogicalPathError> {
        let refused = |reason| LogicalPathError::new(text, reason);
        let slashed = text.replace('\\', "/");
        if !slashed.starts_with('/') {
            return Err(refused("it does not start with `/`"));
        }
        let mut path = String::with_capacity(slashed.len());
        for segment in slashed.split('/') {
            match segment {
                "" | "." => {}
                ".." => return Err(refused("`..` would lead to another path")),
                "_" => return Err(refused("`_` is reserved: it matches any segment")),
                _ if segment.contains('\0') => return Err(refused("it holds a NUL byte")),
                _ => path.extend(["/", segment]),
            }
        }
        Ok(if path.is_empty() { Self::root() } else { Self(path.into()) })
    }

    /// The logical path of a directory below a root, or nothing if a component is not text.
    pub fn of_directory(directory: &RepoPath) -> Option<Self> {
        let text = directory.to_str()?;
        Some(Self(SmolStr::from_iter(["/", text])))
    }

    /// The path as text, with its leading `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    /// This path's child.
    pub fn child(&self, segment: &str) -> Self {
        let parent = self.0.trim_end_matches('/');
        Self(SmolStr::from_iter([parent, "/", segment]))
    }

    /// The collection that contains it; `/` has none.
    pub fn parent(&self) -> Option<Self> {
        let (parent, _) = self.0.rsplit_once('/').filter(|_| !self.is_root())?;
        Some(if parent.is_empty() { Self::root() } else { Self(SmolStr::new(parent)) })
    }

    /// The last segment; `/` has none.
    pub fn last(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(_, last)| last).filter(|last| !last.is_empty())
    }

    /// The segments from the root down.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The directory of that name below a root.
    pub fn directory_below(&self, root: &RepoPath) -> Result<RepoPath, PathError> {
        let below = self.0.trim_start_matches('/').as_bytes();
        let between: &[u8] = if root.is_root() || below.is_empty() { b"" } else { b"/" };
        RepoPath::new([root.as_bytes(), between, below].concat())
    }
}

impl fmt::Display for LogicalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sanitize::inline(&self.0))
    }
}

/// A place inside a document: RFC 6901, one token per level.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pointer(Vec<SmolStr>);

impl Pointer {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads the text form: empty, or tokens each after a `/` with `~0` and `~1` as escapes.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Ok(Self::root());
        }
        let rest = text.strip_prefix('/').ok_or("a JSON Pointer starts with `/`")?;
        if !has_only_known_escapes(rest) {
            return Err("`~` in a JSON Pointer is written `~0`, and `/` is written `~1`");
        }
        Ok(rest.split('/').map(unescape_token).collect())
    }

    /// Reads a JSON Pointer, or a path as reports print it: `.spec.containers[web].image`, `.images[name=x].newTag`. An item of a list
    /// becomes a token with its index, its name, or `key=value`.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() || text.starts_with('/') {
            return Self::parse(text);
        }
        let token = |step| match step {
            WrittenStep::Key(name) | WrittenStep::Item(name) => name,
        };
        Ok(written_steps(text)?.into_iter().map(token).collect())
    }

    /// The tokens from the root down, unescaped.
    pub fn tokens(&self) -> &[SmolStr] {
        &self.0
    }

    /// One level deeper.
    pub fn push(&mut self, token: impl Into<SmolStr>) {
        self.0.push(token.into());
    }

    /// One level up.
    pub fn pop(&mut self) {
        self.0.pop();
    }
}

impl FromIterator<SmolStr> for Pointer {
    fn from_iter<I: IntoIterator<Item = SmolStr>>(tokens: I) -> Self {
        Self(tokens.into_iter().collect())
    }
}

impl fmt::Display for Pointer {
    /// The exact RFC 6901 text; it must be sanitized before it is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.0 {
            write!(f, "/{}", escape_token(token))?;
        }
        Ok(())
    }
}

/// A token as it is written in a JSON Pointer: `~0` for a tilde and `~1` for a slash.
fn escape_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// The token that is written so in a JSON Pointer; a tilde before anything else than `0` or `1` is kept.
pub fn unescape_token(written: &str) -> SmolStr {
    written.replace("~1", "/").replace("~0", "~").into()
}

/// Whether every tilde in a written token is followed by `0` or `1`.
pub fn has_only_known_escapes(written: &str) -> bool {
    written.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// A step of a path as reports print it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenStep {
    /// A member of a map.
    Key(SmolStr),
    /// An item of a list: its index, its name, `key=value`, or `*`.
    Item(SmolStr),
}

/// Reads a path as reports print it: `.data["app.json"] › .level`, `.spec.containers[web].image`.
pub fn written_steps(text: &str) -> Result<Vec<WrittenStep>, &'static str> {
    const START: &str = "a path starts with `.`, `[` or `/`: .spec.replicas, .images[name=x].newTag or /spec/replicas";
    let mut rest = text.trim();
    // The view that a path is in is no step of it.
    let view = rest.find(['.', '[']).ok_or(START)?;
    if !rest[..view].is_empty() && !rest[..view].trim_end().ends_with(['›', '>']) {
        return Err(START);
    }
    rest = &rest[view..];
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let after = rest.trim_start_matches([' ', '›', '>']);
        if let Some(inside) = after.strip_prefix('[') {
            let (step, tail) = bracketed(inside)?;
            steps.push(step);
            rest = tail;
        } else {
            let name = after.strip_prefix('.').ok_or(START)?;
            let end = name.find(['.', '[', ' ']).unwrap_or(name.len());
            // A dot alone is the whole document.
            if end > 0 {
                steps.push(WrittenStep::Key(name[..end].into()));
            } else if name.starts_with('.') {
                return Err("a name is missing after `.`");
            }
            rest = &name[end..];
        }
    }
    Ok(steps)
}

/// What follows `[`: a key in quotes, or an item; and the rest.
fn bracketed(inside: &str) -> Result<(WrittenStep, &str), &'static str> {
    const OPEN: &str = "`[` is not closed by `]`";
    if let Some(text) = inside.strip_prefix('"') {
        let (key, rest) = until_quote(text)?;
        return Ok((WrittenStep::Key(key.into()), rest.strip_prefix(']').ok_or(OPEN)?));
    }
    if let Some((key, text)) = inside.split_once("=\"").filter(|(key, _)| !key.contains(']')) {
        let (value, rest) = until_quote(text)?;
        let item = format!("{key}={value}");
        return Ok((WrittenStep::Item(item.into()), rest.strip_prefix(']').ok_or(OPEN)?));
    }
    let (item, rest) = inside.split_once(']').ok_or(OPEN)?;
    Ok((WrittenStep::Item(item.into()), rest))
}

/// The text up to the next quote that is not escaped, and what follows the quote.
fn until_quote(text: &str) -> Result<(String, &str), &'static str> {
    let mut read = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((read, &text[at + 1..])),
            '\\' => read.extend(characters.next().map(|(_, escaped)| escaped)),
            c => read.push(c),
        }
    }
    Err("a quote is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_paths_are_read_again() {
        let read = |text: &str| Pointer::read(text).map(|pointer| pointer.to_string());
        assert_eq!(read(".spec.replicas").as_deref(), Ok("/spec/replicas"));
        assert_eq!(read("/spec/replicas").as_deref(), Ok("/spec/replicas"));
        assert_eq!(read(".images[name=x].newTag").as_deref(), Ok("/images/name=x/newTag"));
        assert_eq!(read(".steps[name=\"a ]b\"].uses").as_deref(), Ok("/steps/name=a ]b/uses"));
        assert_eq!(read("[\"a/b\"].c[0]").as_deref(), Ok("/a~1b/c/0"));
        assert_eq!(read(".data[\"app.json\"] › .level").as_deref(), Ok("/data/app.json/level"));
        assert_eq!(read("metadata › .token").as_deref(), Ok("/token"));
        assert_eq!(read(".").as_deref(), Ok(""));
        for wrong in ["spec", "..a", ".a[0", ".a[\"x", "x.y"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_cannot_leave_the_tree() {
        for hostile in ["..", "a/../b", "/etc", "a//b", "a/", "./a", "a\0b"] {
            assert!(RepoPath::new(hostile).is_err(), "{hostile:?}");
        }
        let root = RepoPath::root();
        for hostile in [&b".."[..], b"a/b", b"", b".", b"a\0"] {
            assert!(root.join(hostile).is_err(), "{hostile:?}");
        }
    }

    #[test]
    fn a_directory_holds_itself_and_what_is_below_but_not_its_namesakes() {
        let path = |text: &str| RepoPath::new(text).expect("a plain path");
        assert!(path("a/b").is_within(&path("a")));
        assert!(path("a").is_within(&path("a")));
        assert!(path("a").is_within(&RepoPath::root()));
        assert!(!path("ab").is_within(&path("a")));
    }

    #[test]
    fn logical_paths_are_cleaned_and_reserved_segments_refused() {
        let parsed = |text| LogicalPath::parse(text).map(|path| path.as_str().to_owned());
        for (text, clean) in
            [("/", "/"), ("/a/", "/a"), ("/a//./b", "/a/b"), ("/a\\b", "/a/b"), ("/x/AD PRD", "/x/AD PRD")]
        {
            assert_eq!(parsed(text).as_deref(), Ok(clean), "{text}");
        }
        for wrong in ["", "a", " /a", "/a/../b", "/a/_", "/_/a", "/a\0"] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn parents_and_last_segments() {
        let path = LogicalPath::parse("/a/b").expect("a logical path");
        assert_eq!((path.last(), path.parent()), (Some("b"), LogicalPath::parse("/a").ok()));
        let top = LogicalPath::parse("/a").expect("a logical path");
        assert_eq!((top.last(), top.parent()), (Some("a"), Some(LogicalPath::root())));
        assert_eq!((LogicalPath::root().last(), LogicalPath::root().parent()), (None, None));
    }

    #[test]
    fn pointers_survive_their_text_form() {
        for text in ["", "/", "/a/b", "/a~1b/~0c", "/~01"] {
            assert_eq!(Pointer::parse(text).expect("a pointer").to_string(), text);
        }
        assert_eq!(Pointer::parse("/~01").expect("a pointer").tokens(), ["~1"]);
        for wrong in ["a", "/~", "/~2", "/a~"] {
            assert!(Pointer::parse(wrong).is_err(), "{wrong}");
        }
    }
}
