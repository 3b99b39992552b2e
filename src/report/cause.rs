//! Causes of changes as text: `customers/_/metadata.yaml:9, via the include at base.yaml:3`.

use std::collections::BTreeSet;

use super::locate::Locator;
use super::places::Names;
use super::style::Symbols;
use crate::diff::{Cause, Causes, FileSpan, Group, Origin, ResourceChange, SharedCause, causes};
use crate::path::RepoPath;
use crate::text::Sources;
use crate::value::StepKind;

/// Why a change came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    /// `customers/_/metadata.yaml:9, via the include at base.yaml:3`.
    pub text: String,
    /// The file and the line, if the text says nothing else.
    place: Option<(RepoPath, usize)>,
}

impl Reason {
    /// The file, if the text says nothing else than a place in it.
    pub(super) fn file(&self) -> Option<&RepoPath> {
        self.place.as_ref().map(|(file, _)| file)
    }
}

/// The most lines of one file that a reason lists, and the most reasons that are listed one by one.
const MOST_LINES: usize = 4;
const MOST_REASONS: usize = 2;

/// One reason for several changes, if all have one: the same for all, or places in one file.
pub(super) fn shared(reasons: &[Option<Reason>]) -> Option<Reason> {
    let reasons: Option<Vec<&Reason>> = reasons.iter().map(Option::as_ref).collect();
    let reasons = reasons?;
    let first = *reasons.first()?;
    if reasons.iter().all(|reason| reason.text == first.text) {
        return Some(first.clone());
    }
    let file = first.file()?;
    let lines: Option<BTreeSet<usize>> = reasons
        .iter()
        .map(|reason| reason.place.as_ref().filter(|(other, _)| other == file).map(|(_, line)| *line))
        .collect();
    let lines = lines?;
    let line = *lines.first()?;
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    let text = if lines.len() > MOST_LINES { file.to_string() } else { format!("{file}:{}", numbers.join(", ")) };
    Some(Reason { text, place: Some((file.clone(), line)) })
}

/// The different reasons of one change in several resources.
pub(super) fn together(mut reasons: Vec<Reason>) -> Option<Reason> {
    let all: Vec<Option<Reason>> = reasons.iter().cloned().map(Some).collect();
    if let Some(shared) = shared(&all) {
        return Some(shared);
    }
    let files: Option<BTreeSet<RepoPath>> = reasons.iter().map(|reason| reason.file().cloned()).collect();
    let text = match files {
        Some(files) => on_one_line(&files),
        None => {
            let more = reasons.len().saturating_sub(MOST_REASONS);
            reasons.truncate(MOST_REASONS);
            let texts: Vec<String> = reasons.into_iter().map(|reason| reason.text).collect();
            let more = if more > 0 { format!("; +{more} more") } else { String::new() };
            format!("{}{more}", texts.join("; "))
        }
    };
    (!text.is_empty()).then_some(Reason { text, place: None })
}

/// One side of a cause, as text.
struct CauseText {
    /// The file where the value is defined, if all values share one.
    file: Option<RepoPath>,
    /// The line there.
    line: Option<usize>,
    /// Where the value is defined.
    words: String,
    /// The steps from there to the resource.
    via: Vec<String>,
    /// Whether a field of a kustomization decides the value.
    is_field: bool,
}

impl CauseText {
    /// The file and the line, if there is nothing else to say.
    fn place(&self) -> Option<(RepoPath, usize)> {
        let is_plain = !self.is_field && self.via.is_empty();
        self.file.clone().zip(self.line).filter(|_| is_plain)
    }
}

/// More steps than these are not listed.
const MOST_STEPS: usize = 4;

/// The cause of one change.
pub(super) fn of_change(causes: &Causes, sources: &Sources, locator: &mut Locator<'_>, symbols: &Symbols) -> Reason {
    let is_same_text = causes.is_same_text(sources);
    let before = causes.before.as_ref().map(|cause| side(cause, is_same_text, locator));
    let after = causes.after.as_ref().map(|cause| side(cause, is_same_text, locator));
    joined(before, after, is_same_text, symbols)
}

