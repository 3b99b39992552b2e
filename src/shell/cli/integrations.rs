//! The commands that git, hook managers and CI call, and the one that sets them up.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Subcommand, ValueEnum};

use super::formats::default_format;
use super::{Cli, DiffFormat, FailOn, examples};

#[derive(Debug, Args)]
#[command(after_help = examples::DIFFTOOL)]
pub(in crate::shell) struct DifftoolArgs {
    /// Older file or directory
    pub(in crate::shell) local: PathBuf,
    /// Newer file or directory
    pub(in crate::shell) remote: PathBuf,
    /// Path in the repository, which decides how the files are interpreted
    #[arg(long, env = "OUTCROP_PATH")]
    pub(in crate::shell) path: Option<OsString>,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<DiffFormat>())]
    pub(in crate::shell) format: DiffFormat,
    /// Exit with 1 if there are differences
    #[arg(long, env = "OUTCROP_EXIT_CODE")]
    pub(in crate::shell) exit_code: bool,
}

/// What git passes to a diff program.
#[derive(Debug, Args)]
#[command(after_help = DRIVER_EXAMPLES)]
pub(in crate::shell) struct DiffDriverArgs {
    /// What git passes: PATH OLD-FILE OLD-ID OLD-MODE NEW-FILE NEW-ID NEW-MODE [NEW-PATH SIMILARITY], or PATH alone
    #[arg(value_name = "ARGUMENT", required_unless_present = "textconv", allow_hyphen_values = true)]
    pub(in crate::shell) arguments: Vec<OsString>,
    /// Print this file in a normal form: keys sorted, aliases written out, secrets masked
    #[arg(long, value_name = "FILE", conflicts_with = "arguments")]
    pub(in crate::shell) textconv: Option<PathBuf>,
    /// Output format; OUTCROP_FORMAT sets the default, for commands that have it
    #[arg(long, value_enum, default_value = default_format::<DiffFormat>())]
    pub(in crate::shell) format: DiffFormat,
    /// Exit with 1 if there are differences; only where git trusts the exit code (git 2.46 or newer)
    #[arg(long, env = "OUTCROP_EXIT_CODE")]
    pub(in crate::shell) exit_code: bool,
}

const DRIVER_EXAMPLES: &str = "Examples:
  GIT_EXTERNAL_DIFF='outcrop diff-driver' git diff
  git config diff.outcrop.command 'outcrop diff-driver'        with `*.yaml diff=outcrop` in .gitattributes
  git config diff.outcrop.textconv 'outcrop diff-driver --textconv'
  git log -p --ext-diff

`outcrop install diff-driver` sets it up. git stops at the first file for which its diff program fails, so the exit code is 0 unless
--exit-code is given. OUTCROP_OLD_REV and OUTCROP_NEW_REV name the revisions if outcrop cannot infer them.";

#[derive(Debug, Args)]
#[command(after_help = INSTALL_EXAMPLES)]
pub(in crate::shell) struct InstallArgs {
    /// What to set up
    #[arg(value_enum)]
    pub(in crate::shell) target: InstallTarget,
    /// Hooks to install; repeatable [default: pre-commit, pre-merge-commit]
    #[arg(long, value_enum, value_name = "HOOK")]
    pub(in crate::shell) hook: Vec<HookName>,
    /// For all repositories of this user (git config --global): difftool, diff-driver, alias
    #[arg(long)]
    pub(in crate::shell) global: bool,
    /// Keep a foreign hook, and run it before outcrop
    #[arg(long)]
    pub(in crate::shell) chain: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(in crate::shell) dry_run: bool,
    /// Remove what was installed, and restore what was there before
    #[arg(long, conflicts_with = "chain")]
    pub(in crate::shell) uninstall: bool,
}

const INSTALL_EXAMPLES: &str = "Examples:
  outcrop install hook                        before commits and merges of this repository
  outcrop install hook --hook pre-push        before pushes
  outcrop install hook --chain                in addition to a hook that is there already
  outcrop install pre-commit                  in .pre-commit-config.yaml
  outcrop install difftool --global           git difftool -t outcrop
  outcrop install diff-driver                 git diff, for YAML and JSON files of this repository
  outcrop install alias --global              git outcrop
  outcrop install hook --uninstall            back to what was there before

Everything that is written is listed; --dry-run only lists it. `outcrop doctor` shows what is set up.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::shell) enum InstallTarget {
    /// Git hooks that check what is committed, merged or pushed
    Hook,
    /// An entry in .pre-commit-config.yaml, for the pre-commit framework and prek
    PreCommit,
    /// `git difftool -t outcrop`
    Difftool,
    /// `git diff` for YAML and JSON files
    DiffDriver,
    /// `git outcrop`, an alias for outcrop diff
    Alias,
}

