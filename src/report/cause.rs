//! Causes of changes as text: `customers/_/metadata.yaml:9, via the include at base.yaml:3`.

use std::collections::BTreeSet;

use super::locate::Locator;
use super::outline::{moved_between, renamed};
use super::places::Names;
use super::style::Symbols;
use super::summary_counts::{grouped, plural};
use crate::diff::{Cause, Causes, FileSpan, Group, Origin, ResourceChange, SharedCause, causes};
use crate::path::RepoPath;
use crate::text::Sources;
use crate::value::StepKind;

/// Why a change came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    /// `customers/_/metadata.yaml:9, via the include at base.yaml:3`.
    pub text: String,
    /// The places, if the text says nothing else.
    places: Option<Vec<Moved>>,
}

/// Where values are written. Those that were written elsewhere before have two places, removed ones have the older one only.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Moved {
    before: Option<Place>,
    after: Option<Place>,
}

/// A place in a file, and the field of a kustomization that uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: RepoPath,
    line: usize,
    field: Option<&'static str>,
}

impl Reason {
    /// The file and the line on the newer side, if the text says nothing else than one place.
    pub(super) fn place(&self) -> Option<(&RepoPath, usize)> {
        match self.places.as_deref()? {
            [Moved { after: Some(after), .. }] => Some((&after.file, after.line)),
            _ => None,
        }
    }

    /// The files that it names.
    pub(super) fn files(&self) -> BTreeSet<&RepoPath> {
        let moved = self.places.iter().flatten();
        moved.flat_map(|moved| moved.before.iter().chain(&moved.after)).map(|place| &place.file).collect()
    }

    /// Places as text: their lines if they are in one file, otherwise their files.
    fn of_places(places: Vec<Moved>) -> Self {
        let side = |pick: fn(&Moved) -> Option<&Place>| places.iter().filter_map(pick).collect::<Vec<&Place>>();
        let [before, after] = [side(|moved| moved.before.as_ref()), side(|moved| moved.after.as_ref())];
        let fields: BTreeSet<Option<&str>> = before.iter().chain(&after).map(|place| place.field).collect();
        let field = match fields.first() {
            Some(Some(field)) if fields.len() == 1 => format!(" ({field})"),
            _ => String::new(),
        };
        let (old, new) = (files(&before), files(&after));
        let text = match (old.as_slice(), new.as_slice()) {
            ([], _) => lines_or_files(&after),
            (_, []) => format!("removed from {}", lines_or_files(&before)),
            (old, new) if old == new => lines_or_files(&after),
            ([old], [new]) => renamed(&old.to_string(), &new.to_string()),
            _ => match renamed_directory(&places) {
                Some(directory) => directory,
                None => format!("{} => {}", lines_or_files(&before), lines_or_files(&after)),
            },
        };
        Self { text: text + &field, places: Some(places) }
    }

    /// Notes that it is the reason of some changes only.
    pub(super) fn of_some(mut self, some: usize, all: usize) -> Self {
        if some < all {
            self.text.push_str(&format!(", in {} of {}", grouped(some), plural(all, "change")));
        }
        self
    }
}

/// The most lines of one file that a reason lists, and the most reasons that are listed one by one.
const MOST_LINES: usize = 4;
const MOST_REASONS: usize = 2;

fn files<'p>(places: &[&'p Place]) -> Vec<&'p RepoPath> {
    places.iter().map(|place| &place.file).collect::<BTreeSet<_>>().into_iter().collect()
}

/// `apps/{monitoring => o11y}/`, if all values are in files that moved alike.
fn renamed_directory(places: &[Moved]) -> Option<String> {
    let directories = |moved: &Moved| {
        let (old, new) = (moved.before.as_ref()?, moved.after.as_ref()?);
        Some(moved_between(&old.file.to_string(), &new.file.to_string()))
    };
    let all: BTreeSet<(String, String)> = places.iter().map(directories).collect::<Option<_>>()?;
    match all.first() {
        Some((old, new)) if all.len() == 1 => Some(renamed(&format!("{old}/"), &format!("{new}/"))),
        _ => None,
    }
}

/// `base.yaml:3, 7`, or the names of several files.
fn lines_or_files(places: &[&Place]) -> String {
    match files(places).as_slice() {
        [file] => {
            let lines: BTreeSet<usize> = places.iter().map(|place| place.line).collect();
            let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
            if lines.len() > MOST_LINES { file.to_string() } else { format!("{file}:{}", numbers.join(", ")) }
        }
        files => Names::of_files(files.iter().copied()).shortened(LONGEST_LIST, Some(MOST_LIST_LINES)),
    }
}

/// One reason for several changes, if all have one: equal reasons, or places in the same files.
pub(super) fn shared(reasons: &[Option<Reason>]) -> Option<Reason> {
    let reasons: Vec<&Reason> = reasons.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let first = *reasons.first()?;
    if reasons.iter().all(|reason| reason.text == first.text) {
        return Some(first.clone());
    }
    let all: Vec<Moved> = reasons.iter().map(|reason| reason.places.clone()).collect::<Option<Vec<_>>>()?.concat();
    let side = |pick: fn(&Moved) -> Option<&Place>| files(&all.iter().filter_map(pick).collect::<Vec<_>>()).len();
    let is_one_file = side(|moved| moved.before.as_ref()) <= 1 && side(|moved| moved.after.as_ref()) <= 1;
    let is_same_files = reasons.iter().all(|reason| reason.files() == first.files());
    (is_one_file || is_same_files).then(|| Reason::of_places(all))
}