/// The cause of the changes of a group; `None` if each resource was edited in its own file.
pub(super) fn of_group(
    group: &Group,
    resources: &[ResourceChange],
    sources: &Sources,
    locator: &mut Locator<'_>,
    symbols: &Symbols,
) -> Option<Reason> {
    if group.causes().all(|cause| matches!(cause.origin, Origin::Own) && cause.via.is_empty()) {
        return None;
    }
    let example = group.example(resources).map(|(of, change)| causes(change, of, sources));
    let is_same_text = example.is_some_and(|causes| causes.is_same_text(sources));
    let mut shared = |cause: &Option<SharedCause>, pick: fn(&Causes) -> Option<&Cause>| {
        let cause = cause.as_ref()?;
        let files = || -> BTreeSet<RepoPath> {
            let members = group.members().filter_map(|member| {
                let of = resources.get(member.resource)?;
                Some(causes(of.change(member.change)?, of, sources))
            });
            members.filter_map(|causes| Some(pick(causes)?.at.file.clone())).collect()
        };
        Some(shared_side(cause, &files, is_same_text, locator))
    };
    let before = shared(&group.before, |causes| causes.before.as_ref());
    let after = shared(&group.after, |causes| causes.after.as_ref());
    Some(joined(before, after, is_same_text, symbols))
}

/// `customers/_/metadata.yaml:9`.
pub(super) fn place_words(place: &FileSpan, locator: &mut Locator<'_>) -> String {
    format!("{}:{}", place.file, locator.start(place.span).line)
}

fn is_same_line(a: &FileSpan, b: &FileSpan, locator: &mut Locator<'_>) -> bool {
    a.file == b.file && locator.start(a.span).line == locator.start(b.span).line
}

/// A value that a kustomization makes: the place that decides it, and the field. Where the value is written as before, the field
/// made the difference.
fn kustomized(at: &FileSpan, field: &str, locator: &mut Locator<'_>) -> CauseText {
    let words = format!("{} ({field})", place_words(at, locator));
    CauseText { file: Some(at.file.clone()), line: None, words, via: Vec::new(), is_field: true }
}

fn side(cause: &Cause, is_same_text: bool, locator: &mut Locator<'_>) -> CauseText {
    if let Some((step, field)) = cause.via.iter().rev().find_map(|step| Some((step, step.kind.kustomize_field()?))) {
        return kustomized(if is_same_text { &step.at } else { &cause.at }, field, locator);
    }
    let mut named: Vec<&RepoPath> = vec![&cause.at.file];
    let mut via = Vec::new();
    for step in &cause.via {
        // A layer is mentioned only if it is another file than those already named.
        if step.kind == StepKind::Layer && named.contains(&&step.at.file) {
            continue;
        }
        let by = if is_same_line(&step.at, &cause.at, locator) {
            "there".to_owned()
        } else if step.is_own {
            format!("in line {} of this file", locator.start(step.at.span).line)
        } else {
            format!("at {}", place_words(&step.at, locator))
        };
        via.push(format!("via the {} {by}", step.kind.name()));
        named.push(&step.at.file);
    }
    let words = place_words(&cause.at, locator);
    let line = Some(locator.start(cause.at.span).line);
    CauseText { file: Some(cause.at.file.clone()), line, words, via: cut(via, cause.is_cut), is_field: false }
}

