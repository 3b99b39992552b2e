//! What `diff` and `compare` show, and how.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::formats::default_format;
use super::{At, DiffFormat, examples};

#[derive(Debug, Args)]
#[command(after_help = examples::COMPARE)]
pub(in crate::shell) struct CompareArgs {
    /// What is compared: a directory, a directory with a kustomization, which is built, a file, FILE#2, or a resource such as
    /// /customers/acme or 'Deployment shop/web'
    #[arg(value_name = "A")]
    pub(in crate::shell) first: OsString,
    /// What it is compared with
    #[arg(value_name = "B")]
    pub(in crate::shell) second: OsString,
    #[command(flatten)]
    pub(in crate::shell) at: At,
    /// File with differences that are meant; they are counted, and one that does not occur is reported
    #[arg(long, value_name = "FILE", env = "OUTCROP_EXPECT")]
    pub(in crate::shell) expect: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::shell) shown: ShownArgs,
}

/// The flags that decide what a report shows.
#[derive(Debug, Args)]
pub(in crate::shell) struct ShownArgs {
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<DiffFormat>(), help_heading = "Output")]
    pub(in crate::shell) format: DiffFormat,
    /// Print only the number of changes per resource
    #[arg(long, env = "OUTCROP_STAT", conflicts_with_all = ["name_only", "format"], help_heading = "Output")]
    pub(in crate::shell) stat: bool,
    /// Print only the number of changed resources per directory
    #[arg(long, env = "OUTCROP_SUMMARY", conflicts_with_all = ["stat", "name_only", "format"], help_heading = "Output")]
    pub(in crate::shell) summary: bool,
    /// Show only resources of this Kubernetes kind, such as Deployment or Certificate.cert-manager.io
    #[arg(long, value_name = "KIND", env = "OUTCROP_KIND", value_delimiter = ',', help_heading = "What is shown")]
    pub(in crate::shell) kind: Vec<String>,
    /// Show only resources in this directory, or rendered from this root
    #[arg(long, value_name = "DIR", env = "OUTCROP_ROOT", value_delimiter = ',', help_heading = "What is shown")]
    pub(in crate::shell) root: Vec<String>,
    /// Address of the newer side's files for links, such as https://github.com/OWNER/NAME/blob/COMMIT
    #[arg(long, value_name = "URL", env = "OUTCROP_LINK", help_heading = "Output")]
    pub(in crate::shell) link: Option<String>,
    /// Print only the files of the resources that change
    #[arg(long, env = "OUTCROP_NAME_ONLY", conflicts_with = "format", help_heading = "Output")]
    pub(in crate::shell) name_only: bool,
    /// Do not group identical changes: list every resource separately
    #[arg(long, alias = "per-resource", env = "OUTCROP_NO_GROUP", help_heading = "What is shown")]
    pub(in crate::shell) no_group: bool,
    /// Count changes at or below this path, such as .spec.replicas or /spec/replicas, without showing them; * matches one level, ** any
    /// number
    #[arg(long, value_name = "PATH", env = "OUTCROP_IGNORE", value_delimiter = ',', help_heading = "What is shown")]
    pub(in crate::shell) ignore: Vec<String>,
    /// Hide and count changes of generated fields: the presets helm, kubernetes, checksums and generated
    #[arg(long, env = "OUTCROP_NEAT", help_heading = "What is shown")]
    pub(in crate::shell) neat: bool,
    /// List the changes that ignore and compare rules hide
    #[arg(long, env = "OUTCROP_SHOW_SUPPRESSED", help_heading = "What is shown")]
    pub(in crate::shell) show_suppressed: bool,
    /// Also show changed files that are no configuration, as text
    #[arg(long, env = "OUTCROP_ALL_FILES", help_heading = "What is shown")]
    pub(in crate::shell) all_files: bool,
    /// Show secrets; works only on a terminal, never in CI
    #[arg(long, help_heading = "Output")]
    pub(in crate::shell) reveal: bool,
    /// Do not use a pager
    #[arg(long, env = "OUTCROP_NO_PAGER", help_heading = "Output")]
    pub(in crate::shell) no_pager: bool,
    /// Exit with 1 if there are differences
    #[arg(long, env = "OUTCROP_EXIT_CODE", help_heading = "Output")]
    pub(in crate::shell) exit_code: bool,
}