/// The different reasons of one change in several resources.
pub(super) fn together(mut reasons: Vec<Reason>) -> Option<Reason> {
    if let [_] = reasons.as_slice() {
        return reasons.pop();
    }
    if let Some(places) = reasons.iter().map(|reason| reason.places.clone()).collect::<Option<Vec<_>>>() {
        return (!places.is_empty()).then(|| Reason::of_places(places.concat()));
    }
    let more = reasons.len().saturating_sub(MOST_REASONS);
    reasons.truncate(MOST_REASONS);
    let texts: Vec<String> = reasons.into_iter().map(|reason| reason.text).collect();
    let more = if more > 0 { format!("; +{more} more") } else { String::new() };
    let text = format!("{}{more}", texts.join("; "));
    (!text.is_empty()).then_some(Reason { text, places: None })
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
    /// The field of a kustomization that decides the value.
    field: Option<&'static str>,
}

impl CauseText {
    /// The file and the line, if there is nothing else to say.
    fn place(&self) -> Option<Place> {
        let (file, line) = self.file.clone().zip(self.line).filter(|_| self.via.is_empty())?;
        Some(Place { file, line, field: self.field })
    }
}

/// More steps than these are not listed.
const MOST_STEPS: usize = 4;

/// The cause of one change. Steps in the resource's own file are those of "this file" only below a title that names one file.
pub(super) fn of_change(
    causes: &Causes,
    is_of_one_file: bool,
    sources: &Sources,
    locator: &mut Locator<'_>,
    symbols: &Symbols,
) -> Reason {
    let is_same_text = causes.is_same_text(sources);
    let mut side = |cause: &Option<Cause>| Some(side(cause.as_ref()?, is_of_one_file, is_same_text, locator));
    let (before, after) = (side(&causes.before), side(&causes.after));
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
fn kustomized(at: &FileSpan, field: &'static str, locator: &mut Locator<'_>) -> CauseText {
    let line = locator.start(at.span).line;
    let words = format!("{}:{line} ({field})", at.file);
    CauseText { file: Some(at.file.clone()), line: Some(line), words, via: Vec::new(), field: Some(field) }
}

fn side(cause: &Cause, is_of_one_file: bool, is_same_text: bool, locator: &mut Locator<'_>) -> CauseText {
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
        } else if step.is_own && is_of_one_file {
            format!("in line {} of this file", locator.start(step.at.span).line)
        } else {
            format!("at {}", place_words(&step.at, locator))
        };
        via.push(format!("via the {} {by}", step.kind.name()));
        named.push(&step.at.file);
    }
    let words = place_words(&cause.at, locator);
    let line = Some(locator.start(cause.at.span).line);
    CauseText { file: Some(cause.at.file.clone()), line, words, via: cut(via, cause.is_cut), field: None }
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
                CauseText { file: None, line: None, words, via: Vec::new(), field: Some(field) }
            }
        };
    }
    let (file, line, words) = match &cause.origin {
        Origin::Own => (None, None, "each in its own file".to_owned()),
        Origin::Apart => (None, None, Names::of_files(&files()).shortened(LONGEST_LIST, Some(MOST_LIST_LINES))),
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
    CauseText { file, line, words, via: cut(via, false), field: None }
}

/// The widest line of a list of files in a cause, and the most lines.
const LONGEST_LIST: usize = 120;
const MOST_LIST_LINES: usize = 2;

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
    let places = places(&before, &after, is_same_text).map(|moved| vec![moved]);
    Reason { text: joined_text(before, after, is_same_text, symbols), places }
}

/// The places of both sides, if there is nothing else to say about them.
fn places(before: &Option<CauseText>, after: &Option<CauseText>, is_same_text: bool) -> Option<Moved> {
    let place = |side: &Option<CauseText>| side.as_ref().map(CauseText::place);
    match (place(before), place(after)) {
        (Some(old), Some(new)) => {
            let (old, new) = (old?, new?);
            let is_in_place = old.file == new.file;
            let is_decided = !is_same_text || new.field.is_some();
            is_decided.then(|| Moved { before: (!is_in_place).then_some(old), after: Some(new) })
        }
        (before, after) => Some(Moved { before: before.flatten(), after: after.flatten() })
            .filter(|moved| moved.before.is_some() || moved.after.is_some()),
    }
}

fn joined_text(before: Option<CauseText>, after: Option<CauseText>, is_same_text: bool, symbols: &Symbols) -> String {
    let way = |side: &CauseText| side.via.iter().fold(side.words.clone(), |words, step| format!("{words}, {step}"));
    match (before, after) {
        (Some(before), None) => format!("removed from {}", way(&before)),
        (Some(before), Some(after)) => {
            let is_one_file = before.file.is_some() && before.file == after.file || before.words == after.words;
            let shorter = shorter_move(&before, &after);
            if let Some(shorter) = shorter.filter(|_| !is_one_file) {
                return shorter;
            }
            if !is_one_file {
                return format!("{} {} {}", way(&before), symbols.arrow, way(&after));
            }
            let note = if is_same_text && after.field.is_none() { " (unchanged)" } else { "" };
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

/// `apps/{monitoring => o11y}/web.yaml:9`, if a value only moved between directories.
fn shorter_move(before: &CauseText, after: &CauseText) -> Option<String> {
    let (old, new) = (before.place()?, after.place()?);
    let name = renamed(&old.file.to_string(), &new.file.to_string());
    let field = new.field.map(|field| format!(" ({field})")).unwrap_or_default();
    // Only if the files are called alike is the line a line of what is named.
    let is_directory = name.contains('{') && !name.ends_with('}');
    (is_directory && old.field == new.field).then(|| format!("{name}:{}{field}", new.line))
}

fn or_directly(via: &[String]) -> String {
    if via.is_empty() { "directly".to_owned() } else { via.join(", ") }
}
