//! The command line: every command and flag, with its help text and its environment variable.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::metadata::Operation;

/// Shows what a commit really changes in a git repository of declarative configuration.
///
/// Revisions are given as `git diff` takes them: nothing compares the index with the working tree, `--staged` HEAD with the index,
/// `REV` that revision with the working tree, `A B` and `A..B` two revisions, `A...B` their merge base with B.
#[derive(Debug, Parser)]
#[command(name = "outcrop", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done and clean; 1 findings at or above the threshold (or differences, with --exit-code); \
                          2 not done, or not all of it.\nEvery flag can be set by an environment variable of its name: OUTCROP_COLOR=never.";

/// Flags that every command takes.
#[derive(Debug, Args)]
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
    /// Say more: full lists, spelling-only changes, what was read as what; twice for timings on stderr
    #[arg(short, long, action = clap::ArgAction::Count, env = "OUTCROP_VERBOSE", global = true)]
    pub(super) verbose: u8,
    /// Neither use nor keep what is remembered about trees under the git directory (OUTCROP_CACHE=off does the same)
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    /// Columns of the output; the terminal's width by default
    #[arg(long, value_name = "COLUMNS", env = "OUTCROP_WIDTH", global = true)]
    pub(super) width: Option<usize>,
}

/// When to colour.
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

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show what changes in effect between two revisions
    Diff(DiffArgs),
    /// Report what is wrong with the files that change
    Check(CheckArgs),
    /// Apply the merge directives of a file
    Expand(ExpandArgs),
    /// Put merge directives back into a file that was edited in its expanded form
    Restore(RestoreArgs),
    /// Evaluate an expression over the tree of resources
    Eval(EvalArgs),
    /// Compare two files or two directories, as git difftool calls it
    Difftool(DifftoolArgs),
    /// Check what is about to be committed or pushed, as git and hook managers call it
    Hook(HookArgs),
    /// Review the change that a CI run is about
    #[command(subcommand)]
    Ci(CiCommand),
    /// Say where the effective values of a resource come from, and what each overrode
    Explain(ExplainArgs),
    /// Print resources as they are in effect
    Render(RenderArgs),
    /// Apply a patch file, or a JSON Patch, to documents and print the result
    Patch(PatchArgs),
    /// Show and change metadata: what layers say about resources
    #[command(subcommand)]
    Metadata(MetadataCommand),
    /// Say what is set up, what is read as what, and what is wrong
    Doctor,
    /// List the rules, or explain one
    Rules {
        /// A rule's id, such as document/duplicate-key
        id: Option<String>,
    },
    /// Print the JSON Schema of a machine format
    Schema {
        /// Which one
        #[arg(value_enum, default_value_t)]
        name: SchemaName,
    },
    /// Print a completion script
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Two sides and the paths of interest, as `git diff` takes them.
#[derive(Debug, Args)]
pub(super) struct Range {
    /// Revisions: nothing, REV, A B, A..B or A...B; then, if they cannot be mistaken for revisions, paths
    #[arg(value_name = "REV")]
    pub(super) words: Vec<OsString>,
    /// Compare with the index instead of the working tree
    #[arg(long, visible_alias = "cached", env = "OUTCROP_STAGED")]
    pub(super) staged: bool,
    /// Whose outcrop.yaml says how to judge: the older side's or the newer side's
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_POLICY")]
    pub(super) policy: PolicyName,
    /// Files, directories, globs or logical paths
    #[arg(last = true, value_name = "PATH")]
    pub(super) paths: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum PolicyName {
    /// The older side's: a change cannot switch off its own checks
    #[default]
    Base,
    /// The newer side's
    Head,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    pub(super) range: Range,
    /// How to show it
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: DiffFormat,
    /// Only count changes per resource
    #[arg(long, env = "OUTCROP_STAT", conflicts_with_all = ["name_only", "format"])]
    pub(super) stat: bool,
    /// Only name the resources that change
    #[arg(long, env = "OUTCROP_NAME_ONLY", conflicts_with = "format")]
    pub(super) name_only: bool,
    /// Compare only these views of resources
    #[arg(long, value_enum, value_name = "VIEW", env = "OUTCROP_ONLY", value_delimiter = ',')]
    pub(super) only: Vec<View>,
    /// Tell every change for each resource it happens to, even where many share it
    #[arg(long, env = "OUTCROP_NO_GROUP")]
    pub(super) no_group: bool,
    /// The same as --no-group
    #[arg(long, env = "OUTCROP_PER_RESOURCE")]
    pub(super) per_resource: bool,
    /// Count, but do not show, changes at or below this place: a JSON Pointer, with * for one level and ** for any number
    #[arg(long, value_name = "POINTER", env = "OUTCROP_IGNORE", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// List the changes that were not shown because of ignore and compare rules
    #[arg(long, env = "OUTCROP_SHOW_SUPPRESSED")]
    pub(super) show_suppressed: bool,
    /// Show secrets; only on a terminal, and never in a CI job
    #[arg(long)]
    pub(super) reveal: bool,
    /// Do not use a pager
    #[arg(long, env = "OUTCROP_NO_PAGER")]
    pub(super) no_pager: bool,
    /// Exit with 1 if there are differences
    #[arg(long, env = "OUTCROP_EXIT_CODE")]
    pub(super) exit_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum View {
    /// What resources say
    Payload,
    /// What layers say about them
    Metadata,
    /// What would be sent for them
    Requests,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum DiffFormat {
    /// For reading
    #[default]
    Terminal,
    /// For reading, old and new in two columns
    SideBySide,
    /// A line diff of normalised documents, as git writes it
    Unified,
    /// For programs: outcrop/report/v1
    Json,
    /// An exact RFC 6902 patch per resource: applied to the older one it gives the newer one
    JsonPatch,
    /// For pull requests
    Markdown,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) range: Range,
    /// How to show it
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: CheckFormat,
    /// Check every file of the newer side, not only those that change
    #[arg(long, env = "OUTCROP_ALL", conflicts_with = "new_only")]
    pub(super) all: bool,
    /// Report only what the older side does not have; the default when two revisions are compared
    #[arg(long, env = "OUTCROP_NEW_ONLY", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(super) new_only: Option<bool>,
    /// The severity from which on findings make the exit code 1
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(super) fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum CheckFormat {
    /// For reading, with snippets
    #[default]
    Terminal,
    /// For programs: outcrop/report/v1
    Json,
    /// Workflow commands that annotate lines on GitHub
    Github,
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

/// One revision and a way to write.
#[derive(Debug, Args)]
pub(super) struct At {
    /// The revision to look at; the working tree by default, HEAD in a bare repository
    #[arg(long, value_name = "REV", env = "OUTCROP_AT")]
    pub(super) at: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A logical path such as /customers/acme, a file or directory, or a Kubernetes name such as 'Deployment shop/web'
    pub(super) path: OsString,
    /// Only what stands at or below this place in the effective payload or metadata: a JSON Pointer
    pub(super) pointer: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
    /// How to show it
    #[arg(short, long, value_enum, default_value_t, env = "OUTCROP_OUTPUT")]
    pub(super) output: ExplainOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum ExplainOutput {
    /// For reading
    #[default]
    Terminal,
    /// As YAML
    Yaml,
    /// As JSON
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum MetadataCommand {
    /// Show everything that holds for a path: its layers over the defaults
    Get {
        #[command(flatten)]
        target: MetadataTarget,
        /// Leave the defaults out
        #[arg(long, env = "OUTCROP_OVERRIDES_ONLY")]
        overrides_only: bool,
    },
    /// Show what is stored for a path: its layers merged, as they are written
    Resolve {
        #[command(flatten)]
        target: MetadataTarget,
        /// Show each layer on its own, weakest first
        #[arg(long, env = "OUTCROP_LAYERS")]
        layers: bool,
    },
    /// Show what would be sent for a resource or a collection; nothing is ever sent
    Render(RequestArgs),
    /// Propose metadata for a path: from an OpenAPI document, and from the path itself
    Infer {
        #[command(flatten)]
        target: MetadataTarget,
        /// The OpenAPI document; by default the one that `openapi` in outcrop.yaml names
        #[arg(long, value_name = "FILE", env = "OUTCROP_OPENAPI")]
        openapi: Option<PathBuf>,
        /// Store the proposal; what is stored already stays as it is
        #[arg(long, conflicts_with = "at")]
        apply: bool,
        /// Show also what follows from the path alone, and leave out what is stored
        #[arg(long, env = "OUTCROP_COMPLETE", conflicts_with = "apply")]
        complete: bool,
        /// Everything below the path too: not available yet, and refused
        #[arg(long, env = "OUTCROP_RECURSIVE")]
        recursive: bool,
    },
    /// Change one field of a metadata file, or replace the file
    Set {
        /// A logical path, such as /customers/acme; /customers/ for the collection
        path: OsString,
        /// The field: a JSON Pointer such as /operationInfo/getResource/path
        #[arg(requires = "value", required_unless_present = "file")]
        pointer: Option<String>,
        /// Its value: text as it is, everything else as YAML
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
        /// Replace the whole document by this file, in canonical form; - reads standard input
        #[arg(short, long, value_name = "FILE", conflicts_with_all = ["pointer", "value"])]
        file: Option<PathBuf>,
    },
    /// Remove one field of a metadata file, or the file
    Unset {
        /// A logical path, such as /customers/acme; /customers/ for the collection
        path: OsString,
        /// The field: a JSON Pointer
        pointer: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(super) struct RequestArgs {
    /// A logical path, such as /customers/acme; /customers/ for the collection; or a file or directory
    pub(super) path: OsString,
    /// What is done; list for a collection, get otherwise
    #[arg(value_enum, value_name = "OPERATION")]
    pub(super) operation: Option<OperationName>,
    /// Show every operation that makes sense for the path, if none is named
    #[arg(long, env = "OUTCROP_ALL")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) at: At,
    /// How to show it
    #[arg(short, long, value_enum, default_value_t, env = "OUTCROP_OUTPUT")]
    pub(super) output: RequestOutput,
    /// Show secrets; only on a terminal, and never in a CI job
    #[arg(long)]
    pub(super) reveal: bool,
}

/// What can be done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OperationName {
    /// Read a resource
    #[value(alias = "getResource")]
    Get,
    /// Make a resource
    #[value(alias = "createResource")]
    Create,
    /// Change a resource
    #[value(alias = "updateResource")]
    Update,
    /// Remove a resource
    #[value(alias = "deleteResource")]
    Delete,
    /// Read a collection
    #[value(alias = "listCollection")]
    List,
    /// Read a resource to compare it
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
    /// For reading
    #[default]
    Text,
    /// As JSON, with the template, the layer and the values behind every part
    Json,
    /// As one command line each; the server is in the variable SERVER
    Curl,
}

#[derive(Debug, Args)]
pub(super) struct MetadataTarget {
    /// A logical path, such as /customers/acme; /customers/ for the collection; or a file or directory
    pub(super) path: OsString,
    #[command(flatten)]
    pub(super) at: At,
    /// How to show it
    #[arg(short, long, value_enum, default_value_t, env = "OUTCROP_OUTPUT")]
    pub(super) output: DocumentOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum DocumentOutput {
    /// As YAML
    #[default]
    Yaml,
    /// As JSON
    Json,
}

#[derive(Debug, Args)]
pub(super) struct ExpandArgs {
    /// The file
    pub(super) file: PathBuf,
    /// The revision to read it from; the working tree by default
    #[arg(long, value_name = "REV", env = "OUTCROP_AT")]
    pub(super) at: Option<String>,
    /// How to write the result
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: OutputFormat,
    /// Say for every value where it is written, what brought it here and what it overrides
    #[arg(long, env = "OUTCROP_WHY")]
    pub(super) why: bool,
    /// Show secrets; only on a terminal, and never in a CI job
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    /// A path such as services::[labels::env=prod]::name, or a function form, which starts with {
    #[arg(value_name = "EXPR")]
    pub(super) expression: String,
    /// The current resource: a logical path, a file or a Kubernetes name such as 'Deployment shop/web'; the root by default
    #[arg(long, env = "OUTCROP_PATH")]
    pub(super) path: Option<OsString>,
    #[command(flatten)]
    pub(super) at: At,
    /// A variable for the expression; its value is YAML
    #[arg(long = "var", value_name = "NAME=VALUE", env = "OUTCROP_VAR")]
    pub(super) vars: Vec<String>,
    /// Print all matches as a list; otherwise null without a match, the value of one, a list of several
    #[arg(long, env = "OUTCROP_ALL")]
    pub(super) all: bool,
    /// Print the steps that lead to the result before it
    #[arg(long, env = "OUTCROP_TRACE")]
    pub(super) trace: bool,
    /// How to write the result
    #[arg(short, long, value_enum, default_value_t, env = "OUTCROP_OUTPUT")]
    pub(super) output: DocumentOutput,
    /// Show secrets; only on a terminal, and never in a CI job
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// The file with its directives
    pub(super) original: PathBuf,
    /// The expanded document after the edit
    pub(super) changed: PathBuf,
    /// Write the result to the original file instead of printing it
    #[arg(long)]
    pub(super) write: bool,
}

#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    /// Logical paths, files, directories, globs, or Kubernetes names such as 'Deployment shop/web'; everything by default
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<OsString>,
    #[command(flatten)]
    pub(super) at: At,
    /// Show each resource after every stage that changes it: merge directives, expressions, each patch file
    #[arg(long, env = "OUTCROP_STEPS")]
    pub(super) steps: bool,
    /// How to write them
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: OutputFormat,
    /// Show secrets; only on a terminal, and never in a CI job
    #[arg(long)]
    pub(super) reveal: bool,
}

#[derive(Debug, Args)]
pub(super) struct PatchArgs {
    /// The patch file: a list of patches, a map with `patches`, or a JSON Patch (RFC 6902)
    pub(super) spec: PathBuf,
    /// The documents; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// A variable for expressions, such as parameters.tier=gold, or a file with a map of them; may be given several times
    #[arg(long, value_name = "KEY=VALUE|FILE", env = "OUTCROP_INPUT")]
    pub(super) input: Vec<OsString>,
    /// Show what changes instead of the result
    #[arg(long, env = "OUTCROP_DIFF", conflicts_with = "format")]
    pub(super) diff: bool,
    /// How to write the result
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: OutputFormat,
    /// Show secrets; only on a terminal, and never in a CI job
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
pub(super) struct DifftoolArgs {
    /// The older file or directory
    pub(super) local: PathBuf,
    /// The newer file or directory
    pub(super) remote: PathBuf,
    /// The path in the repository, which decides how the files are read
    #[arg(long, env = "OUTCROP_PATH")]
    pub(super) path: Option<OsString>,
    /// How to show it
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FORMAT")]
    pub(super) format: DiffFormat,
    /// Exit with 1 if there are differences
    #[arg(long, env = "OUTCROP_EXIT_CODE")]
    pub(super) exit_code: bool,
}

#[derive(Debug, Args)]
pub(super) struct HookArgs {
    /// Which hook
    #[arg(value_enum)]
    pub(super) name: HookName,
    /// What git passes on: nothing before a commit, the remote's name and URL before a push
    #[arg(value_name = "ARGUMENT")]
    pub(super) arguments: Vec<OsString>,
    /// The severity from which on findings stop the commit or push
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(super) fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum HookName {
    /// Before a commit: check what is staged
    PreCommit,
    /// Before a push: check what is pushed, as listed on standard input
    PrePush,
}

#[derive(Debug, Subcommand)]
pub(super) enum CiCommand {
    /// In a GitHub workflow: annotations, step summary and outputs for the event that started it
    Github(GithubArgs),
}

#[derive(Debug, Args)]
pub(super) struct GithubArgs {
    /// The severity from which on findings make the exit code 1
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(super) fail_on: FailOn,
    /// The older revision, if the event's own is not the right one
    #[arg(long, value_name = "REV", env = "OUTCROP_BASE")]
    pub(super) base: Option<String>,
    /// The newer revision, if the event's own is not the right one
    #[arg(long, value_name = "REV", env = "OUTCROP_HEAD")]
    pub(super) head: Option<String>,
    /// Files, directories, globs or logical paths
    #[arg(last = true, value_name = "PATH")]
    pub(super) paths: Vec<OsString>,
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
    /// What this process was started with; what cannot be understood is said, and ends it.
    pub(super) fn of_this_process() -> Self {
        Self::parse()
    }

    /// The definition itself, for completions and the manual page.
    pub(super) fn definition() -> clap::Command {
        Self::command()
    }
}
