//! The last step: everything that a run found out, as data that each format writes in its own way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::hidden::HiddenSecrets;
use super::pair::LoadSummary;
use super::rollout::Rollout;
use super::unit_change::{DefinitionUse, UnitChange};
use super::views::Changes;
use super::{
    ComparedViews, Comparison, Gap, Judged, NewProblems, Prepared, SideFindings, TextCause, TextFile, causes,
    unreadable_layers,
};
use crate::diff::{self, Bumps, Edits, Group, ResourceChange, Suppressed, Suppressions};
use crate::finding::{Finding, LIMIT_RUN_WORK, Severity};
use crate::impact::{LayerEdit, ReachChange};
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::resource::{ReadAs, Resource, Skipped};
use crate::rules::{self, Allowed, ByAge, ByAllowance, Settled};
use crate::secrets::without_secrets;
use crate::snapshot::{ChangedFile, Copied, Scope, Unreadable, copies, files_below, renames};
use crate::text::Sources;

/// The result of a run, as all formats show it.
#[derive(Debug, Default)]
pub struct Report {
    /// The older side, as people call it.
    pub before: SmolStr,
    /// The newer side.
    pub after: SmolStr,
    /// Every resource that differs, in order of its identity.
    pub resources: Vec<ResourceChange>,
    /// Changes that several resources share; they refer to `resources` by position.
    pub groups: Vec<Group>,
    /// Changes that say nothing but which version of something is used; they refer to `resources` by position.
    pub bumps: Bumps,
    /// Whether every resource is to be listed separately.
    pub is_ungrouped: bool,
    /// Which edited files the changes come from.
    pub edits: Edits,
    /// Edits of layers that do not affect every resource they apply to.
    pub layer_edits: Vec<LayerEdit>,
    /// Layers that paths lose or gain, because their form or their selector changed.
    pub reach_changes: Vec<ReachChange>,
    /// Problems in the files, in order of file and location. A comparison has those that limit it.
    pub findings: Vec<Finding>,
    /// Problems that a waiver or a comment accepts, each with the reason.
    pub allowed: Vec<Allowed>,
    /// Problems and notes that are new and do not limit the comparison, in the same order.
    pub new_problems: Vec<Finding>,
    /// The number of other problems, which both sides have; a note is none.
    pub existing_problems: usize,
    /// Changed files that are configuration by name but not by content, and those that could not be read, as text.
    pub text_files: Vec<TextFile>,
    /// Changed or affected files that could not be compared.
    pub unread: BTreeSet<RepoPath>,
    /// Units whose inputs changed, whether or not their output differs.
    pub units: Vec<UnitChange>,
    /// Resources that are rolled out only because the content of another one has changed.
    pub rollouts: Vec<Rollout>,
    /// Types and traits of OpenChoreo that differ, and who uses them.
    pub definitions: Vec<DefinitionUse>,
    /// Directories whose files were copied to others, if many files are new.
    pub copies: Vec<Copied>,
    /// Which resources are shown, if not all of them are: the words of the flags.
    pub filters: Vec<SmolStr>,
    /// The number of resources that differ and are not shown because of these filters.
    pub filtered_out: usize,
    /// Changed files that were not compared, and why.
    pub skipped: Vec<Skipped>,
    /// How much was compared.
    pub compared: Compared,
    /// The number of resources that were looked at.
    pub examined: usize,
    /// Changes hidden by rules of the user, each with its rule.
    pub suppressed: Vec<Suppressed>,
    /// The views that were compared, if not all of them were.
    pub only: Vec<&'static str>,
    /// Changes that are shown, but that the compare rules of the newer side would hide from now on.
    pub would_hide: Vec<Suppressed>,
    /// The number of changed files by interpretation.
    pub read_as: BTreeMap<ReadAs, usize>,
    /// The number of findings disabled by the configuration.
    pub switched_off: usize,
    /// Whether some files could not be compared, so that the list of changes may be incomplete.
    pub incomplete: bool,
    /// The texts that findings and values point into.
    pub sources: Arc<Sources>,
}

/// So many new files are looked at for copies.
const MANY_ADDED: usize = 20;

/// How much was compared; shown with every report.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// Files that differ between the sides, as git counts them: a renamed file once.
    pub files: usize,
    /// Resources that differ; for a check those that were checked.
    pub resources: usize,
}

