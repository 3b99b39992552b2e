//! `outcrop.yaml` of both sides, and which of them decides what.

use smol_str::SmolStr;

use super::{PlaceRule, Settings, bundle, decode};
use crate::document::{self, Format};
use crate::finding::{self, Finding, Location, has_errors};
use crate::limits::Limits;
use crate::names;
use crate::path::RepoPath;
use crate::snapshot::{EntryKind, Snapshot, Unreadable};
use crate::text::{SourceText, Sources};

/// Whose `outcrop.yaml` says how to judge. How files are laid out is always read from the side they are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The older side's, so that a change cannot switch off its own checks; the newer side's where the older has none.
    #[default]
    Base,
    /// The newer side's, for authors of the configuration.
    Head,
}

/// What both sides' configuration says.
#[derive(Debug, Default)]
pub struct Configuration {
    /// The older side's settings.
    pub before: Settings,
    /// The newer side's settings.
    pub after: Settings,
    decides: Policy,
    findings: Vec<Finding>,
    older_findings: Vec<Finding>,
}

impl Configuration {
    /// Reads `outcrop.yaml` from both sides; texts are kept in `sources` for findings to show.
    pub fn read(before: &dyn Snapshot, after: &dyn Snapshot, policy: Policy, sources: &Sources) -> Self {
        let before = read_one(before, sources);
        let after = read_one(after, sources);
        // Where the older side says nothing, or nothing readable, there is no policy to escape from.
        let usable = before.is_configured && before.findings.is_empty();
        let decides = if usable { policy } else { Policy::Head };
        let (before, older_findings) = (before.settings, before.findings);
        let (after, findings) = (after.settings, after.findings);
        // Otherwise the older file is only one of two policies.
        let older_findings = if before.may_miss_secrets { older_findings } else { Vec::new() };
        Self { before, after, decides, findings, older_findings }
    }

    /// Reads `outcrop.yaml` from the one side there is.
    pub fn of_one(snapshot: &dyn Snapshot, sources: &Sources) -> Self {
        let OneSide { settings: after, findings, .. } = read_one(snapshot, sources);
        Self { before: Settings::default(), after, decides: Policy::Head, findings, older_findings: Vec::new() }
    }

    /// This configuration, with the addresses under which the repository is known.
    #[must_use]
    pub fn with_remotes(mut self, remotes: &[SmolStr]) -> Self {
        self.before.remotes.extend_from_slice(remotes);
        self.after.remotes.extend_from_slice(remotes);
        self
    }

    /// Reads one file that applies to both sides, in place of the `outcrop.yaml` of each.
    pub fn of_file(snapshot: &dyn Snapshot, path: &RepoPath, sources: &Sources) -> Self {
        let (mut after, mut findings) = read_file(snapshot, path, sources).unwrap_or_default();
        findings.extend(bundle::read(snapshot, sources, &mut after));
        Self { before: after.clone(), after, decides: Policy::Base, findings, older_findings: Vec::new() }
    }

    /// What is wrong with the newer side's.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Why the older side's does not say what is secret.
    pub fn older_findings(&self) -> &[Finding] {
        &self.older_findings
    }

    /// The settings that say how to judge.
    pub fn policy(&self) -> &Settings {
        match self.decides {
            Policy::Base => &self.before,
            Policy::Head => &self.after,
        }
    }

    /// Whether the older side's settings say how to judge.
    pub fn is_older_side_policy(&self) -> bool {
        self.decides == Policy::Base
    }

    /// What is too much for this run.
    pub fn limits(&self) -> &Limits {
        &self.policy().limits
    }

    /// The paths of the newer side's roots, below which logical paths are looked up.
    pub fn roots(&self) -> Vec<RepoPath> {
        self.after.roots.paths().cloned().collect()
    }

    /// The secret rules of both sides: dropping a rule does not reveal its secret.
    pub fn secret_rules(&self) -> impl Iterator<Item = &PlaceRule> {
        self.before.secrets.iter().chain(&self.after.secrets)
    }
}

/// The settings of a side: what `outcrop.yaml` says, and what a bundle says beside it.
fn read_one(snapshot: &dyn Snapshot, sources: &Sources) -> OneSide {
    let configured = read_configuration(snapshot, sources);
    let is_configured = configured.is_some();
    let (mut settings, mut findings) = configured.unwrap_or_default();
    findings.extend(bundle::read(snapshot, sources, &mut settings));
    OneSide { settings, findings, is_configured }
}

/// The settings of one side.
struct OneSide {
    settings: Settings,
    findings: Vec<Finding>,
    /// Whether it has an `outcrop.yaml`.
    is_configured: bool,
}

fn read_configuration(snapshot: &dyn Snapshot, sources: &Sources) -> Option<(Settings, Vec<Finding>)> {
    read_file(snapshot, &RepoPath::new(names::CONFIGURATION).ok()?, sources)
}

fn read_file(snapshot: &dyn Snapshot, path: &RepoPath, sources: &Sources) -> Option<(Settings, Vec<Finding>)> {
    let unknown = || Settings { may_miss_secrets: true, ..Settings::default() };
    let unreadable = |error: Unreadable| Some((unknown(), vec![error.into_finding()]));
    let entry = match snapshot.entry(path) {
        Ok(entry) => entry.filter(|entry| entry.kind == EntryKind::File)?,
        Err(error) => return unreadable(error),
    };
    let bytes = match snapshot.read(&entry) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(error),
    };
    let text = match document::decode(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let location = Location::File { path: path.clone(), revision: snapshot.label().into() };
            let finding = Finding::new(&finding::DOCUMENT_ENCODING, location, error.to_string());
            return Some((unknown(), vec![finding.help("save the file as UTF-8")]));
        }
    };
    let source = sources.add(SourceText::new(path.clone(), snapshot.label(), &*text));
    let mut parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
    let mut decoded = decode(&parsed.value);
    decoded.value.may_miss_secrets |= has_errors(&parsed.findings);
    parsed.findings.append(&mut decoded.findings);
    Some((decoded.value, parsed.findings))
}
