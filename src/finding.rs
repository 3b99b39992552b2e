//! Trouble in the user's files as a value: what, where, why, and the way out.

use smol_str::SmolStr;

use crate::path::RepoPath;
use crate::text::Span;

/// Something wrong, or worth knowing, about what was read.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which rule speaks.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// Where it is.
    pub location: Location,
    /// What stands at the location, in a word or two.
    pub label: String,
    /// Other places that belong to it.
    pub related: Vec<Label>,
    /// The way out.
    pub help: Option<String>,
}

/// A further place and what is there.
#[derive(Debug, Clone)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// Where a finding is.
#[derive(Debug, Clone)]
pub enum Location {
    /// A place in a text that was read.
    Span(Span),
    /// A file or directory that could not be read as text.
    File {
        /// Where it stands.
        path: RepoPath,
        /// The side it belongs to.
        revision: SmolStr,
    },
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Probably a mistake.
    Warning,
    /// Wrong: the file cannot mean what it says.
    Error,
}

/// The category of a rule, for programs that sort findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file breaks a rule of its format or shape.
    Validation,
    /// Something referred to is not there.
    NotFound,
    /// Two things claim the same place.
    Conflict,
    /// A limit was reached; nothing is known about what lies beyond it.
    Limit,
    /// The object database did not give what it should.
    Unreadable,
}

/// One rule: its stable name, its category and what it says.
#[derive(Debug)]
pub struct Rule {
    /// `area/name`, never reused.
    pub id: &'static str,
    /// The category.
    pub kind: Kind,
    /// The severity unless configured otherwise.
    pub severity: Severity,
    /// One sentence for the list of rules.
    pub summary: &'static str,
    /// Why it matters and what to do.
    pub explanation: &'static str,
}

/// A value, complete or not, and what was found while making it.
#[derive(Debug)]
pub struct Outcome<T> {
    /// What could be made.
    pub value: T,
    /// What was wrong on the way.
    pub findings: Vec<Finding>,
}

impl<T> Outcome<T> {
    /// A value without findings.
    pub fn clean(value: T) -> Self {
        Self { value, findings: Vec::new() }
    }
}

