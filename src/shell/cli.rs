//! The command line: every command and flag, with its help text and its environment variable.

mod examples;
mod formats;
mod integrations;
mod shown;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub(super) use formats::unknown_format;
pub(super) use shown::{CompareArgs, ShownArgs};

pub(super) use integrations::{
    CiCommand, DiffDriverArgs, DifftoolArgs, GithubArgs, HookArgs, HookName, InstallArgs, InstallTarget,
};

use formats::default_format;

use crate::metadata::Operation;

/// Shows what a commit really changes in a git repository of declarative configuration.
///
/// Revisions are given as for `git diff`: none compares the index with the working tree, `--staged` HEAD with the index,
/// `REV` that revision with the working tree, `A B` and `A..B` two revisions, `A...B` their merge base with B.
#[derive(Debug, Parser)]
#[command(name = "outcrop", version, max_term_width = 100, after_help = examples::PROGRAM)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Run as if started in this directory
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(super) directory: Option<PathBuf>,
    /// When to colour the output
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_COLOR", global = true)]
    pub(super) color: Color,
    /// Use only ASCII characters for symbols and lines
    #[arg(long, env = "OUTCROP_ASCII", global = true)]
    pub(super) ascii: bool,
    /// More detail: full lists, spelling-only changes, how each file was interpreted; twice for timings on stderr
    #[arg(short, long, action = clap::ArgAction::Count, env = "OUTCROP_VERBOSE", global = true)]
    pub(super) verbose: u8,
    /// Read the configuration of both sides from this file, in place of outcrop.yaml
    #[arg(long, value_name = "FILE", env = "OUTCROP_CONFIG", global = true)]
    pub(super) config: Option<PathBuf>,
    /// Do not use or write the cache in .git/outcrop (same as OUTCROP_CACHE=off)
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    /// Keep the cache in this directory instead, for instance one that a CI runner restores
    #[arg(long, value_name = "DIR", env = "OUTCROP_CACHE_DIR", global = true)]
    pub(super) cache_dir: Option<PathBuf>,
    /// Width of the output in columns [default: the width of the terminal]
    #[arg(long, value_name = "COLUMNS", env = "OUTCROP_WIDTH", global = true)]
    pub(super) width: Option<usize>,
}

/// When to colour the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

// Only the command that was given is built with all its flags: defining all of them takes longer than a small comparison.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Show which resources and values change between two revisions
    Diff(DiffArgs),
    /// Compare two directories, kustomize roots, files or resources of one revision
    Compare(CompareArgs),
    /// Report problems in the changed files
    Check(CheckArgs),
    /// List the kustomize roots that a change affects; in a bundle, the selectors
    Affected(AffectedArgs),
    /// Apply the merge directives of a file
    Expand(ExpandArgs),
    /// Put merge directives back into a document that was edited in its expanded form
    Restore(RestoreArgs),
    /// Evaluate an expression against the resources of a revision
    Eval(EvalArgs),
    /// Compare two files or two directories; called by git difftool and jj
    #[command(display_order = 50)]
    Difftool(DifftoolArgs),
    /// Show one file of a git diff; called by git
    #[command(display_order = 51)]
    DiffDriver(DiffDriverArgs),
    /// Set up git, hooks and hook managers to call outcrop, or undo it
    #[command(display_order = 40)]
    Install(InstallArgs),
    /// Check what is about to be committed or pushed; called by git and hook managers
    #[command(display_order = 52)]
    Hook(HookArgs),
    /// Review the change that started a CI run
    #[command(subcommand, display_order = 53, after_help = examples::CI)]
    Ci(CiCommand),
    /// Show where the effective values of a resource come from, and what they override
    Explain(ExplainArgs),
    /// Print resources with their effective values
    Render(RenderArgs),
    /// Apply a patch file, or a JSON Patch, to documents and print the result
    Patch(PatchArgs),
    /// Show and change the metadata that layers define for resources
    #[command(subcommand, after_help = examples::METADATA)]
    Metadata(MetadataCommand),
    /// Write an outcrop.yaml that records what the files of this repository use
    #[command(display_order = 41, after_help = examples::INIT)]
    Init(InitArgs),
    /// Show the setup, how files are interpreted, and any problems
    #[command(display_order = 42, after_help = examples::DOCTOR)]
    Doctor,
    /// List the rules, or explain one
    #[command(display_order = 60, after_help = examples::RULES)]
    Rules {
        /// Id of a rule, such as document/duplicate-key
        id: Option<String>,
    },
    /// Print the JSON Schema of a machine format
    #[command(display_order = 61, after_help = examples::SCHEMA)]
    Schema {
        /// Name of the schema
        #[arg(value_enum, default_value_t)]
        name: SchemaName,
    },
    /// Print a completion script
    #[command(display_order = 62, after_help = examples::COMPLETIONS)]
    Completions {
        /// Shell to print it for
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(display_order = 63, after_help = examples::MAN)]
    Man,
}

