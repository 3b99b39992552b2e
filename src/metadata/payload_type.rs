//! Types of payloads: what a file's extension and the field `format` mean, and how each is named in requests.

use super::effective::EffectiveMetadata;
use super::field::{Field, Section};

/// What a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadType {
    /// Its name: `json`, `text`.
    pub name: &'static str,
    /// Its media type.
    pub media: &'static str,
    /// The extension of its files, with the dot.
    pub extension: &'static str,
}

const TYPES: [PayloadType; 8] = [
    PayloadType { name: "json", media: "application/json", extension: ".json" },
    PayloadType { name: "yaml", media: "application/yaml", extension: ".yaml" },
    PayloadType { name: "ini", media: "application/ini", extension: ".ini" },
    PayloadType { name: "properties", media: "text/x-java-properties", extension: ".properties" },
    PayloadType { name: "xml", media: "application/xml", extension: ".xml" },
    PayloadType { name: "hcl", media: "application/hcl", extension: ".hcl" },
    PayloadType { name: "text", media: "text/plain", extension: ".txt" },
    PayloadType { name: "octet-stream", media: "application/octet-stream", extension: ".bin" },
];

impl PayloadType {
    /// The type of that name.
    pub fn named(name: &str) -> Option<Self> {
        TYPES.into_iter().find(|known| known.name == name)
    }

    /// The type of a file with this extension, in any case; what is not known is bytes.
    pub fn of_extension(extension: &str) -> Self {
        let name = match extension.to_ascii_lowercase().as_str() {
            "json" | "jsonc" => "json",
            "yaml" | "yml" => "yaml",
            "ini" => "ini",
            "properties" | "props" => "properties",
            "xml" => "xml",
            "hcl" => "hcl",
            "txt" | "text" | "csv" | "html" | "htm" | "css" | "js" => "text",
            _ => "octet-stream",
        };
        Self::named(name).unwrap_or(TYPES[7])
    }

    /// The type that metadata names, if it names one alone.
    pub fn in_metadata(metadata: &EffectiveMetadata) -> Option<Self> {
        Self::named(metadata.text(Section::Resource, Field::Format)?)
    }

    /// Whether a payload of this type is a tree of values, and not one text.
    pub fn is_data(self) -> bool {
        matches!(self.name, "json" | "yaml" | "ini" | "properties")
    }
}