impl Finding {
    /// A finding with its rule's severity.
    pub fn new(rule: &'static Rule, location: Location, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: message.into(),
            location,
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// Says in a word or two what stands at the location.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Severity {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Kind {
    /// As it stands in machine output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Limit => "limit",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Declares the rules and the table of all of them, so that no rule can be left out of the table.
macro_rules! rules {
    ($($name:ident = $id:literal, $kind:ident, $severity:ident, $summary:literal, $explanation:literal;)+) => {
        $(
            #[doc = $summary]
            pub static $name: Rule = Rule {
                id: $id,
                kind: Kind::$kind,
                severity: Severity::$severity,
                summary: $summary,
                explanation: $explanation,
            };
        )+
        /// Every rule, in order of its id.
        pub static RULES: &[&Rule] = &[$(&$name),+];
    };
}

rules! {
    CONFIG_INVALID = "config/invalid", Validation, Error,
        "a value in outcrop.yaml has the wrong shape",
        "The configuration is read strictly, so that a slip of the pen cannot switch something off unnoticed. The message says which \
         shape the key takes.";
    CONFIG_RULES_CHANGE = "config/rules-change", Validation, Warning,
        "a change of outcrop.yaml does not judge itself",
        "Severities, limits and list rules are read from the older side, so that no change can switch off its own checks. The new ones \
         apply once the change is merged.";
    CONFIG_UNKNOWN_KEY = "config/unknown-key", Validation, Error,
        "a key in outcrop.yaml is not known",
        "A misspelt key would be ignored silently, and the rule it was meant to set would not hold. The help line names the nearest \
         known key.";
    DOCUMENT_ALIAS_CYCLE = "document/alias-cycle", Validation, Error,
        "an alias stands inside the value it refers to",
        "Such a value would have no end. Give the inner part a name of its own, or write it out.";
    DOCUMENT_DUPLICATE_KEY = "document/duplicate-key", Conflict, Error,
        "a map has the same key twice",
        "Parsers disagree on which one counts: some take the first, some the last, some refuse. Remove one of them.";
    DOCUMENT_ENCODING = "document/encoding", Validation, Error,
        "a configuration file is not text",
        "YAML and JSON files are UTF-8 text (UTF-16 with a byte order mark is read too). The message gives the first byte that is \
         not. Convert the file, or take it out of the configuration by renaming it.";
    DOCUMENT_MERGE_KEY = "document/merge-key", Validation, Error,
        "a merge key `<<` does not hold a map or a list of maps",
        "Only maps can be merged into a map. Quote the key (`\"<<\"`) if it is meant as data.";
    DOCUMENT_SYNTAX = "document/syntax", Validation, Error,
        "a file is not valid YAML or JSON",
        "The file cannot be read, so nothing about its content can be compared or checked. The snippet shows where the parser gave up; \
         the cause is often a line or two above it.";
    DOCUMENT_TAG = "document/tag", Validation, Error,
        "a tag of the core schema does not fit its value",
        "`!!int`, `!!float`, `!!bool` and `!!null` demand a value that can be read as such.";
    DOCUMENT_UNDEFINED_ALIAS = "document/undefined-alias", NotFound, Error,
        "an alias names an anchor that is not defined before it",
        "Anchors (`&name`) must stand before their aliases (`*name`), in the same document of the same file.";
    LIMIT_DEPTH = "limit/depth", Limit, Error,
        "a document is nested too deeply",
        "Real configuration is rarely more than 20 levels deep; the limit keeps hostile files from exhausting the stack. \
         `limits.depth` in outcrop.yaml moves it.";
    LIMIT_ENTRIES = "limit/entries", Limit, Error,
        "there are too many files to look at",
        "A few objects can describe a tree of billions of paths. Everything beyond the limit was not looked at, so the run is \
         incomplete. Name the paths of interest after `--`, or raise `limits.entries` in outcrop.yaml.";
    LIMIT_FILE_SIZE = "limit/file-size", Limit, Error,
        "a file is too large to read",
        "The size is checked before reading. `limits.file_bytes` in outcrop.yaml moves the limit.";
    LIMIT_INCLUDES = "limit/includes", Limit, Error,
        "a document includes too many files",
        "Files that include files can multiply without end. `limits.include_depth` and `limits.includes` in outcrop.yaml move the limits.";
    LIMIT_NODES = "limit/nodes", Limit, Error,
        "a document has too many values",
        "Aliases and merge directives can make a small file stand for billions of values. `limits.nodes` in outcrop.yaml moves the limit.";
    LIMIT_RUN_SIZE = "limit/run-size", Limit, Error,
        "all files together are too large to read",
        "What was read before the limit was reached is compared; the rest is not, so the run is incomplete. Name the paths of \
         interest after `--`, or raise `limits.run_bytes` in outcrop.yaml.";
    MERGE_INCLUDE_NOT_FOUND = "merge/include-not-found", NotFound, Error,
        "an included file does not exist",
        "The name is taken relative to the file in which it is written. `+?include` allows the file to be missing.";
    MERGE_INCLUDE_REFUSED = "merge/include-refused", Validation, Error,
        "an include names something that is never read",
        "Includes are read from the same commit as the file itself. Absolute names, names that lead out of the tree, URLs, symbolic links \
         and conditions on the environment are refused, because the result would depend on more than the commit.";
    MERGE_INVALID_INCLUDE = "merge/invalid-include", Validation, Error,
        "the value of an include is neither a file name nor a map with `file`",
        "Write `+include: name.yaml`, `+include: name.yaml#/part` or `+include: {file: name.yaml}`.";
    MERGE_INVALID_POINTER = "merge/invalid-pointer", Validation, Error,
        "a path in a directive has a `~` that is followed by neither 0 nor 1",
        "Inside a path, `~0` stands for `~` and `~1` stands for `/`, as in JSON Pointer.";
    MERGE_CONFLICT = "merge/merge-conflict", Conflict, Error,
        "a directive brings a value that is not a map into a map with other keys",
        "Only maps can be merged into a map. A list or a scalar can take the place of a map that holds nothing but the directive.";
    MERGE_FORBIDDEN = "merge/merge-forbidden", Conflict, Error,
        "a directive merges into a map that is marked `+%: error`",
        "The mark says that this map is not to be overridden. Write `+%: merge` in the overriding map if it is meant nevertheless.";
    MERGE_MISSING_REFERENCE = "merge/missing-reference", NotFound, Error,
        "the target of a directive does not exist",
        "Paths start at the root of the document as it is after expansion; `+?` allows the target to be missing.";
    MERGE_MULTIPLE_DOCUMENTS = "merge/multiple-documents", Validation, Error,
        "a file with several documents cannot be included or expanded as one",
        "A directive needs one value. Put each document into a file of its own.";
    MERGE_NOT_A_MAP = "merge/not-a-map", Validation, Error,
        "a document to be expanded is not a map",
        "Directives are keys of maps, and their paths start at the map at the top level.";
    MERGE_NOT_RESTORABLE = "merge/not-restorable", Validation, Error,
        "a changed document cannot be written so that expanding it gives it back",
        "Keys that look like directives would be expanded when the document is read again. Rename them, or take them out.";
    MERGE_RECURSIVE_INCLUDE = "merge/recursive-include", Validation, Error,
        "a directive leads back to itself",
        "The value would have no end. The chain shows the way round; one of its directives must go.";
    METADATA_AMBIGUOUS = "metadata/ambiguous", Conflict, Error,
        "several resources answer to one name",
        "A resource can be called by its directory, its alias or its id. Where two resources of a collection share one of these, \
         nobody can tell which is meant. Give one of them another name, or ask for it by its path.";
    METADATA_CLEARS = "metadata/clears", Validation, Error,
        "a rewrite would bring a cleared value back",
        "A `null` in a layer switches off what weaker layers say. Documents are written without nulls, so rewriting this one would let the \
         inherited value through again. Change the one field that is meant with `outcrop metadata set PATH POINTER VALUE`, which leaves \
         the rest of the file as it is, or remove the null first.";
    METADATA_DEAD_EDIT = "metadata/dead-edit", Validation, Warning,
        "a value of a layer was edited that no resource reads",
        "Either nothing stands where the layer speaks, or a stronger layer says something else for everything that does. The edit changes \
         nothing; it was probably meant for another place.";
    METADATA_IDENTITY = "metadata/identity", Validation, Error,
        "an item of a list has no name",
        "An item without a path is named by the attribute that `aliasFromAttribute` or `idFromAttribute` points to. Neither gives a text \
         or a number here.";
    METADATA_INVALID = "metadata/invalid", Validation, Error,
        "a value in a metadata file has the wrong shape",
        "Metadata is read strictly, so that a slip of the pen cannot change the meaning of many resources unnoticed. The message says \
         which shape the field takes.";
    METADATA_NOT_A_FILE = "metadata/not-a-file", Validation, Warning,
        "metadata stands behind a link, which is not followed",
        "Symbolic links and submodules are never followed. Put the file itself where the link is.";
    METADATA_NOT_FOUND = "metadata/not-found", NotFound, Error,
        "there is no such metadata",
        "Nothing is stored at this place. `outcrop metadata resolve PATH --layers` lists the files that speak for a path.";
    METADATA_PATH = "metadata/path", Validation, Error,
        "a path cannot have metadata",
        "A path of a resource has no `_` and no globs in it, because these stand for other paths. The message gives the reason.";
    METADATA_SELECTOR = "metadata/selector", Validation, Warning,
        "metadata stands below a name that matches nothing",
        "The name of this directory looks like a glob but is malformed, so the layer in it never speaks for any resource.";
    METADATA_SHADOWED = "metadata/shadowed", Validation, Warning,
        "a field is given under two names, and one does not count",
        "Many fields have older names that are still read. Where both are written, the canonical name counts, and for operations all of it.";
    METADATA_TWO_FILES = "metadata/two-files", Conflict, Warning,
        "two metadata files stand in one place",
        "Only one of them is read: `.yaml` before `.yml` before `.json`. Remove the other.";
    METADATA_UNKNOWN_KEY = "metadata/unknown-key", Validation, Error,
        "a key in a metadata file is not known",
        "A misspelt key would be ignored silently, and the resources it speaks for would be handled differently than it says. The help \
         line names the nearest known key.";
    RESOURCE_DUPLICATE = "resource/duplicate", Conflict, Warning,
        "two documents describe the same resource",
        "Kubernetes documents are identified by group, kind, namespace and name. Which of two wins depends on the order in which \
         they are applied. Remove one, or give it a name of its own.";
    SOURCE_CONFLICT = "source/conflict", Conflict, Error,
        "a path in the index has an unresolved merge conflict",
        "There is no single content to check. Resolve the conflict and `git add` the file.";
    SOURCE_MISSING_OBJECT = "source/missing-object", Unreadable, Error,
        "an object is not in the object database",
        "Shallow and partial clones leave objects out. They are never fetched behind your back; the help line gives the command.";
    SOURCE_UNREADABLE = "source/unreadable", Unreadable, Error,
        "a file, an object or a directory cannot be read",
        "The message gives the reason. Damaged objects can be checked with `git fsck`.";
    SOURCE_UNSAFE_NAME = "source/unsafe-name", Validation, Error,
        "a tree holds a name that would lead out of it",
        "Names such as `..`, or names with a slash, cannot be checked out and are never followed.";
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_id_is_unique() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
}