/// Two sides and the paths of interest, as `git diff` takes them.
#[derive(Debug, Args)]
pub(super) struct Range {
    /// Revisions: none, REV, A B, A..B or A...B; then paths, unless they are ambiguous
    #[arg(value_name = "REV")]
    pub(super) words: Vec<OsString>,
    /// Compare with the index instead of the working tree
    #[arg(long, visible_alias = "cached", env = "OUTCROP_STAGED")]
    pub(super) staged: bool,
    /// Compare from the common ancestor of both sides, as A...B does
    #[arg(long, env = "OUTCROP_MERGE_BASE")]
    pub(super) merge_base: bool,
    /// Which side's outcrop.yaml rules apply
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_POLICY")]
    pub(super) policy: PolicyName,
    /// Files, directories, globs or logical paths
    #[arg(last = true, value_name = "PATH")]
    pub(super) paths: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum PolicyName {
    /// The older side: a change cannot disable its own checks
    #[default]
    Base,
    /// The newer side
    Head,
}

#[derive(Debug, Args)]
#[command(after_help = examples::DIFF)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    pub(super) range: Range,
    /// Compare two files or two directories on disk, in or outside a repository; - is standard input
    #[arg(long, conflicts_with_all = ["staged", "policy"])]
    pub(super) no_index: bool,
    /// Compare only these views of resources
    #[arg(
        long,
        value_enum,
        value_name = "VIEW",
        env = "OUTCROP_ONLY",
        value_delimiter = ',',
        help_heading = "What is shown"
    )]
    pub(super) only: Vec<View>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::AFFECTED)]
