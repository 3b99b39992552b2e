//! The table of all rules: name, category, severity and texts of each.

use std::sync::LazyLock;

use super::Severity;

/// One rule: its stable id, its category and its texts.
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
    /// Where the facts behind it are documented, if they are not ours.
    pub link: Option<&'static str>,
}

/// The category of a rule, for programs that sort findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file violates its format or schema.
    Validation,
    /// Something referred to does not exist.
    NotFound,
    /// Two definitions contradict each other.
    Conflict,
    /// A limit was reached; everything beyond it is unknown.
    Limit,
    /// An object could not be read from the repository.
    Unreadable,
}

impl Rule {
    /// Whether it says what a cluster does with a change, and nothing about how files are read.
    pub fn is_about_cluster(&self) -> bool {
        self.id.starts_with("kubernetes/")
    }
}

impl Kind {
    /// The name in machine output.
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

/// The link of a rule, if it has one.
const fn link(given: &[&'static str]) -> Option<&'static str> {
    match given {
        [link] => Some(link),
        _ => None,
    }
}

/// Declares the rules and the table of all of them, so that no rule can be left out of the table.
macro_rules! rules {
    ($table:ident; $($name:ident = $id:literal, $kind:ident, $severity:ident, $summary:literal, $explanation:literal $(, $link:literal)?;)+) => {
        $(
            #[doc = $summary]
            pub static $name: Rule = Rule {
                id: $id,
                kind: Kind::$kind,
                severity: Severity::$severity,
                summary: $summary,
                explanation: $explanation,
                link: link(&[$($link)?]),
            };
        )+
        /// These rules, in order of their ids.
        pub(super) static $table: &[&Rule] = &[$(&$name),+];
    };
}

mod openchoreo;

pub use openchoreo::*;

/// Every rule, in order of its id.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let mut all: Vec<&Rule> = GENERAL.iter().chain(OPENCHOREO).copied().collect();
    all.sort_by_key(|rule| rule.id);
    all
});

rules! {
    GENERAL;
    COMPARE_EXPECTED = "compare/expected", NotFound, Warning,
        "an expected difference does not occur",
        "The file that `outcrop compare --expect` reads lists differences between two parts that are meant. One that is gone may mean that \
         the second part has lost a setting of its own. Remove the entry, or bring the difference back.";
    COMPARE_HIDDEN_CHANGE = "compare/hidden-change", Validation, Warning,
        "compare rules hide a change of the commit that brings them",
        "Compare rules say what of a resource is worth looking at. A commit that adds a rule and changes what the rule hides would never be \
         seen by a reviewer again. The change is shown this once, by the rules of the older side.";
    COMPARE_NOTHING_LEFT = "compare/nothing-left", Validation, Warning,
        "compare rules leave nothing of a resource to compare",
        "`filterAttributes`, `suppressAttributes` or `jqExpression` of `compareResources` give an empty result, so that no change of the \
         resource can be seen. Often an attribute of a filter is misspelled.";
    CONFIG_INVALID = "config/invalid", Validation, Error,
        "a value in outcrop.yaml is not what its key takes",
        "The configuration is read strictly, so that a typo cannot silently disable a rule. The message says what the key takes.";
    CONFIG_LIST_KEYS = "config/list-keys", Validation, Warning,
        "the configured keys of a list do not identify its items",
        "Items are matched by the keys that `lists` in outcrop.yaml names, if every item has one of them and no two items share a value. \
         Otherwise the list is compared by content, and a changed item may be shown as removed and added. Add a key, name other keys, \
         or narrow the path of the rule.";
    CONFIG_RULES_CHANGE = "config/rules-change", Validation, Warning,
        "a change of outcrop.yaml does not apply to itself",
        "Severities, limits and list rules are read from the older side, so that no change can disable its own checks. The new ones \
         apply once the change is merged.";
    CONFIG_SILENCE = "config/silence", Validation, Warning,
        "a comment that allows a problem gives no reason, or names no rule",
        "`# outcrop-allow RULE: reason` allows one problem on the same line or the next. A comment without a \
         reason has no effect, because a reader could not tell when it may go.";
    CONFIG_UNKNOWN_KEY = "config/unknown-key", Validation, Error,
        "outcrop.yaml has an unknown key",
        "A misspelled key would be ignored silently, and its setting would have no effect. The help line names the nearest known key.";
    CONFIG_WAIVER_EXPIRED = "config/waiver-expired", Validation, Warning,
        "a waiver has expired",
        "A waiver accepts a problem until its last day. The problems it accepted are reported again: mend them, or decide anew and write \
         another day. Days are judged at the date of the newer commit, and for what is not committed at today's.";
    DOCUMENT_ALIAS_CYCLE = "document/alias-cycle", Validation, Error,
        "an alias is inside the value it refers to",
        "Such a value would be infinite. Give the inner part an anchor of its own, or write it out.";
    DOCUMENT_DUPLICATE_KEY = "document/duplicate-key", Conflict, Error,
        "a map has the same key twice",
        "Parsers disagree on which one counts: some take the first, some the last, some refuse. Remove one of them.";
    DOCUMENT_ENCODING = "document/encoding", Validation, Error,
        "a configuration file is not text",
        "YAML and JSON files are UTF-8 text (UTF-16 with a byte order mark is read too). The message gives the first byte that is \
         not. Convert the file, or rename it so that it is not read as YAML or JSON.";
    DOCUMENT_LENIENT = "document/lenient", Validation, Warning,
        "a file is not valid YAML, but common readers accept it",
        "The file is read in the way that these readers do, so nothing is missing from a comparison. A strict reader refuses it: \
         correct it when you next edit the file.";
    DOCUMENT_MERGE_KEY = "document/merge-key", Validation, Error,
        "a merge key `<<` does not hold a map or a list of maps",
        "Only maps can be merged into a map. Quote the key (`\"<<\"`) if it is data.";
    DOCUMENT_SYNTAX = "document/syntax", Validation, Error,
        "a file is not valid YAML or JSON",
        "The file cannot be read, so nothing about its content can be compared or checked. The snippet shows where the parser gave up; \
         the cause is often a line or two above it.";
    DOCUMENT_TAG = "document/tag", Validation, Error,
        "a tag of the core schema does not fit its value",
        "`!!int`, `!!float`, `!!bool` and `!!null` demand a value that can be read as such.";
    DOCUMENT_UNDEFINED_ALIAS = "document/undefined-alias", NotFound, Error,
        "an alias names an anchor that is not defined before it",
        "An anchor (`&name`) must come before its aliases (`*name`), in the same document of the same file.";
    EXPRESSION_AMBIGUOUS_NAME = "expression/ambiguous-name", Conflict, Error,
        "an expression uses a name that several resources have",
        "After a leading `::`, the last part of a resource's path can be used only if it is unique in the whole tree. The message \
         lists the candidates: write the full path of one of them.";
    EXPRESSION_BAD_ARGUMENTS = "expression/bad-arguments", Validation, Error,
        "a function of an expression got arguments it cannot use",
        "The message says what the function takes. Text in the arguments of most functions is literal: write `{eval: path}` for the \
         value of a path.";
    EXPRESSION_CYCLE = "expression/cycle", Validation, Error,
        "the value of an expression depends on itself",
        "Computed values may use each other, but not in a cycle; the inner one evaluates to null. The notes show the cycle. \
         An expression that takes the value of a parent starts with `..::`.";
    EXPRESSION_JQ = "expression/jq", Validation, Error,
        "a jq expression is wrong or fails",
        "The message says what is wrong: a typo in the expression, a function that does not exist, or a value it cannot work on. \
         Functions that read the environment, the clock or further inputs do not exist, because the result would depend on more \
         than the commit.";
    EXPRESSION_MISPLACED_KEYWORD = "expression/misplaced-keyword", Validation, Error,
        "a keyword is next to a function instead of next to `eval`",
        "`foreach`, `select`, `vars` and `strict` belong to the map with the key `eval`: `{eval: {eq: [1, 2]}, foreach: $item}`. Next to \
         the function they would be ignored.";
    EXPRESSION_NEEDS_RUN = "expression/needs-run", Validation, Note,
        "expressions need a running deployment, and are compared as text",
        "A document of Unfurl addresses the model and the environment of a deployment. What cannot be worked out from the files stays as \
         it is written, and an edit of its text is shown.";
    EXPRESSION_NOT_NULL = "expression/not-null", Validation, Error,
        "an expression marked `strict: notnull` gives null",
        "The expression found null, or nothing at all. Give the value it looks for, or take `strict` out.";
    EXPRESSION_NUMBER = "expression/number", Validation, Error,
        "a number would be rounded by an expression",
        "Numbers keep all their digits, but jq uses floating point for anything but integers. A result that silently lost digits would \
         be worse than none.";
    EXPRESSION_PARSE = "expression/parse", Validation, Error,
        "a path expression is malformed",
        "A path is made of keys with `::` between them; `[…]` filters, `=` and `!=` test, `?` takes the first match. The message says \
         what is wrong.";
    EXPRESSION_RECURSIVE = "expression/recursive-expression", Validation, Error,
        "variables of an expression depend on each other in a cycle",
        "Variables are computed when they are used, in any order, but none can depend on itself. The message shows the cycle.";
    EXPRESSION_REQUIRED = "expression/required", NotFound, Error,
        "an expression marked `strict: required` finds nothing",
        "Nothing in the tree matches the path. Give the value it looks for, or take `strict` out.";
    EXPRESSION_SECRET = "expression/secret", Validation, Error,
        "a jq expression looks into a secret",
        "Secrets are hidden before expressions run: they can be moved, joined with texts and compared, but not looked into. A check \
         reports what it could not judge for this reason as a note.";
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
        "The result of the expression is unknown as long as a file that it reads cannot be read. Repair that file.";
    INCLUDE_ELSEWHERE = "include/elsewhere", NotFound, Note,
        "includes lead to other repositories",
        "The directive names a repository that is not this one, or another revision of it. It stays as it is written and is compared as \
         data; nothing is fetched, and a local file of that name is not read. `remotes` in outcrop.yaml names further addresses of \
         this repository.";
    INCLUDE_ENVIRONMENT = "include/environment", NotFound, Note,
        "includes depend on the environment of a run",
        "A condition, a variable in a file name or an address on the network is known to a run alone. The directive stays as it is \
         written and is compared as data.";
    INCLUDE_PYTHON = "include/python", NotFound, Note,
        "includes lead to programs",
        "Unfurl runs the file to get its content. Nothing is run here: the directive stays as it is written and is compared as data.";
    KUBERNETES_CLUSTER_ADMIN = "kubernetes/cluster-admin", Validation, Warning,
        "a subject gets the role cluster-admin",
        "The role may do everything in the cluster, or in a namespace if a RoleBinding grants it. A workload rarely needs that: bind a \
         role that lists what it does.",
        "https://kubernetes.io/docs/concepts/security/rbac-good-practices/#least-privilege";
    KUBERNETES_CLUSTER_ROLE_BINDING = "kubernetes/cluster-role-binding", Validation, Note,
        "a subject gets a role in every namespace",
        "A ClusterRoleBinding is new, or has a new subject. If one namespace is enough, a RoleBinding can refer to the same ClusterRole.",
        "https://kubernetes.io/docs/reference/access-authn-authz/rbac/#rolebinding-and-clusterrolebinding";
    KUBERNETES_CRD_VERSION = "kubernetes/crd-version", Conflict, Warning,
        "a version of a custom resource is removed or no longer served",
        "Whatever uses the version fails. The version in which objects are stored cannot be removed at all, which is an error: the API \
         server refuses it as long as `status.storedVersions` lists the version.",
        "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/";
    KUBERNETES_HOST_NAMESPACE = "kubernetes/host-namespace", Validation, Warning,
        "pods share the network, processes or memory of their node",
        "`hostNetwork`, `hostPID` or `hostIPC` is new. Network policies do not apply to the network of a node, and processes of other \
         pods can be seen.",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline";
    KUBERNETES_HOST_PATH = "kubernetes/host-path", Validation, Warning,
        "pods mount a directory of their node",
        "A `hostPath` volume is new. It ties pods to nodes, and a pod that can write to the right directory controls the node.",
        "https://kubernetes.io/docs/concepts/storage/volumes/#hostpath";
    KUBERNETES_IMMUTABLE = "kubernetes/immutable", Conflict, Error,
        "a field that cannot be changed is changed",
        "The API server refuses to update such fields, so that the change is not applied: selectors of workloads, templates of claims \
         and Jobs, the address of a Service, parameters of a StorageClass, `roleRef`, data that is marked as immutable, and others. \
         Objects with a name made of their content, hooks, and Jobs that go away or are replaced are not reported; other objects \
         that are applied with force are a note, because they are deleted and created again.",
        "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#label-selector-updates";
    KUBERNETES_PRIVILEGED = "kubernetes/privileged", Validation, Warning,
        "a container runs privileged",
        "`privileged: true` is new. Such a container has nearly the rights of a process on the node itself.",
        "https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline";
    KUBERNETES_RBAC_WILDCARD = "kubernetes/rbac-wildcard", Validation, Warning,
        "a role grants more than before, with a `*`",
        "A `*` also grants what is added to the cluster later, such as new resources with secrets in them. List what is needed.",
        "https://kubernetes.io/docs/concepts/security/rbac-good-practices/#least-privilege";
    KUBERNETES_REMOVED = "kubernetes/removed", Validation, Warning,
        "an object is removed that takes data, other objects or protection with it",
        "A Namespace, a CustomResourceDefinition, a volume or its claim, a StatefulSet or a NetworkPolicy is gone. Objects that are \
         kept by an annotation, or by a Flux Kustomization without `prune`, are not reported.",
        "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming";
    KUBERNETES_REMOVED_API = "kubernetes/removed-api", NotFound, Warning,
        "a manifest has an API version that Kubernetes no longer serves",
        "It cannot be applied to a current cluster. The message names the release that stopped serving it, and what replaces it.",
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/";
    KUBERNETES_ROLLOUT = "kubernetes/rollout", Validation, Note,
        "a workload is rolled out again because the content of a ConfigMap or Secret changes",
        "The name of a generated ConfigMap or Secret is made of its content, so that its users change with it. Workloads that change \
         anyway are not listed.",
        "https://kubernetes.io/docs/tasks/manage-kubernetes-objects/kustomization/#configmapgenerator";
    KUBERNETES_SCALED_TO_ZERO = "kubernetes/scaled-to-zero", Validation, Warning,
        "a workload is scaled to zero",
        "No pod of it runs from then on. If it is meant to stay like that, removing it says so.",
        "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#scaling-a-deployment";
    KUBERNETES_SERVICE_TYPE = "kubernetes/service-type", Validation, Warning,
        "a Service is reached in another way than before",
        "A new type gives a Service another address, or takes one away. An external address that is released may not be given again.",
        "https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types";
    KUBERNETES_VOLUME_SHRINK = "kubernetes/volume-shrink", Conflict, Error,
        "a claim asks for less storage than before",
        "Volumes can grow, but not shrink, and the API server refuses a smaller request.",
        "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims";
    KUSTOMIZE_BUILD = "kustomize/build", Validation, Error,
        "a kustomization cannot be built",
        "`kustomize build` would fail here as well, so the kustomization renders no resources.";
    KUSTOMIZE_DEPRECATED_FIELD = "kustomize/deprecated-field", Validation, Warning,
        "a kustomization uses a deprecated field",
        "`kustomize edit fix` rewrites deprecated fields to the ones that replace them.";
    KUSTOMIZE_NO_MATCH = "kustomize/no-match", NotFound, Warning,
        "an entry of a kustomization matches nothing",
        "The target of a patch, an image or a target of a replacement selects no resource of the kustomization, so the entry has no \
         effect. Remove it, or correct its name. Components are not checked: they may be written for resources that only some users have.";
    KUSTOMIZE_OUTSIDE_ROOT = "kustomize/outside-root", Validation, Note,
        "a kustomization reads a file that is not below its directory",
        "`kustomize build` refuses such files unless `--load-restrictor LoadRestrictionsNone` is given; Flux and outcrop read them.";
    KUSTOMIZE_UNRESOLVED = "kustomize/unresolved", NotFound, Note,
        "a kustomization refers to contents that are not in the repository",
        "Remote bases, Helm charts and plugins are neither fetched nor run. Everything else is built.";
    KUSTOMIZE_UNUSED_FILE = "kustomize/unused-file", NotFound, Warning,
        "a file next to a kustomization is used by nothing",
        "The file holds resources or a patch, and no kustomization of the repository refers to it, so an edit of it has no effect. Only the \
         directories of changed files are looked at, and only those whose kustomization can be built.";
    LIMIT_DEPTH = "limit/depth", Limit, Error,
        "a document is nested too deeply",
        "Real configuration is rarely more than 20 levels deep; the limit keeps hostile files from exhausting the stack. \
         `limits.depth` in outcrop.yaml moves it.";
    LIMIT_ENTRIES = "limit/entries", Limit, Error,
        "there are too many files to read",
        "A few objects can describe a tree of billions of paths. Everything beyond the limit was not read, so the run is \
         incomplete. Name the paths to compare after `--`, or raise `limits.entries` in outcrop.yaml.";
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
        "Aliases and merge directives can expand a small file to billions of values. `limits.nodes` in outcrop.yaml moves the limit.";
    LIMIT_PATCH = "limit/patch", Limit, Error,
        "a patch selects too many places or does too much work",
        "A few lines can ask for billions of edits. `limits.patch_matches` and `limits.patch_work` in outcrop.yaml move the limits.";
    LIMIT_RUN_SIZE = "limit/run-size", Limit, Error,
        "all files together are too large to read",
        "What was read before the limit was reached is compared; the rest is not, so the run is incomplete. Name the paths \
         to compare after `--`, or raise `limits.run_bytes` in outcrop.yaml.";
    LIMIT_RUN_WORK = "limit/run-work", Limit, Error,
        "all files together take too much work",
        "Small files can ask for much work, and many of them for much more: aliases, merge keys, includes, expressions and patches \
         multiply. What was done before the limit was reached is shown; the rest is not, so the run is incomplete. Name the paths \
         to compare after `--`, or raise `limits.run_nodes` (values of all documents), `limits.run_steps` (steps of expressions, \
         patches and builds) or `limits.changes` (changed values that are listed) in outcrop.yaml.";
    LIMIT_SCHEMA = "limit/schema", Limit, Error,
        "a schema takes too much work to check",
        "Schemas that branch repeatedly, or refer to themselves without descending into the value, may never end. The \
         body was not checked completely.";
    MERGE_INCLUDE_NOT_FOUND = "merge/include-not-found", NotFound, Error,
        "an included file does not exist",
        "The name is taken relative to the file in which it is written. `+?include` allows the file to be missing.";
    MERGE_INCLUDE_REFUSED = "merge/include-refused", Validation, Error,
        "an include names something that is not allowed",
        "Includes are read from the same commit as the file itself. Absolute names, names that lead out of the tree, URLs, symbolic links \
         and conditions on the environment are refused, because the result would depend on more than the commit.";
    MERGE_INVALID_INCLUDE = "merge/invalid-include", Validation, Error,
        "the value of an include is neither a file name nor a map with `file`",
        "Write `+include: name.yaml`, `+include: name.yaml#/part` or `+include: {file: name.yaml}`.";
    MERGE_INVALID_POINTER = "merge/invalid-pointer", Validation, Error,
        "a path in a directive has a `~` that is followed by neither 0 nor 1",
        "Inside a path, `~` is written `~0` and `/` is written `~1`, as in JSON Pointer.";
    MERGE_CONFLICT = "merge/merge-conflict", Conflict, Error,
        "a directive brings a value that is not a map into a map with other keys",
        "Only maps can be merged into a map. A list or a scalar can take the place of a map that holds nothing but the directive.";
    MERGE_FORBIDDEN = "merge/merge-forbidden", Conflict, Error,
        "a directive merges into a map that is marked `+%: error`",
        "The mark says that this map must not be overridden. Write `+%: merge` in the overriding map to override it anyway.";
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
        "a changed document cannot be written so that expanding it restores it",
        "Keys that look like directives would be expanded when the document is read again. Rename or remove them.";
    MERGE_OPTIONAL_BROKEN = "merge/optional-broken", Validation, Warning,
        "a file that may be missing is there and cannot be read",
        "`+?include` brings in nothing if its file is missing. A file with errors brings in nothing either, which is hardly meant.";
    MERGE_RECURSIVE_INCLUDE = "merge/recursive-include", Validation, Error,
        "a directive leads back to itself",
        "The value would be infinite. The chain shows the cycle; remove one of its directives.";
    MERGE_REDUNDANT = "merge/redundant", Validation, Note,
        "a value is written beside a merge directive that brings the same value",
        "The value has no effect today. It hides the inherited value when that changes, which may be intended.";
    METADATA_AMBIGUOUS = "metadata/ambiguous", Conflict, Error,
        "several resources have the same name",
        "A resource can be addressed by its directory, its alias or its id. If two resources of a collection share one of these, the \
         name is ambiguous. Rename one of them, or use its path.";
    METADATA_CLEARS = "metadata/clears", Validation, Error,
        "rewriting the file would bring a cleared value back",
        "A `null` in a layer clears the value of weaker layers. Documents are written without nulls, so rewriting this one would bring the \
         inherited value back. Change a single field with `outcrop metadata set PATH POINTER VALUE`, which leaves \
         the rest of the file as it is, or remove the null first.";
    METADATA_DEAD_EDIT = "metadata/dead-edit", Validation, Warning,
        "an edited value of a layer affects no resource",
        "Either no resource matches the layer, or a stronger layer overrides the value for every resource that does. The edit has no \
         effect; check whether it belongs in another file.";
    METADATA_IDENTITY = "metadata/identity", Validation, Error,
        "a resource or an item of a list has no name",
        "The id and the alias of a resource are attributes of its payload, or templates of them. A template needs all of its \
         attributes, and gives one segment of a path. An item of a list has no path that could name it instead.";
    METADATA_INVALID = "metadata/invalid", Validation, Error,
        "a value in a metadata file is not what its field takes",
        "Metadata is read strictly, so that a typo cannot silently change many resources. The message says what the field takes.";
    METADATA_MIXED_FORMS = "metadata/mixed-forms", Validation, Warning,
        "a metadata file has groups of the old form and of the new one",
        "`resourceInfo` and `operationInfo` are the old form, `resource`, `operations` and `selector` the new one, which reaches less \
         far. With groups of both, the file has the new form and its names win. Keep one form.";
    METADATA_NOT_A_FILE = "metadata/not-a-file", Validation, Warning,
        "a metadata file is a link, which is not followed",
        "Symbolic links and submodules are never followed. Put the file itself where the link is.";
    METADATA_NOT_FOUND = "metadata/not-found", NotFound, Error,
        "there is no such metadata",
        "Nothing is stored here. `outcrop metadata resolve PATH --layers` lists the files that apply to a path.";
    METADATA_PATH = "metadata/path", Validation, Error,
        "a path cannot have metadata",
        "A path of a resource has no `_` and no globs in it, because these match other paths. The message gives the reason.";
    METADATA_REDUNDANT = "metadata/redundant", Validation, Warning,
        "a layer sets a field to what a weaker layer sets already",
        "For every resource that takes the field from this layer, a weaker layer has the same value. One of them can go.";
    METADATA_SECRET_LOST = "metadata/secret-lost", Validation, Warning,
        "a path is no longer reached by a layer that declares a secret attribute",
        "The file has the new form now, which applies to the items of its collection only. Paths further down lose the secret \
         attributes that it declared. Write `selector: {descendants: true}`, or declare them again below.";
    METADATA_SELECTOR = "metadata/selector", Validation, Warning,
        "metadata is in a directory whose name matches nothing",
        "The name of this directory looks like a glob but is malformed, so the layer in it never applies to a resource.";
    METADATA_SHADOWED = "metadata/shadowed", Validation, Warning,
        "a field is given under two names, and one is ignored",
        "Many fields have older names that are still read. If both are written, the canonical name is used, for operations with all of its content.";
    METADATA_SIDECAR = "metadata/sidecar", NotFound, Error,
        "a file beside a resource that an attribute names is missing",
        "`externalizedAttributes` names attributes whose text is in a file beside the resource. The file is read from the same revision; \
         where it is missing, the attribute keeps its placeholder.";
    METADATA_TWO_FILES = "metadata/two-files", Conflict, Warning,
        "a directory has two metadata files",
        "Only one of them is read: `.yaml` before `.yml` before `.json`. Remove the other.";
    METADATA_UNKNOWN_KEY = "metadata/unknown-key", Validation, Error,
        "a metadata file has an unknown key",
        "A misspelled key would be ignored silently, and would not affect the resources it applies to. The help line names the nearest \
         known key.";
    OPENAPI_INVALID = "openapi/invalid", Validation, Error,
        "a document is not an OpenAPI document",
        "An OpenAPI document is one map with `paths` in it, of version 2.0, 3.0 or 3.1. Without paths nothing can be inferred.";
    OPENAPI_MISSING = "openapi/missing", NotFound, Error,
        "the configured OpenAPI document does not exist",
        "`openapi` in `outcrop.yaml` names a file of the repository, from its root. Links are not followed.";
    OPENAPI_REFERENCE = "openapi/reference", NotFound, Warning,
        "a reference in an OpenAPI document has no target",
        "References into the same document (`#/components/schemas/Name`) and to other files of the commit (`schemas/name.yaml#/Name`) are \
         followed, never to the network. The target of any other reference, and of a cycle of references, is unknown and left out.";
    PATCH_APPEND_MISUSE = "patch/append-misuse", Validation, Error,
        "`-` is used where nothing can be appended",
        "`-` is the position after the last item of a list. Only `add` can write there, and only as the last segment of a path.";
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
        "Its `target` matches no resource below the directory of the file, so it has no effect. Often a kind or a name was renamed.";
    PATCH_EVAL_IS_DATA = "patch/eval-is-data", Validation, Warning,
        "a patch writes an `eval` map, which is not evaluated",
        "Expressions in resources are evaluated before patches run, so what a patch writes stays as it is. Use `${…}` in the patch instead.";
    PATCH_FOR_EACH = "patch/for-each", Validation, Error,
        "a `forEach` does not give a list or a map",
        "`forEach` is one expression `${…}`. It runs before a resource is chosen, so it cannot read `resource`.";
    PATCH_INVALID = "patch/invalid", Validation, Error,
        "a value in a patch file is not what its field takes",
        "Patches are read strictly, so that a typo cannot silently change many resources. The message says what the field takes.";
    PATCH_MISSING = "patch/missing", NotFound, Error,
        "`replace` names a value that does not exist",
        "`replace` changes an existing value. Use `add` to set a value whether or not it exists.";
    PATCH_MOVED_INDEX = "patch/moved-index", Conflict, Warning,
        "an index in a patch selects another item than before",
        "Items were inserted, removed or reordered, and the number in the patch stayed the same. Filters such as `[?(@.name=='app')]` select an \
         item by what it is.";
    PATCH_NO_MATCH = "patch/no-match", NotFound, Error,
        "a filter or `[*]` in a path selects nothing",
        "A filter selects items, so selecting none is treated as a mistake: a renamed container, or a typo.";
    PATCH_NOT_A_FILE = "patch/not-a-file", Validation, Warning,
        "a patch file is a link, which is not followed",
        "Symbolic links and submodules are never followed. Put the file itself where the link is.";
    PATCH_OUT_OF_BOUNDS = "patch/out-of-bounds", NotFound, Error,
        "a list has no item at this index",
        "Indexes start at 0, and items are never created by index. `-` appends to a list.";
    PATCH_ROOT_TARGET = "patch/root-target", Validation, Error,
        "a patch operation targets the whole resource",
        "Operations change what is inside a resource. To drop a whole resource, list it under `removes`.";
    PATCH_TEMPLATE = "patch/template", Validation, Error,
        "an expression in a patch fails",
        "The text between `${` and `}` is CEL. The message says what went wrong when it was read or evaluated.";
    PATCH_TEST_FAILED = "patch/test-failed", Conflict, Error,
        "a `test` operation found a different value",
        "The document is not what the patch was made for, so none of its operations is applied.";
    PATCH_TWO_FILES = "patch/two-files", Conflict, Warning,
        "a directory has two patch files",
        "Only one of them is read: `.yaml` before `.yml` before `.json`. Remove the other.";
    PATCH_UNKNOWN_KEY = "patch/unknown-key", Validation, Error,
        "a patch file has an unknown key",
        "A misspelled key would be ignored silently, and the patch would do something else. The help line names the nearest known key.";
    PATCH_UNSUPPORTED_OP = "patch/unsupported-op", Validation, Error,
        "a patch operation is unknown",
        "Patch files support `add`, `replace`, `remove` and `mergeShallow`.";
    PATCH_WHERE = "patch/where", Validation, Error,
        "a `where` fails or does not give a boolean",
        "`where` is one expression `${…}` that is true for the selected resources. A missing key means false; any other failure is an \
         error.";
    PATCH_WRONG_TYPE = "patch/wrong-type", Validation, Error,
        "a path does not fit the type of a value on it",
        "Keys select from maps; indexes, filters and `[*]` select from lists. Missing maps are created, lists only by `-`.";
    REFERENCE_REMOVED = "reference/removed", NotFound, Warning,
        "a resource refers to one that the change removes",
        "The reference leads nowhere once the change is applied. Expressions that start with `::name`, and the usual references between \
         Kubernetes documents of one directory, are looked at.";
    REQUEST_ASSERTION = "request/assertion", Validation, Error,
        "a body does not meet a condition of its metadata",
        "`validate.assertions` are conditions in jq. One that yields nothing but null and false fails.";
    REQUEST_HEADER = "request/header", Validation, Error,
        "a header or a method cannot be sent",
        "Names of headers and methods are tokens, and values are one line of text. A line break in a value would be read as another \
         header.";
    REQUEST_LIST = "request/list", Validation, Error,
        "a list response cannot be split into items",
        "A list is an array, or an object with `items`, or one with a single array in it; each item is an object. `jqExpression` of \
         `listCollection` can convert any response to that form.";
    REQUEST_MEDIA_TYPE = "request/media-type", Validation, Warning,
        "a request has a media type that the OpenAPI document does not know",
        "`Content-Type` must be one that the operation takes, and `Accept` one that it answers with. Without either header in metadata, those \
         of the document are used.";
    REQUEST_PATH = "request/path", Validation, Error,
        "the path of a request is unsafe or missing",
        "A blank id would turn a request for one resource into one for its whole collection, and `..` in an id leads to another \
         resource. Such a path is refused rather than sent.";
    REQUEST_PAYLOAD = "request/payload", Validation, Error,
        "a payload does not fit a transform",
        "Transforms keep or drop attributes of maps. A payload that is a list or a scalar has none.";
    REQUEST_REQUIRED = "request/required", Validation, Error,
        "a body lacks a required attribute",
        "`validate.requiredAttributes` names what the server requires. Attributes that are derived from the logical path count as present.";
    REQUEST_SCHEMA = "request/schema", Validation, Error,
        "a body does not fit its schema, or cannot be checked against it",
        "`validate.schemaRef` refers to an OpenAPI document: to the schema of the request's body, or to one at a pointer. Without it, \
         the body cannot be checked.";
    REQUEST_UNKNOWN = "request/unknown", NotFound, Warning,
        "the OpenAPI document does not know a request",
        "The document that `openapi` in outcrop.yaml names has no such path, or not with this method. Either metadata or the document is \
         out of date.";
    RESOURCE_DUPLICATE = "resource/duplicate", Conflict, Warning,
        "a resource is defined in two places",
        "Kubernetes documents are identified by group, kind, namespace and name. Which of two definitions wins depends on the order in which \
         they are applied. Remove one, or rename it.";
    RESOURCE_JOINED = "resource/joined", Conflict, Warning,
        "two files that described two resources describe one now",
        "A name was changed to one that another file of the directory has. Which of the two is in effect depends on the order in which they \
         are applied.";
    RESOURCE_TWO_FILES = "resource/two-files", Conflict, Error,
        "a resource has two files",
        "`resource.yaml` and `resource.json` in one directory describe the same resource. Which of them counts depends on the program that \
         reads them. Remove one.";
    SECRET_PLAINTEXT = "secret/plaintext", Validation, Error,
        "a secret is written in plain text",
        "The value replaces a placeholder such as `{{secret .}}`, or is in an attribute that `secretInAttributes` declares. Everyone who can \
         read the repository, also later, can read it.";
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
        "a tree has an entry whose name leads out of it",
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
