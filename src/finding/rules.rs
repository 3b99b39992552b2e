//! The table of all rules: name, category, severity and texts of each.

use super::Severity;

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
    CONFIG_LIST_KEYS = "config/list-keys", Validation, Warning,
        "the configured keys of a list do not tell its items apart",
        "Items are followed by the keys that `lists` in outcrop.yaml gives, if every item has one of them and no two items have the same. \
         Where that does not hold, the list is compared by content, and a change of an item may show as another one. Add a key, name \
         others, or narrow the place the rule is for.";
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
    EXPRESSION_AMBIGUOUS_NAME = "expression/ambiguous-name", Conflict, Error,
        "an expression names a resource by a name that several have",
        "After a leading `::`, a resource can be called by its last name only where that is unique in the whole tree. The message lists \
         the candidates: write the path of the one that is meant.";
    EXPRESSION_BAD_ARGUMENTS = "expression/bad-arguments", Validation, Error,
        "a function of an expression cannot work with what it is given",
        "The message says which function takes what. Text in the arguments of most functions is literal: write `{eval: path}` for the \
         value of a path.";
    EXPRESSION_CYCLE = "expression/cycle", Validation, Error,
        "the value of an expression depends on itself",
        "Computed values may use each other, but not in a circle; the inner one is taken as null. The notes show the way round. \
         An expression that is meant to take the value of a parent starts with `..::`.";
    EXPRESSION_JQ = "expression/jq", Validation, Error,
        "a jq expression is wrong or fails",
        "The message says what is wrong: a slip in the expression, a function that does not exist, or a value it cannot work on. \
         Functions that read the environment, the clock or further inputs do not exist, because the result would depend on more \
         than the commit.";
    EXPRESSION_MISPLACED_KEYWORD = "expression/misplaced-keyword", Validation, Error,
        "a keyword stands beside a function instead of beside `eval`",
        "`foreach`, `select`, `vars` and `strict` belong to the map with the key `eval`: `{eval: {eq: [1, 2]}, foreach: $item}`. Beside the \
         function they would be ignored.";
    EXPRESSION_NOT_NULL = "expression/not-null", Validation, Error,
        "an expression marked `strict: notnull` gives null",
        "The expression found null, or nothing at all. Give the value it looks for, or take `strict` out.";
    EXPRESSION_NUMBER = "expression/number", Validation, Error,
        "a number would be rounded by an expression",
        "Numbers keep all their digits, but jq calculates in floating point where integers do not suffice. A result that silently \
         lost digits would be worse than none.";
    EXPRESSION_PARSE = "expression/parse", Validation, Error,
        "a path expression is malformed",
        "A path is made of keys with `::` between them; `[…]` filters, `=` and `!=` test, `?` takes the first match. The message says \
         what is wrong.";
    EXPRESSION_RECURSIVE = "expression/recursive-expression", Validation, Error,
        "variables of an expression need each other in a circle",
        "Variables are computed when they are used, in any order, but none can be made from itself. The message shows the way round.";
    EXPRESSION_REQUIRED = "expression/required", NotFound, Error,
        "an expression marked `strict: required` finds nothing",
        "Nothing in the tree matches the path. Give the value it looks for, or take `strict` out.";
    EXPRESSION_TEMPLATE = "expression/template", Validation, Error,
        "a template is wrong or cannot be rendered",
        "Templates of metadata are filled from the payload, from the logical path and, with `../`, from resources above. The message \
         names the field, the resource and what is missing.";
    EXPRESSION_UNKNOWN_FUNCTION = "expression/unknown-function", Validation, Error,
        "an expression calls a function that does not exist",
        "Functions work on values of the tree alone. None reads the environment, files or the network, and none runs code, because the \
         result would depend on more than the commit.";
    EXPRESSION_UNKNOWN_SPECIAL_KEY = "expression/unknown-special-key", Validation, Error,
        "an expression asks a resource for a special key that does not exist",
        "Keys of resources that start with a dot are special: `.`, `..`, `.name`, `.path`, `.file`, `.kind`, `.parents`, `.ancestors`, `.root`, \
         `.children`, `.descendants`, `.all`.";
    EXPRESSION_UNREADABLE = "expression/unreadable", Unreadable, Error,
        "an expression needs a resource that cannot be read",
        "What the expression gives is not known as long as a file that it looks at cannot be read. Repair that file.";
    LIMIT_DEPTH = "limit/depth", Limit, Error,
        "a document is nested too deeply",
        "Real configuration is rarely more than 20 levels deep; the limit keeps hostile files from exhausting the stack. \
         `limits.depth` in outcrop.yaml moves it.";
    LIMIT_ENTRIES = "limit/entries", Limit, Error,
        "there are too many files to look at",
        "A few objects can describe a tree of billions of paths. Everything beyond the limit was not looked at, so the run is \
         incomplete. Name the paths of interest after `--`, or raise `limits.entries` in outcrop.yaml.";
    LIMIT_EXPRESSION = "limit/expression", Limit, Error,
        "an expression is too long, too deep, or does too much",
        "A few short expressions can ask for more work than any machine can do. `limits.expression_bytes`, `expression_depth`, \
         `expression_steps` and `expression_results` in outcrop.yaml move the limits, `cel_bytes` and `cel_steps` those of patches, \
         `request_steps` that of all templates and jq expressions of a run together.";
    LIMIT_FILE_SIZE = "limit/file-size", Limit, Error,
        "a file is too large to read",
        "The size is checked before reading. `limits.file_bytes` in outcrop.yaml moves the limit.";
    LIMIT_INCLUDES = "limit/includes", Limit, Error,
        "a document includes too many files",
        "Files that include files can multiply without end. `limits.include_depth` and `limits.includes` in outcrop.yaml move the limits.";
    LIMIT_NODES = "limit/nodes", Limit, Error,
        "a document has too many values",
        "Aliases and merge directives can make a small file stand for billions of values. `limits.nodes` in outcrop.yaml moves the limit.";
    LIMIT_PATCH = "limit/patch", Limit, Error,
        "a patch selects too many places or does too much work",
        "A few lines can ask for billions of edits. `limits.patch_matches` and `limits.patch_work` in outcrop.yaml move the limits.";
    LIMIT_RUN_SIZE = "limit/run-size", Limit, Error,
        "all files together are too large to read",
        "What was read before the limit was reached is compared; the rest is not, so the run is incomplete. Name the paths of \
         interest after `--`, or raise `limits.run_bytes` in outcrop.yaml.";
    LIMIT_SCHEMA = "limit/schema", Limit, Error,
        "a schema takes too much work to check",
        "Schemas that branch again and again, or lead back to themselves without ever looking deeper into the value, have no end. The \
         body was not checked to the end.";
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
    OPENAPI_INVALID = "openapi/invalid", Validation, Error,
        "a document is no OpenAPI document",
        "An OpenAPI document is one map with `paths` in it, of version 2.0, 3.0 or 3.1. Without paths nothing follows from it.";
    OPENAPI_MISSING = "openapi/missing", NotFound, Error,
        "the OpenAPI document is not where the configuration says",
        "`openapi` in `outcrop.yaml` names a file of the repository, from its root. Links are not followed.";
    OPENAPI_REFERENCE = "openapi/reference", NotFound, Warning,
        "a reference in an OpenAPI document leads nowhere",
        "Only references into the same document are followed: `#/components/schemas/Name`. What stands behind another one, or behind a \
         circle of references, is not known and is left out.";
    PATCH_APPEND_MISUSE = "patch/append-misuse", Validation, Error,
        "`-` stands where nothing can be appended",
        "`-` means the place after the last item of a list. Only `add` can put something there, and only as the last segment of a path.";
    PATCH_BAD_PATH = "patch/bad-path", Validation, Error,
        "the path of a patch operation cannot be read",
        "A path is a JSON Pointer whose segments may also be `[0]`, `[-]`, `[*]` or a filter such as `[?(@.name=='app')]`. A slash inside a \
         key or a compared value is written `~1`, a tilde `~0`.";
    PATCH_BAD_VALUE = "patch/bad-value", Validation, Error,
        "a patch operation has no value, or one it cannot use",
        "`add`, `replace` and `mergeShallow` need a `value`; `null` must be written out. `mergeShallow` lays keys over a map, so its value \
         is a map.";
    PATCH_DEAD = "patch/dead", NotFound, Warning,
        "a patch matches no resource",
        "Its `target` fits no resource below the place of the file, so it never does anything. Often a kind or a name was renamed.";
    PATCH_EVAL_IS_DATA = "patch/eval-is-data", Validation, Warning,
        "a patch writes an `eval` map, which is not evaluated",
        "Expressions in resources are evaluated before patches run, so what a patch writes stays as it is. Use `${…}` in the patch instead.";
    PATCH_FOR_EACH = "patch/for-each", Validation, Error,
        "a `forEach` does not give a list or a map",
        "`forEach` is one expression `${…}`. It runs before a resource is chosen, so it cannot read `resource`.";
    PATCH_INVALID = "patch/invalid", Validation, Error,
        "a value in a patch file has the wrong shape",
        "Patches are read strictly, so that a slip of the pen cannot change many resources in an unforeseen way. The message says which \
         shape the field takes.";
    PATCH_MISSING = "patch/missing", NotFound, Error,
        "`replace` names a place that is not there",
        "`replace` changes what exists. Use `add` to set a value whether or not it is there.";
    PATCH_NO_MATCH = "patch/no-match", NotFound, Error,
        "a filter or `[*]` in a path selects nothing",
        "A filter says which items are meant, so finding none is taken for a mistake: a renamed container, a slip of the pen.";
    PATCH_NOT_A_FILE = "patch/not-a-file", Validation, Warning,
        "patches stand behind a link, which is not followed",
        "Symbolic links and submodules are never followed. Put the file itself where the link is.";
    PATCH_OUT_OF_BOUNDS = "patch/out-of-bounds", NotFound, Error,
        "a list has no item of this number",
        "Items are counted from 0 and are never created by number. `-` appends to a list.";
    PATCH_ROOT_TARGET = "patch/root-target", Validation, Error,
        "a patch operation means the whole resource",
        "Operations change what is inside a resource. To drop a whole resource, list it under `removes`.";
    PATCH_TEMPLATE = "patch/template", Validation, Error,
        "an expression in a patch fails",
        "The text between `${` and `}` is CEL. The message says what went wrong when it was read or evaluated.";
    PATCH_TEST_FAILED = "patch/test-failed", Conflict, Error,
        "a `test` operation finds another value",
        "The document is not what the patch was made for, so none of its operations is applied.";
    PATCH_TWO_FILES = "patch/two-files", Conflict, Warning,
        "two patch files stand in one place",
        "Only one of them is read: `.yaml` before `.yml` before `.json`. Remove the other.";
    PATCH_UNKNOWN_KEY = "patch/unknown-key", Validation, Error,
        "a key in a patch file is not known",
        "A misspelt key would be ignored silently, and the patch would do something else than it says. The help line names the nearest \
         known key.";
    PATCH_UNSUPPORTED_OP = "patch/unsupported-op", Validation, Error,
        "a patch operation is not known",
        "Patch files know `add`, `replace`, `remove` and `mergeShallow`.";
    PATCH_WHERE = "patch/where", Validation, Error,
        "a `where` fails or does not give a boolean",
        "`where` is one expression `${…}` that is true for the resources that are meant. A key that is not there means no; everything else \
         that goes wrong is an error.";
    PATCH_WRONG_TYPE = "patch/wrong-type", Validation, Error,
        "a path leads through a value that cannot have it",
        "Keys belong to maps, numbers, filters and `[*]` to lists. Missing maps are made on the way, lists only by `-`.";
    REQUEST_ASSERTION = "request/assertion", Validation, Error,
        "a body does not meet a condition of its metadata",
        "`validate.assertions` are conditions in jq. One that gives nothing but null and false does not hold.";
    REQUEST_HEADER = "request/header", Validation, Error,
        "a header or a method cannot be sent",
        "Names of headers and methods are tokens, and values are one line of text. A line break in a value would be read as a further \
         header.";
    REQUEST_LIST = "request/list", Validation, Error,
        "a list response cannot be told apart into items",
        "A list is an array, or an object with `items`, or one with a single array in it; each item is an object. `jqExpression` of \
         `listCollection` can bring any response to that shape.";
    REQUEST_PATH = "request/path", Validation, Error,
        "the path of a request is not safe or not there",
        "A blank id would make a request of one resource a request of its whole collection, and `..` in an id leads to another \
         resource. Such a path is refused rather than sent.";
    REQUEST_PAYLOAD = "request/payload", Validation, Error,
        "a payload does not fit a transform",
        "Attributes are kept or left out of maps. A payload that is a list or a scalar has none.";
    REQUEST_REQUIRED = "request/required", Validation, Error,
        "a body lacks a required attribute",
        "`validate.requiredAttributes` names what the server demands. Attributes that follow from the logical path count as present.";
    REQUEST_SCHEMA = "request/schema", Validation, Error,
        "a body does not fit its schema, or cannot be checked against it",
        "`validate.schemaRef` refers to an OpenAPI document: to the schema of the request's body, or to one at a pointer. Without one, \
         nobody can say whether the body is right.";
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
