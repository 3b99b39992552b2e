//! References to container images: `registry.example.com/team/app:v1@sha256:…`.

use super::version::Version;

/// An image, and which version of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ImageReference<'t> {
    /// Registry and name, with what is written before them.
    pub(super) repository: &'t str,
    /// What follows the name, as written.
    pub(super) text: &'t str,
    version: Version<'t>,
}

impl<'t> ImageReference<'t> {
    /// Reads a reference with a version; `None` for a name alone, a floating tag such as `latest`, and for other text.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let start = ["docker://", "oci://"].iter().find(|scheme| text.starts_with(**scheme)).map_or(0, |it| it.len());
        let name_end = text.find('@').unwrap_or(text.len());
        // A colon before the last slash belongs to the port of the registry.
        let slash = text[start..name_end].rfind('/').map_or(start, |at| start + at + 1);
        let end = text[slash..name_end].find(':').map_or(name_end, |at| slash + at);
        let (repository, rest) = text.split_at(end);
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix('@')).unwrap_or(rest);
        let version = Version::read(rest)?;
        is_repository(&repository[start..]).then_some(Self { repository, text: rest, version })
    }

    /// Whether the reference cannot be anything else, wherever it is written: it has a registry and a digest.
    pub(super) fn is_certain(&self) -> bool {
        self.version.is_pinned() && self.has_registry()
    }

    /// Whether it names a registry, and something in it.
    pub(super) fn has_registry(&self) -> bool {
        let registry = self.repository.split_once('/').map(|(registry, _)| registry);
        registry.is_some_and(|registry| registry.contains(['.', ':']))
    }
}

fn is_repository(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'/' | b':');
    let is_placed = !text.contains("//") && !text.starts_with('/') && !text.ends_with('/');
    !text.is_empty() && text.bytes().all(is_allowed) && is_placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_ends_where_the_version_begins() {
        let hash = "0".repeat(64);
        let reference = format!("localhost:5000/team/app:v1@sha256:{hash}");
        let image = ImageReference::read(&reference).expect("it is one");
        assert_eq!((image.repository, image.is_certain()), ("localhost:5000/team/app", true));
        let reference = format!("quay.io/team/app@sha256:{hash}");
        let image = ImageReference::read(&reference).expect("it is one");
        assert_eq!((image.repository, image.text), ("quay.io/team/app", &reference[17..]));
        let image = ImageReference::read("nginx:1.27").expect("it is one");
        assert_eq!((image.repository, image.is_certain(), image.has_registry()), ("nginx", false, false));
    }

    #[test]
    fn a_reference_without_one_version_is_none() {
        for text in ["nginx", "nginx:latest", "https://example.com/a:1", "", ":1", "a b:1", "localhost:5000/app"] {
            assert_eq!(ImageReference::read(text), None, "{text}");
        }
    }
}