impl Report {
    /// Whether some files could not be compared, so that the list of changes may be incomplete.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Removes the groups, so that every resource is listed separately.
    pub fn ungroup(&mut self) {
        self.is_ungrouped = true;
        self.groups.clear();
        self.edits = Edits::default();
    }

    /// Whether the sides differ in something that was compared, by its meaning or as text.
    pub fn has_differences(&self) -> bool {
        self.resources.iter().any(ResourceChange::is_difference) || self.compared_as_text().next().is_some()
    }

    /// The changed files that are configuration by name, but not by content.
    pub fn compared_as_text(&self) -> impl Iterator<Item = &TextFile> {
        self.text_files.iter().filter(|file| file.cause == TextCause::NotByContent)
    }
}

/// The number of errors and warnings.
fn problem_count(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity != Severity::Note).count()
}

/// Whether a finding says that the run has reached a limit that all files share.
pub(super) fn is_about_the_run(finding: &Finding) -> bool {
    finding.rule.id == LIMIT_RUN_WORK.id
}

/// Whether files that decide about others are among those that differ: layers and `outcrop.yaml`.
fn has_rules(read_as: &BTreeMap<ReadAs, usize>) -> bool {
    read_as.contains_key(&ReadAs::Layer) || read_as.contains_key(&ReadAs::Configuration)
}

/// The findings of a comparison by what they mean for it.
struct Problems {
    limiting: Settled,
    new: Settled,
    existing: Settled,
}