fn shared_side(
    cause: &SharedCause,
    files: &dyn Fn() -> BTreeSet<RepoPath>,
    is_same_text: bool,
    locator: &mut Locator<'_>,
) -> CauseText {
    if let Some((step, field)) = cause.via.iter().rev().find_map(|step| Some((step, step.kind.kustomize_field()?))) {
        return match (&step.at, &cause.origin) {
            (_, Origin::At(place)) if !is_same_text => kustomized(place, field, locator),
            (Some(at), _) => kustomized(at, field, locator),
            (None, _) => {
                let words = format!("{field} in each of them");
                CauseText { file: None, line: None, words, via: Vec::new(), is_field: true }
            }
        };
    }
    let (file, line, words) = match &cause.origin {
        Origin::Own => (None, None, "each in its own file".to_owned()),
        Origin::Apart => (None, None, on_one_line(&files())),
        Origin::At(place) => {
            (Some(place.file.clone()), Some(locator.start(place.span).line), place_words(place, locator))
        }
    };
    let mut named: Vec<&RepoPath> = Vec::new();
    if let Origin::At(place) = &cause.origin {
        named.push(&place.file);
    }
    let mut via = Vec::new();
    for step in &cause.via {
        let is_known = step.at.as_ref().is_none_or(|at| named.contains(&&at.file));
        if step.kind == StepKind::Layer && is_known {
            continue;
        }
        let name = step.kind.name();
        via.push(match &step.at {
            Some(at) if matches!(&cause.origin, Origin::At(place) if is_same_line(at, place, locator)) => {
                format!("via the {name} there")
            }
            Some(at) => format!("via the {name} at {}", place_words(at, locator)),
            None => format!("via {} {name} in each of them", article(name)),
        });
        named.extend(step.at.as_ref().map(|at| &at.file));
    }
    CauseText { file, line, words, via: cut(via, false), is_field: false }
}

/// Files in as few words as possible.
fn on_one_line(files: &BTreeSet<RepoPath>) -> String {
    let lines = Names::of_files(files).lines(LONGEST_LIST, Some(1), "");
    // A line may end within a path.
    lines.iter().fold(String::new(), |mut all, line| {
        if !all.is_empty() && !all.ends_with('/') {
            all.push(' ');
        }
        all + line
    })
}

/// The widest list of files in a cause.
const LONGEST_LIST: usize = 60;

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn cut(mut via: Vec<String>, is_cut: bool) -> Vec<String> {
    let more = via.len().saturating_sub(MOST_STEPS);
    via.truncate(MOST_STEPS);
    if more > 0 || is_cut {
        via.push("and more steps".to_owned());
    }
    via
}

/// Both sides if they differ in more than lines, otherwise the newer one.
fn joined(before: Option<CauseText>, after: Option<CauseText>, is_same_text: bool, symbols: &Symbols) -> Reason {
    let place = match (&before, &after) {
        (Some(before), Some(after)) => after.place().filter(|_| !is_same_text && before.file == after.file),
        (before, after) => after.as_ref().or(before.as_ref()).and_then(CauseText::place),
    };
    Reason { text: joined_text(before, after, is_same_text, symbols), place }
}

fn joined_text(before: Option<CauseText>, after: Option<CauseText>, is_same_text: bool, symbols: &Symbols) -> String {
    let way = |side: &CauseText| side.via.iter().fold(side.words.clone(), |words, step| format!("{words}, {step}"));
    match (before, after) {
        (Some(before), None) => format!("removed from {}", way(&before)),
        (Some(before), Some(after)) => {
            let is_one_file = before.file.is_some() && before.file == after.file || before.words == after.words;
            if !is_one_file {
                return format!("{} {} {}", way(&before), symbols.arrow, way(&after));
            }
            let note = if is_same_text && !after.is_field { " (unchanged)" } else { "" };
            let ways = match before.via == after.via {
                true => after.via.join(", "),
                false => format!("{} {} {}", or_directly(&before.via), symbols.arrow, or_directly(&after.via)),
            };
            let comma = if ways.is_empty() { "" } else { ", " };
            format!("{}{note}{comma}{ways}", after.words)
        }
        (None, after) => after.as_ref().map(way).unwrap_or_default(),
    }
}

fn or_directly(via: &[String]) -> String {
    if via.is_empty() { "directly".to_owned() } else { via.join(", ") }
}