pub(super) struct AffectedArgs {
    #[command(flatten)]
    pub(super) range: Range,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<AffectedFormat>())]
    pub(super) format: AffectedFormat,
    /// List also roots whose files changed and whose output is the same
    #[arg(long)]
    pub(super) reached: bool,
    /// Print only the names of the roots
    #[arg(long, conflicts_with = "format")]
    pub(super) name_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum AffectedFormat {
    /// One line for each root
    #[default]
    Text,
    /// JSON, with the resources that differ
    Json,
    /// A job matrix for GitHub Actions
    Matrix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum View {
    /// Files as they are written, instead of what kustomizations make of them
    Sources,
    /// The content of resources
    Payload,
    /// Their effective metadata
    Metadata,
    /// The requests that would be sent for them
    Requests,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum DiffFormat {
    /// Text
    #[default]
    Terminal,
    /// Text, old and new in two columns
    SideBySide,
    /// A line diff of normalised documents, in git's format
    Unified,
    /// JSON, schema outcrop/report/v1
    Json,
    /// One exact JSON Patch (RFC 6902) per resource, from the older to the newer version
    JsonPatch,
    /// Markdown for pull requests
    Markdown,
    /// One HTML page for a browser
    Html,
}

#[derive(Debug, Args)]
#[command(after_help = examples::CHECK)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) range: Range,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<CheckFormat>())]
    pub(super) format: CheckFormat,
    /// Check every file of the newer side, not only those that change
    #[arg(long, env = "OUTCROP_ALL", conflicts_with = "new_only")]
    pub(super) all: bool,
    /// Report only problems that the older side does not have [default when two revisions are compared]
    #[arg(long, env = "OUTCROP_NEW_ONLY", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) new_only: Option<bool>,
    /// Report all problems of the files that change, also those that the older side has
    #[arg(long, env = "OUTCROP_NO_NEW_ONLY", conflicts_with_all = ["new_only", "all"])]
    pub(super) no_new_only: bool,
    /// Do not use a pager
    #[arg(long, env = "OUTCROP_NO_PAGER")]
    pub(super) no_pager: bool,
    /// Lowest severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(super) fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum CheckFormat {
    /// Text with snippets of the files
    #[default]
    Terminal,
    /// JSON, schema outcrop/report/v1
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// Workflow commands that annotate lines on GitHub
    Github,
    /// Code Quality report of GitLab
    Gitlab,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum FailOn {
    /// Errors
    #[default]
    Error,
    /// Warnings and errors
    Warning,
    /// Nothing
    Never,
}

/// The revision that a command reads.
#[derive(Debug, Args)]
pub(super) struct At {
    /// Revision to read [default: the working tree, or HEAD in a bare repository]
    #[arg(long, value_name = "REV", env = "OUTCROP_AT")]
    pub(super) at: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN)]
pub(super) struct ExplainArgs {
    /// A logical path such as /customers/acme, a file or directory, a kustomize root, or a Kubernetes name such as 'Deployment shop/web'
    pub(super) path: OsString,
    /// Show only values at or below this path, such as .spec.replicas, in the content and in the metadata; after a kustomize root, the resource:
    /// 'Deployment shop/web'
    #[arg(value_name = "POINTER|RESOURCE")]
    pub(super) pointer: Option<String>,
    /// After a kustomize root and a resource: show only values at or below this path, such as .spec.replicas
    #[arg(value_name = "POINTER")]
    pub(super) pointer_in_root: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(short = 'o', long = "format", alias = "output", value_name = "FORMAT", value_enum, default_value = default_format::<ExplainOutput>())]
    pub(super) output: ExplainOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum ExplainOutput {
    /// Text
    #[default]
    Terminal,
    /// YAML
    Yaml,
    /// JSON
    Json,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum MetadataCommand {
    /// Show the effective metadata of a path: its layers merged over the defaults
    #[command(after_help = examples::METADATA_GET)]
    Get {
        #[command(flatten)]
        target: MetadataTarget,
        /// Leave out the defaults
        #[arg(long, env = "OUTCROP_OVERRIDES_ONLY")]
        overrides_only: bool,
    },
    /// Show the stored metadata of a path: its layers merged, as written
    #[command(after_help = examples::METADATA_RESOLVE)]
    Resolve {
        #[command(flatten)]
        target: MetadataTarget,
        /// Show each layer on its own, weakest first
        #[arg(long, env = "OUTCROP_LAYERS")]
        layers: bool,
    },
    /// Show the requests that would be sent for a resource or a collection; nothing is ever sent
    Render(RequestArgs),
    /// Propose metadata for a path: from an OpenAPI document, and from the path itself
    #[command(after_help = examples::METADATA_INFER)]
    Infer {
        #[command(flatten)]
        target: MetadataTarget,
        /// OpenAPI document [default: the file named by `openapi` in outcrop.yaml]
        #[arg(long, value_name = "FILE", env = "OUTCROP_OPENAPI")]
        openapi: Option<PathBuf>,
        /// Store the proposal; existing fields are kept
        #[arg(long, conflicts_with = "at")]
        apply: bool,
        /// Also show fields that follow from the path alone, and leave out stored ones
        #[arg(long, env = "OUTCROP_COMPLETE", conflicts_with = "apply")]
        complete: bool,
        /// Also infer everything below the path: not supported, always an error
        #[arg(long, env = "OUTCROP_RECURSIVE")]
        recursive: bool,
    },
    /// Change one field of a metadata file, or replace the file
    #[command(after_help = examples::METADATA_SET)]
    Set {
        /// A logical path, such as /customers/acme; /customers/ for the collection
        path: OsString,
        /// The field: a JSON Pointer such as /operationInfo/getResource/path
        #[arg(requires = "value", required_unless_present = "file")]
        pointer: Option<String>,
        /// The value, as YAML: null clears an inherited field, '"10"' is text; a field that takes text takes any unquoted text
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
        /// Replace the whole document with this file, in canonical form; - reads standard input
        #[arg(short, long, value_name = "FILE", conflicts_with_all = ["pointer", "value"])]
        file: Option<PathBuf>,
    },
    /// Remove one field of a metadata file, or the file
    #[command(after_help = examples::METADATA_UNSET)]
    Unset {
        /// A logical path, such as /customers/acme; /customers/ for the collection
        path: OsString,
        /// The field: a JSON Pointer
        pointer: Option<String>,
    },
}

#[derive(Debug, Args)]
#[command(after_help = examples::METADATA_RENDER)]
pub(super) struct RequestArgs {
    /// A logical path, such as /customers/acme; /customers/ for the collection; or a file or directory
    pub(super) path: OsString,
    /// Operation [default: list for a collection, get otherwise]
    #[arg(value_enum, value_name = "OPERATION")]
    pub(super) operation: Option<OperationName>,
    /// Show every operation that applies to the path
    #[arg(long, env = "OUTCROP_ALL")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) at: At,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(short = 'o', long = "format", alias = "output", value_name = "FORMAT", value_enum, default_value = default_format::<RequestOutput>())]
    pub(super) output: RequestOutput,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long)]
    pub(super) reveal: bool,
}