impl Comparison<'_> {
    /// The report of a comparison.
    pub(super) fn report(
        &self,
        summary: LoadSummary,
        changes: Changes,
        layer_edits: Vec<LayerEdit>,
        new_problems: NewProblems,
    ) -> Report {
        let LoadSummary { mut findings, hidden, gap, files, resources: examined, units, rollouts, definitions } =
            summary;
        let Changes { mut resources, mut notes } = changes;
        findings.extend(notes.findings);
        let limits = self.after.limits;
        if !self.options.views.payload {
            resources.retain(|resource| resource.changes().next().is_some());
        }
        diff::sort(&mut resources);
        let differing = |resources: &[ResourceChange]| resources.iter().filter(|it| it.is_difference()).count();
        let all = differing(&resources);
        let differ_only_in_versions = diff::differ_only_in_versions(&resources, self.after.sources, limits);
        resources.retain(|resource| self.options.selected.has(resource));
        let filtered_out = all - differing(&resources);
        let policy = self.configuration.policy();
        let suppressions = Suppressions::new(&policy.ignore, &policy.compare, &self.options.ignored, self.options.neat);
        let mut suppressed = suppressions.apply(&mut resources);
        let is_hidden_before = !notes.suppressed.is_empty();
        suppressed.append(&mut notes.suppressed);
        notes.would_hide.extend(self.would_hide(&resources));
        let sources = self.after.sources;
        let renames = renames(&files.one_sided, self.before.snapshot, self.after.snapshot);
        let (text_files, skipped, unreadable) = self.text_files(files.skipped, &files.unread, &renames, &hidden);
        let mut bumps = diff::bumps(&resources, sources, limits);
        let grouped = self.grouped(&resources, &|file| causes::is_edited(&self.before, &self.after, file));
        let is_ungrouped = grouped.is_none();
        let (groups, edits) = grouped.unwrap_or_default();
        findings.after.extend(self.left_out());
        let is_cut = [&findings.before, &findings.after].into_iter().flatten().any(is_about_the_run);
        let incomplete = gap >= Gap::Unparsed || !unreadable.is_empty() || is_cut;
        let mut unread = files.unread;
        unread.extend(unreadable.iter().map(|error| error.path.clone()));
        findings.after.extend(unreadable.into_iter().map(Unreadable::into_finding));
        let problems = self.problems(findings, rules::unusable_list_keys(&resources), new_problems, &hidden);
        let is_unread = |finding: &&Finding| incomplete && finding.is_error() && !finding.rule.is_about_cluster();
        let errors = problems.limiting.findings.iter().filter(is_unread);
        unread.extend(errors.map(|finding| finding.path(sources)).filter(|path| !path.is_root()));
        let copies = self.copies(&files.one_sided, &renames);
        let differing = differing(&resources);
        // Not said where anything else may have changed: what is not compared, compared as text, or hidden by other rules than those
        // that were looked at above.
        let is_all_known =
            !incomplete && text_files.is_empty() && skipped.is_empty() && !has_rules(&files.counted.read_as);
        let is_all_seen = self.options.views == ComparedViews::default() && layer_edits.is_empty();
        let has_same_units = units.iter().all(|unit| unit.sides == [true, true]);
        bumps.is_everything = !bumps.rows.is_empty()
            && differ_only_in_versions
            && is_all_known
            && is_all_seen
            && !is_hidden_before
            && has_same_units;
        Report {
            bumps,
            copies,
            filters: self.options.selected.words(),
            filtered_out,
            groups,
            edits,
            is_ungrouped,
            resources,
            layer_edits,
            findings: rules::one_note_per_file(problems.limiting.findings, sources),
            new_problems: rules::one_note_per_file(problems.new.findings, sources),
            existing_problems: problem_count(&problems.existing.findings),
            switched_off: problems.limiting.switched_off + problems.new.switched_off,
            compared: Compared { files: files.counted.edited - renames.len(), resources: differing },
            examined,
            text_files,
            unread,
            suppressed,
            only: self.options.views.names(),
            would_hide: notes.would_hide,
            incomplete,
            rollouts,
            units,
            definitions,
            ..self.empty_report(skipped, files.counted.read_as)
        }
    }

    /// What changes have in common, and the edits that made them; nothing if memory or time is nearly used up before or meanwhile.
    pub(super) fn grouped(
        &self,
        resources: &[ResourceChange],
        is_edited: &dyn Fn(&RepoPath) -> bool,
    ) -> Option<(Vec<Group>, Edits)> {
        let may_go_on = || self.after.limits.may_go_on().then_some(());
        may_go_on()?;
        let groups = diff::groups(resources, self.after.sources);
        may_go_on()?;
        let edits = diff::edits(resources, self.after.sources, is_edited);
        may_go_on()?;
        Some((groups, edits))
    }

    /// The finding about a run that has left something out, because memory or time is nearly used up.
    pub(super) fn left_out(&self) -> Option<Finding> {
        self.after.limits.left_out(self.after.snapshot.label())
    }

    /// Directories whose files were copied, looked for only where many files are new.
    fn copies(&self, one_sided: &[ChangedFile], renames: &[(RepoPath, RepoPath)]) -> Vec<Copied> {
        let added = one_sided.iter().filter(|file| file.before.is_none()).count();
        if added < MANY_ADDED {
            return Vec::new();
        }
        let Budget { limits, spent, .. } = &self.options.budget;
        let (older, _) = files_below(self.before.snapshot, &Scope::everything(), limits, spent);
        copies(one_sided, renames, &older)
    }

    /// The findings of the newer side as a report.
    pub(super) fn verdict(&self, prepared: &Prepared, judged: Judged) -> Report {
        let loaded = &prepared.loaded;
        let mut known = if judged == Judged::New { loaded.findings.before.clone() } else { Vec::new() };
        let mut found = loaded.findings.after.clone();
        found.extend(self.left_out());
        rules::name_subjects(&mut known, &loaded.before, self.after.sources);
        rules::name_subjects(&mut found, &loaded.after, self.after.sources);
        // A limit of the run is not a problem of one side.
        let about_the_run: Vec<Finding> = found.extract_if(.., |finding| is_about_the_run(finding)).collect();
        let is_cut = !about_the_run.is_empty();
        let ByAge { new: mut findings, mut existing } = rules::by_age(found, &known, self.after.sources);
        // What was unreadable before is not new, but what it applies to cannot be judged.
        let older: BTreeMap<_, _> =
            loaded.before.iter().map(|resource| ((&resource.file, resource.position), &resource.payload)).collect();
        let is_edited = |resource: &&Resource| {
            older.get(&(&resource.file, resource.position)).is_none_or(|payload| !payload.is_equal(&resource.payload))
        };
        let unreadable = unreadable_layers(&self.after, loaded.after.iter().filter(is_edited));
        let sources = self.after.sources;
        let is_said = |problem: &Finding| {
            let is_same = |finding: &Finding| {
                let (one, other) = (finding.path(sources), problem.path(sources));
                one == other && finding.rule.id == problem.rule.id && finding.message == problem.message
            };
            findings.iter().any(is_same)
        };
        let is_unjudged = !unreadable.iter().all(is_said);
        existing.retain(|finding| !unreadable.iter().any(|problem| problem.location == finding.location));
        findings.extend(unreadable);
        findings.extend(about_the_run);
        if judged == Judged::New {
            findings = self.naming_edits(findings, loaded);
        }
        let Settled { findings, switched_off } = self.settle(findings, &loaded.hidden);
        let waivers = &self.configuration.policy().waivers;
        let ByAllowance { findings, allowed } = rules::by_allowance(findings, waivers, &self.options.day, sources);
        // What was found out about waivers and comments has severities too.
        let Settled { findings, .. } = self.settle(findings, &loaded.hidden);
        let findings = rules::one_note_per_file(findings, sources);
        Report {
            allowed,
            existing_problems: problem_count(&self.settle(existing, &loaded.hidden).findings),
            compared: Compared { files: loaded.files.counted.edited, resources: loaded.after.len() },
            findings,
            switched_off,
            incomplete: loaded.gap == Gap::Unreadable || is_unjudged || is_cut,
            ..self.empty_report(loaded.files.skipped.clone(), loaded.files.counted.read_as.clone())
        }
    }

    /// What a comparison says about problems, beside those that are known to limit it: errors of either side limit it too, and
    /// those of the older side that the newer still has are named once. Other problems of the older side are not part of it.
    fn problems(
        &self,
        findings: SideFindings,
        mut limiting: Vec<Finding>,
        new_problems: NewProblems,
        hidden: &HiddenSecrets,
    ) -> Problems {
        let sources = self.after.sources;
        let SideFindings { before, mut after } = findings;
        // What a cluster does with the change does not limit the comparison.
        let of_cluster: Vec<Finding> = after.extract_if(.., |finding| finding.rule.is_about_cluster()).collect();
        let older = before.iter().filter(|finding| finding.is_error()).cloned().collect();
        limiting.extend(rules::by_age(older, &after, sources).new);
        let ByAge { mut new, mut existing } = rules::by_age(after, &before, sources);
        let is_listed = new_problems == NewProblems::Listed;
        limiting.extend(new.extract_if(.., |finding| finding.is_error() || is_listed));
        if is_listed { &mut limiting } else { &mut new }.extend(of_cluster);
        limiting.extend(existing.extract_if(.., |finding| finding.is_error()));
        let [limiting, new, existing] = [limiting, new, existing].map(|findings| self.settle(findings, hidden));
        Problems { limiting, new, existing }
    }

    /// Findings in order, with the texts that they point into redacted.
    pub(super) fn settle(&self, findings: Vec<Finding>, hidden: &HiddenSecrets) -> Settled {
        let becomes_secret = |file: &RepoPath| self.becomes_secret(file, hidden);
        let findings = self.after.secrets().redact(findings, self.after.sources, &becomes_secret);
        let findings = findings.into_iter().map(|finding| without_secrets(finding, &hidden.secrets)).collect();
        rules::settle(findings, self.configuration.policy(), self.after.sources)
    }

    pub(super) fn empty_report(&self, mut skipped: Vec<Skipped>, read_as: BTreeMap<ReadAs, usize>) -> Report {
        skipped.sort();
        Report {
            before: self.before.snapshot.label().into(),
            after: self.after.snapshot.label().into(),
            skipped,
            read_as,
            sources: Arc::clone(self.after.sources),
            ..Report::default()
        }
    }

    /// What the rules of the newer side's `outcrop.yaml` would take out of what is shown now.
    pub(super) fn would_hide(&self, resources: &[ResourceChange]) -> Vec<Suppressed> {
        let (old, new) = (self.configuration.policy(), &self.configuration.after);
        if (&old.ignore, &old.compare) == (&new.ignore, &new.compare) {
            return Vec::new();
        }
        let mut shown = resources.to_vec();
        Suppressions::new(&new.ignore, &new.compare, &[], false).apply(&mut shown)
    }
}
