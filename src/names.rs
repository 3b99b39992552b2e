//! Names of files that mean something, each spelled once: extensions, `resource.*`, `metadata.*`, `patches.*`, `outcrop.yaml`.

use crate::path::RepoPath;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// YAML 1.2, core schema, plus the merge key `<<`.
    Yaml,
    /// JSON, strictly; the format of new files unless `outcrop.yaml` says otherwise.
    #[default]
    Json,
}

impl Format {
    /// The format that a file name's extension promises: `yaml`, `yml`, `json`, `jsonc`, in any case. A file called
    /// `Kustomization` is YAML without an extension.
    pub fn of_file_name(name: &[u8]) -> Option<Self> {
        if name == KUSTOMIZATION.as_bytes() {
            return Some(Self::Yaml);
        }
        let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
        if name[dot + 1..].eq_ignore_ascii_case(JSON_WITH_COMMENTS.as_bytes()) {
            return Some(Self::Json);
        }
        let is_spelled = |extension: &&str| name[dot + 1..].eq_ignore_ascii_case(extension.as_bytes());
        let known = EXTENSIONS.into_iter().find(is_spelled)?;
        Some(if known == Self::Json.extension() { Self::Json } else { Self::Yaml })
    }

    /// The extension of new files; also the name of the format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
        }
    }
}

/// The extensions of files that are read, in the order in which they are preferred.
pub const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// The extension of JSON with comments.
const JSON_WITH_COMMENTS: &str = "jsonc";
/// A kustomization without an extension.
pub const KUSTOMIZATION: &str = "Kustomization";
/// The configuration of outcrop, at the root of a repository.
pub const CONFIGURATION: &str = "outcrop.yaml";
/// A file at the root of a repository that is always documents, never a resource named by its path or a place for directives.
pub const BUNDLE: &str = "bundle.yaml";
/// The stem of a file that holds the resource its directory is named after.
pub const RESOURCE: &str = "resource";
/// The stem of a file that holds metadata.
pub const METADATA: &str = "metadata";
/// The stem of a file that holds patches.
pub const PATCHES: &str = "patches";
/// The directory whose layers apply to every resource beside it.
pub const WILDCARD: &str = "_";

/// Whether programs that read a JSON file allow comments and trailing commas in it.
pub fn allows_comments(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    name.ends_with(b".jsonc")
        || name == b"devcontainer.json"
        || name == b".devcontainer.json"
        || name.starts_with(b"tsconfig") && name.ends_with(b".json")
        || path.components().any(|component| component == b".vscode")
}

/// The names that a file with this stem can have, the preferred one first.
pub fn each_with_stem(stem: &str) -> impl Iterator<Item = String> {
    EXTENSIONS.into_iter().map(move |extension| format!("{stem}.{extension}"))
}

/// The place of a file name among those with this stem, from 0 for the preferred one.
pub fn rank(name: &[u8], stem: &str) -> Option<usize> {
    let extension = name.strip_prefix(stem.as_bytes())?.strip_prefix(b".")?;
    EXTENSIONS.iter().position(|known| known.as_bytes() == extension)
}

/// Whether a file of this name holds the resource that its directory is named after, in any format.
pub fn is_resource_file(name: &[u8]) -> bool {
    name.strip_prefix(RESOURCE.as_bytes())
        .is_some_and(|rest| rest.len() > 1 && rest[0] == b'.' && !rest[1..].contains(&b'.'))
}

/// Whether a file with this stem holds defaults of a layer beside it: `defaults`, or `defaults-` and the name of a profile.
pub fn is_defaults_stem(stem: &str) -> bool {
    stem == "defaults" || stem.starts_with("defaults-")
}

/// Whether a file of this name holds patches, if its directory is one for layers.
pub fn is_patch_file(name: &[u8]) -> bool {
    rank(name, PATCHES).is_some()
}

/// Whether a file of this name holds metadata, if its directory is one for layers.
pub fn is_metadata_file(name: &[u8]) -> bool {
    rank(name, METADATA).is_some()
}

/// Whether a file of this name is a layer of either kind, if its directory is one for layers.
pub fn is_layer_file(name: &[u8]) -> bool {
    is_metadata_file(name) || is_patch_file(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_programs_allow_comments() {
        let allows = |path: &str| allows_comments(&RepoPath::new(path).unwrap());
        for path in [".vscode/extensions.json", "a/tsconfig.base.json", ".devcontainer/devcontainer.json", "a.jsonc"] {
            assert!(allows(path), "{path}");
        }
        assert!(!allows("package.json") && !allows("vscode/a.json"));
    }

    #[test]
    fn the_extension_decides_the_format() {
        for name in ["a.yaml", "a.YML", "x.y.yaml"] {
            assert_eq!(Format::of_file_name(name.as_bytes()), Some(Format::Yaml), "{name}");
        }
        assert_eq!(Format::of_file_name(b"a.Json"), Some(Format::Json));
        assert_eq!(Format::of_file_name(b"a.jsonc"), Some(Format::Json));
        for name in ["yaml", ".yaml", "a.yaml.bak", "a.", "", "a.json5"] {
            assert_eq!(Format::of_file_name(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn layers_are_recognised_by_their_exact_names() {
        assert!(each_with_stem(METADATA).all(|name| is_metadata_file(name.as_bytes())));
        assert!(each_with_stem(PATCHES).all(|name| is_layer_file(name.as_bytes())));
        for name in ["metadata.YAML", "metadata", "metadata.txt", "my-metadata.yaml", "resource.yaml"] {
            assert!(!is_layer_file(name.as_bytes()), "{name}");
        }
        assert_eq!(rank(b"patches.yml", PATCHES), Some(1));
    }
}