/// An operation on a resource or a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OperationName {
    /// Read a resource
    #[value(alias = "getResource")]
    Get,
    /// Create a resource
    #[value(alias = "createResource")]
    Create,
    /// Update a resource
    #[value(alias = "updateResource")]
    Update,
    /// Delete a resource
    #[value(alias = "deleteResource")]
    Delete,
    /// List a collection
    #[value(alias = "listCollection")]
    List,
    /// Read a resource in order to compare it
    #[value(alias = "compareResources")]
    Compare,
}

impl From<OperationName> for Operation {
    fn from(name: OperationName) -> Self {
        match name {
            OperationName::Get => Self::Get,
            OperationName::Create => Self::Create,
            OperationName::Update => Self::Update,
            OperationName::Delete => Self::Delete,
            OperationName::List => Self::List,
            OperationName::Compare => Self::Compare,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum RequestOutput {
    /// Text
    #[default]
    #[value(alias = "text")]
    Terminal,
    /// JSON, with the template, the layer and the inputs of every part
    Json,
    /// One curl command per request; set the variable SERVER to the server's URL
    Curl,
}

#[derive(Debug, Args)]
pub(super) struct MetadataTarget {
    /// A logical path, such as /customers/acme; /customers/ for the collection; or a file or directory
    pub(super) path: OsString,
    #[command(flatten)]
    pub(super) at: At,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(short = 'o', long = "format", alias = "output", value_name = "FORMAT", value_enum, default_value = default_format::<DocumentOutput>())]
    pub(super) output: DocumentOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum DocumentOutput {
    /// YAML
    #[default]
    Yaml,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EXPAND)]
pub(super) struct ExpandArgs {
    /// File to expand
    pub(super) file: PathBuf,
    /// Revision to read it from [default: the working tree]
    #[arg(long, value_name = "REV", env = "OUTCROP_AT")]
    pub(super) at: Option<String>,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<OutputFormat>())]
    pub(super) format: OutputFormat,
    /// Show for every value where it is defined, how it got here and what it overrides
    #[arg(long, env = "OUTCROP_WHY")]
    pub(super) why: bool,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::EVAL)]
pub(super) struct EvalArgs {
    /// A path such as services::[labels::env=prod]::name, or a function call, which starts with {
    #[arg(value_name = "EXPR")]
    pub(super) expression: String,
    /// Current resource: a logical path, a file or a Kubernetes name such as 'Deployment shop/web' [default: the root]
    #[arg(long, env = "OUTCROP_PATH")]
    pub(super) path: Option<OsString>,
    #[command(flatten)]
    pub(super) at: At,
    /// Variable for the expression; the value is YAML
    #[arg(long = "var", value_name = "NAME=VALUE", env = "OUTCROP_VAR")]
    pub(super) vars: Vec<String>,
    /// Always print a list of all matches [default: null for none, the value for one, a list for several]
    #[arg(long, env = "OUTCROP_ALL")]
    pub(super) all: bool,
    /// Print every evaluation step before the result
    #[arg(long, env = "OUTCROP_TRACE")]
    pub(super) trace: bool,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(short = 'o', long = "format", alias = "output", value_name = "FORMAT", value_enum, default_value = default_format::<DocumentOutput>())]
    pub(super) output: DocumentOutput,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::RESTORE)]
pub(super) struct RestoreArgs {
    /// Original file, with merge directives
    pub(super) original: PathBuf,
    /// Expanded document after the edit
    pub(super) changed: PathBuf,
    /// Write the result to the original file instead of printing it
    #[arg(long)]
    pub(super) write: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::RENDER)]