/// The words of the command line, with the command that is meant where other programs call `outcrop` without one: git its diff program,
/// kubectl its own, with two directories before the flags.
pub(super) fn with_command(mut words: Vec<OsString>) -> Vec<OsString> {
    if std::env::var_os("GIT_DIFF_PATH_COUNTER").is_some() && is_call_of_git(&words) {
        words.splice(1..1, ["diff-driver".into(), "--".into()]);
    } else if let [_, before, after, ..] = &words[..]
        && [before, after].into_iter().all(|word| Path::new(word).is_dir() && !is_command(word))
    {
        let flags: Vec<OsString> = words.drain(3..).filter(|word| word != "diff" && word != "--no-index").collect();
        words.splice(1..1, ["diff".into(), "--no-index".into()].into_iter().chain(flags));
    }
    words
}

fn is_command(word: &OsString) -> bool {
    let definition = Cli::command();
    definition.get_subcommands().any(|command| word == command.get_name()) || word == "help"
}

/// git passes one path, or a path, a file, an object id, a mode, and so on. Commands and flags look different.
fn is_call_of_git(words: &[OsString]) -> bool {
    let is_id = |word: &OsString| word == "." || word.to_str().is_some_and(|id| id.len() >= 40 && is_hexadecimal(id));
    let is_mode =
        |word: &OsString| word == "." || word.to_str().is_some_and(|mode| mode.len() == 6 && is_hexadecimal(mode));
    match words {
        [_, path] => !is_command(path) && !path.as_encoded_bytes().starts_with(b"-"),
        [_, _, _, old_id, old_mode, _, new_id, new_mode, rest @ ..] => {
            rest.len() <= 2 && is_id(old_id) && is_mode(old_mode) && is_id(new_id) && is_mode(new_mode)
        }
        _ => false,
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[derive(Debug, Args)]
#[command(after_help = examples::HOOK)]
pub(in crate::shell) struct HookArgs {
    /// Name of the hook
    #[arg(value_enum)]
    pub(in crate::shell) name: HookName,
    /// Arguments from git: none, or the remote's name and URL for pre-push
    #[arg(value_name = "ARGUMENT")]
    pub(in crate::shell) arguments: Vec<OsString>,
    /// Lowest severity that stops the commit or push
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(in crate::shell) fail_on: FailOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(clippy::enum_variant_names, reason = "git calls its hooks so")]
pub(in crate::shell) enum HookName {
    /// Before a commit: check the staged files
    PreCommit,
    /// Before a merge is committed: check what it changes
    PreMergeCommit,
    /// Before a push: check the pushed commits, as listed on standard input
    PrePush,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(in crate::shell) enum CiCommand {
    /// In a GitHub workflow: write annotations, step summary and outputs for the triggering event
    Github(GithubArgs),
}

#[derive(Debug, Args)]
#[command(after_help = examples::GITHUB)]
pub(in crate::shell) struct GithubArgs {
    /// Lowest severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t, env = "OUTCROP_FAIL_ON")]
    pub(in crate::shell) fail_on: FailOn,
    /// Older revision [default: from the event]
    #[arg(long, value_name = "REV", env = "OUTCROP_BASE")]
    pub(in crate::shell) base: Option<String>,
    /// Newer revision [default: from the event]
    #[arg(long, value_name = "REV", env = "OUTCROP_HEAD")]
    pub(in crate::shell) head: Option<String>,
    /// Files, directories, globs or logical paths
    #[arg(last = true, value_name = "PATH")]
    pub(in crate::shell) paths: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_git_are_recognised() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let id = "ab".repeat(20);
        assert!(is_call_of_git(&words(&format!("outcrop a.yaml /tmp/x {id} 100644 a.yaml {id} 100644"))));
        assert!(is_call_of_git(&words(&format!("outcrop check /tmp/x {id} 100644 b {id} 100644 b similarity"))));
        assert!(is_call_of_git(&words(&format!("outcrop a.yaml /dev/null . . a.yaml {id} 100644"))));
        assert!(is_call_of_git(&words("outcrop unmerged.yaml")));
        for line in ["outcrop", "outcrop check", "outcrop --version", "outcrop difftool --path a.yaml -- b c d"] {
            assert!(!is_call_of_git(&words(line)), "{line}");
        }
    }
}