pub(super) struct RenderArgs {
    /// Logical paths, files, directories, globs, or Kubernetes names such as 'Deployment shop/web' [default: everything]; or one
    /// directory with a kustomization, which is built
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<OsString>,
    /// Render the kustomization in this directory, as `kustomize build` does, without network or checkout
    #[arg(long, value_name = "DIR", env = "OUTCROP_ROOT", conflicts_with_all = ["paths", "steps"])]
    pub(super) root: Option<PathBuf>,
    #[command(flatten)]
    pub(super) at: At,
    /// Show each resource after every stage that changes it: merge directives, expressions, patch files
    #[arg(long, env = "OUTCROP_STEPS")]
    pub(super) steps: bool,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<OutputFormat>())]
    pub(super) format: OutputFormat,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::PATCH)]
pub(super) struct PatchArgs {
    /// Patch file: a list of patches, a map with `patches`, or a JSON Patch (RFC 6902)
    pub(super) spec: PathBuf,
    /// Documents to patch; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Variable for expressions, such as parameters.tier=gold, or a file with a map of variables; repeatable
    #[arg(long, value_name = "KEY=VALUE|FILE", env = "OUTCROP_INPUT")]
    pub(super) input: Vec<OsString>,
    /// Show the changes instead of the result
    #[arg(long, env = "OUTCROP_DIFF", conflicts_with = "format")]
    pub(super) diff: bool,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<OutputFormat>())]
    pub(super) format: OutputFormat,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long)]
    pub(super) reveal: bool,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum OutputFormat {
    /// YAML
    #[default]
    Yaml,
    /// JSON
    Json,
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Print the file instead of writing it
    #[arg(long, env = "OUTCROP_DRY_RUN")]
    pub(super) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum SchemaName {
    /// The report of diff and check
    #[default]
    Report,
    /// Metadata files, for editors
    Metadata,
}

impl Cli {
    /// The parsed arguments of this process; prints usage errors and exits.
    pub(super) fn from_arguments() -> Self {
        let words = integrations::with_command(std::env::args_os().collect());
        Self::of_one_command(&words).unwrap_or_else(|| {
            let mut definition = Self::command();
            let read = |mut matches| Self::from_arg_matches_mut(&mut matches);
            definition
                .try_get_matches_from_mut(words)
                .and_then(read)
                .unwrap_or_else(|error| error.format(&mut definition).exit())
        })
    }

    /// What the words say, if they are right with only one command defined: the first word that is the name of one. Each command in a
    /// definition gets a copy of every global flag: making them for all commands takes longer than finding out that nothing differs.
    fn of_one_command(words: &[OsString]) -> Option<Self> {
        let commands = Command::augment_subcommands(clap::Command::new("outcrop"));
        let named = |word: &OsString| commands.get_subcommands().find(|command| word == command.get_name());
        let command = words.iter().skip(1).find_map(named)?.clone();
        // Freeing a definition takes long, too.
        let definition = Global::augment_args(clap::Command::new("outcrop")).subcommand(command);
        let mut matches = ManuallyDrop::new(definition).try_get_matches_from_mut(words).ok()?;
        Self::from_arg_matches_mut(&mut matches).ok()
    }
}

/// The definition of the command line: every command, its flags and their values.
pub fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_means_the_same_as_among_all() {
        let right = [
            "diff",
            "diff -vv A B -C below --width 80 --only payload -- app.yaml",
            "compare A B",
            "check --fail-on warning HEAD~1",
            "metadata get /customers/acme",
            "hook pre-commit",
            "rules document/duplicate-key",
            "schema metadata",
            "completions fish",
            "-C diff --color never diff check",
            "doctor",
        ];
        let words =
            |line: &str| -> Vec<OsString> { format!("outcrop {line}").split(' ').map(OsString::from).collect() };
        for line in right {
            let one = Cli::of_one_command(&words(line)).unwrap_or_else(|| panic!("`{line}` is not understood"));
            let all = Cli::try_parse_from(words(line)).expect("the words are right");
            assert_eq!(format!("{one:?}"), format!("{all:?}"), "{line}");
        }
        for line in [
            "",
            "--config diff check A",
            "diffs",
            "diff --unknown",
            "diff --help",
            "help diff",
            "metadata",
            "--version",
        ] {
            assert!(Cli::of_one_command(&words(line)).is_none(), "`{line}`");
        }
    }
}
