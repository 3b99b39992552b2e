//! One block: resources, where they are, and the changes they share.

use std::collections::BTreeSet;

use super::Draft;
use super::change::Layout;
use crate::diff::{Causes, Change, Group, HomeFile, ResourceChange, causes, path_text};
use crate::path::RepoPath;
use crate::report::cause::Reason;
use crate::report::outline::{Block, Entry, Occurrence, PathNode, path_tree};
use crate::report::paint::{Line, Role, columns};
use crate::report::places::{Names, text_parts};
use crate::report::summary_counts::{grouped, plural};
use crate::report::{Report, cause};
use crate::resource::{Identity, Resource};

/// Indents of the changes of a block, and of the names and places below its heading.
const CHANGES: usize = 2;
const PLACES: usize = 4;
/// The most lines of places.
const MOST_LINES: usize = 8;
/// The most lines of names that places follow.
const MOST_NAME_LINES: usize = 3;
/// So few names are all listed.
const FEW_NAMES: usize = 4;
/// The most lines of folded paths.
const MOST_PATH_LINES: usize = 4;
/// The most different reasons of one change that are looked at.
const MOST_REASONS: usize = 64;
/// The longest line of names where nothing limits lines.
pub(super) const LONGEST_LINE: usize = 1_000;

/// What a block is about.
pub(in crate::report) struct Subject {
    /// The common name, or a number of resources.
    pub title: String,
    /// The names, if the title does not say them.
    pub names: Option<Names>,
    /// The files and the roots, if the names do not say them.
    pub places: Vec<Names>,
    /// How many of them: `in 5 files`.
    pub extent: String,
}

/// Why the changes of a block came about: one reason for all of them, or one for each that has one.
pub(in crate::report) struct Reasons {
    pub shared: Option<Reason>,
    pub each: Vec<Option<String>>,
}

impl Draft<'_> {
    /// The lines of a block.
    pub(super) fn block(&mut self, report: &Report, block: &Block) -> Vec<Line> {
        let mut lines = self.heading(report, &block.resources, ("~", Role::Changed));
        lines.extend(self.block_changes(report, block));
        lines
    }

    /// Symbol, name and places of some resources.
    pub(super) fn heading(&mut self, report: &Report, resources: &[usize], (symbol, role): (&str, Role)) -> Vec<Line> {
        if let [only] = resources {
            return self.header(&report.resources[*only]);
        }
        let subject = subject(report, resources);
        let line = Line::default().with(role, symbol).with(Role::Plain, " ").with(Role::Heading, &subject.title);
        let extent = Line::default().with(Role::Dim, &subject.extent);
        let mut lines = if line.width() + 2 + extent.width() <= self.style.columns() {
            vec![line.with(Role::Plain, "  ").then(extent)]
        } else {
            line.hanging(self.style.columns(), PLACES)
        };
        let is_few = subject.places.is_empty() || resources.len() <= FEW_NAMES;
        let most = if is_few { MOST_LINES } else { MOST_NAME_LINES };
        lines.extend(subject.names.iter().flat_map(|names| self.listed(names, Role::Plain, PLACES, "", most)));
        lines.extend(subject.places.iter().flat_map(|names| self.listed(names, Role::Dim, PLACES, "", MOST_LINES)));
        lines
    }

    /// Names over several lines; how many are missing is said.
    pub(super) fn listed(&self, names: &Names, role: Role, indent: usize, lead: &str, most: usize) -> Vec<Line> {
        // Lines after the first are indented further.
        let room = self.style.columns().min(LONGEST_LINE).saturating_sub(indent + columns(lead).clamp(2, 40));
        let most = (!self.style.is_verbose()).then_some(most);
        let lines = names.lines(room, most, " (-v)");
        let line = |(at, text): (usize, &String)| {
            let lead = if at == 0 { lead } else { "  " };
            Line::indented(indent).with(Role::Dim, lead).with(role, text)
        };
        // One name may be wider than a line.
        let whole = lines.iter().enumerate().map(line);
        whole.flat_map(|line| line.hanging(self.style.columns(), indent + 2)).collect()
    }

    /// The names of some resources after a phrase; files for those that share a name.
    pub(super) fn names_of(&self, report: &Report, resources: &[usize], indent: usize, lead: &str) -> Vec<Line> {
        let subject = subject(report, resources);
        let places = subject.places.into_iter().next();
        let names = subject.names.or(places.filter(|_| resources.len() > 1));
        let names = names.unwrap_or_else(|| Names::of_paths(vec![vec![subject.title]]));
        if columns(lead) + 12 <= self.style.columns() / 2 {
            return self.listed(&names, Role::Plain, indent, lead, MOST_NAME_LINES);
        }
        let mut lines = self.phrase(lead.trim_end(), indent);
        lines.extend(self.listed(&names, Role::Plain, indent + 2, "", MOST_NAME_LINES));
        lines
    }

    /// What changed in each resource of a block, by path.
    pub(in crate::report) fn block_changes(&mut self, report: &Report, block: &Block) -> Vec<Line> {
        self.enter_all(report, &block.resources);
        let Reasons { shared, each } = self.reasons(report, block);
        self.shared_reason = shared.as_ref().map(|reason| reason.text.clone());
        let mut lines = Vec::new();
        for node in path_tree(report, &block.entries, self.symbols.embedded) {
            lines.extend(self.node(report, block, &node, CHANGES, &each));
        }
        self.shared_reason = None;
        lines.extend(shared.iter().flat_map(|reason| self.because(&reason.text, PLACES)).collect::<Vec<_>>());
        lines
    }

    /// Why the changes of a block came about.
    pub(in crate::report) fn reasons(&mut self, report: &Report, block: &Block) -> Reasons {
        let each: Vec<Option<Reason>> = block.entries.iter().map(|entry| self.reason(report, entry)).collect();
        match cause::shared(&each) {
            Some(shared) => Reasons { shared: Some(shared), each: vec![None; each.len()] },
            None => Reasons { shared: None, each: each.into_iter().map(|it| it.map(|it| it.text)).collect() },
        }
    }

    fn node(
        &mut self,
        report: &Report,
        block: &Block,
        node: &PathNode,
        indent: usize,
        reasons: &[Option<String>],
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        if node.entries.is_empty() {
            let room = self.style.columns();
            let pieces = Line::default()
                .with(Role::Path, node.label().trim_start())
                .broken(room.saturating_sub(indent + 2).max(8));
            let start = |at: usize| if at == 0 { indent } else { indent + 2 };
            lines.extend(pieces.into_iter().enumerate().map(|(at, piece)| Line::indented(start(at)).then(piece)));
        }
        for &at in &node.entries {
            let layout = Layout { indent, details: indent + 4, inset: 0 };
            lines.extend(self.entry(report, &block.entries[at], &node.steps, layout));
            lines.extend(reasons[at].iter().flat_map(|words| self.because(words, indent + 4)).collect::<Vec<_>>());
        }
        let mut rest = node.children.as_slice();
        while let [child, others @ ..] = rest {
            let items = self.items(report, block, rest, reasons, indent + 2);
            let (count, written) = match items {
                Some((count, written)) => (count, written),
                None => (1, self.node(report, block, child, indent + 2, reasons)),
            };
            lines.extend(written);
            rest = &others[count - 1..];
        }
        lines
    }

    /// One change, or the same change at several paths.
    fn entry(&mut self, report: &Report, entry: &Entry, steps: &[String], layout: Layout) -> Vec<Line> {
        let Some((_, change)) = entry.example(report) else { return Vec::new() };
        let versions = self.bumped(report, entry);
        if entry.at.len() > 1 {
            let counted = format!("{} {} {}", grouped(entry.count()), self.symbols.times, steps.concat());
            let mut lines = match versions {
                Some(versions) => self.with_versions(change, &[counted], layout, versions),
                None => self.change_at(change, &[counted], layout),
            };
            let names = Names::of_paths(folded_paths(entry, self.symbols.embedded));
            lines.extend(self.listed(&names, Role::Dim, layout.details, "at ", MOST_PATH_LINES));
            return lines;
        }
        if let Some(versions) = versions {
            return self.with_versions(change, steps, layout, versions);
        }
        let Some(group) = entry.group.and_then(|at| report.groups.get(at)) else {
            let mut lines = self.change_at(change, steps, layout);
            if self.style.is_verbose() {
                lines.extend(self.origins(change, layout.details));
            }
            return lines;
        };
        let mut lines = self.group_change(report, group, steps, layout);
        lines.extend(self.group_details(report, group, layout.details));
        lines
    }

    /// A change whose versions are all that is left to say.
    fn with_versions(&mut self, change: &Change, steps: &[String], layout: Layout, versions: Line) -> Vec<Line> {
        let (symbol, role) = self.change_symbol(change);
        let path = self.path(steps, layout, (&symbol, role));
        self.on_one_line(change, layout, path, versions)
    }

    /// Why an entry changed, if its values are defined outside of the files of its resources.
    pub(in crate::report) fn reason(&mut self, report: &Report, entry: &Entry) -> Option<Reason> {
        if let Some(group) = entry.group.and_then(|at| report.groups.get(at)).filter(|group| has_way(group)) {
            return cause::of_group(group, &report.resources, &report.sources, &mut self.locator, self.symbols);
        }
        let is_of_one_file = self.is_at_home();
        let (mut found, mut some): (Vec<Reason>, usize) = (Vec::new(), 0);
        let mut known: Option<&Causes> = None;
        for (of, change) in entry.changes(report) {
            let causes = causes(change, of, &report.sources);
            if !causes.is_external() || is_named(of, causes) {
                continue;
            }
            some += 1;
            // One edit of a layer is the cause of the same change in many resources.
            if found.len() < MOST_REASONS && known.replace(causes) != Some(causes) {
                let reason = cause::of_change(causes, is_of_one_file, self.sources, &mut self.locator, self.symbols);
                if !found.contains(&reason) {
                    found.push(reason);
                }
            }
        }
        Some(cause::together(found)?.of_some(some, entry.count()))
    }

    /// Prepares for the changes of some resources.
    pub(in crate::report) fn enter_all(&mut self, report: &Report, resources: &[usize]) {
        let sides = resources.iter().filter_map(|at| report.resources.get(*at));
        self.hides_comments =
            sides.flat_map(|of| of.before.iter().chain(&of.after)).any(|side| side.payload.holds_secret());
        self.homes = match resources {
            [only] => HomeFile::both(&report.resources[*only]),
            _ => [None, None],
        };
    }
}

/// The paths of a folded entry without the field that they share, in order.
pub(in crate::report) fn folded_paths(entry: &Entry, embedded: &str) -> Vec<Vec<String>> {
    let steps = |at: &Occurrence| path_text::steps(&at.path, embedded);
    let mut paths: Vec<Vec<String>> = Vec::new();
    for path in entry.at.iter().map(steps) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let shortest = paths.iter().map(Vec::len).min().unwrap_or(0);
    let last = paths.first().and_then(|path| path.last().cloned());
    if shortest > 1 && paths.iter().all(|path| path.last() == last.as_ref()) {
        paths.iter_mut().for_each(|path| path.truncate(path.len() - 1));
    }
    paths
}

/// Whether values took steps to their resources that are worth showing.
fn has_way(group: &Group) -> bool {
    let mut steps = group.causes().flat_map(|cause| &cause.via);
    steps.any(|step| step.kind.kustomize_field().is_none())
}

/// Whether a resource is called by the file that its values are written in.
fn is_named(of: &ResourceChange, causes: &Causes) -> bool {
    let side = of.after.as_ref().or(of.before.as_ref());
    let name = side.and_then(|side| match &side.identity {
        Identity::File { path, .. } => Some(path),
        _ => None,
    });
    name.is_some_and(|name| causes.sides().all(|cause| cause.at.file == *name))
}

/// What to call some resources, and where they are.
pub(in crate::report) fn subject(report: &Report, resources: &[usize]) -> Subject {
    let sides: Vec<&Resource> = resources
        .iter()
        .filter_map(|at| report.resources.get(*at))
        .filter_map(|of| of.after.as_ref().or(of.before.as_ref()))
        .collect();
    let identities = || sides.iter().map(|side| &side.identity);
    let first = identities().next();
    if identities().all(|identity| Some(identity) == first) {
        let title = first.map(ToString::to_string).unwrap_or_default();
        let (places, extent) = places(&sides);
        return Subject { title, names: None, places, extent };
    }
    if identities().all(|identity| matches!(identity, Identity::File { .. })) {
        let (title, (places, _)) = (plural(sides.len(), "file"), places(&sides));
        return Subject { title, names: None, places, extent: String::new() };
    }
    if identities().all(|identity| matches!(identity, Identity::Logical(_))) {
        let names = Some(Names::of_resources(identities()));
        return Subject { title: plural(sides.len(), "resource"), names, places: Vec::new(), extent: String::new() };
    }
    let (places, extent) = places(&sides);
    if let Some((title, names)) = with_files(&sides) {
        return Subject { title, names, places, extent: String::new() };
    }
    let (title, names) = kinds(&sides);
    Subject { title, names: Some(names), places, extent }
}

/// `ConfigMap web and 5 files`, or `8 resources` and the names of those that are not called by their files: places name the files.
fn with_files(sides: &[&Resource]) -> Option<(String, Option<Names>)> {
    let is_file = |side: &&&Resource| matches!(side.identity, Identity::File { .. });
    let files = sides.iter().filter(is_file).count();
    let named: BTreeSet<&Identity> = sides.iter().filter(|side| !is_file(side)).map(|side| &side.identity).collect();
    match named.len() {
        _ if files == 0 => None,
        0 => None,
        1 => Some((format!("{} and {}", named.first()?, plural(files, "file")), None)),
        _ => Some((plural(sides.len(), "resource"), Some(Names::of_resources(named)))),
    }
}

/// The files of some resources, and the roots of those that are rendered; and how many: `in 8 files and 2 roots`.
fn places(sides: &[&Resource]) -> (Vec<Names>, String) {
    let (mut files, mut roots): (BTreeSet<&RepoPath>, BTreeSet<String>) = Default::default();
    for side in sides {
        match (&side.identity, &side.unit) {
            (Identity::File { path, .. }, _) => drop(files.insert(path)),
            (_, Some(_)) => drop(roots.insert(side.home().to_string())),
            _ => drop(files.insert(&side.file)),
        }
    }
    let counts = [(files.len(), "file"), (roots.len(), "root")];
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, noun)| plural(*count, noun)).collect();
    let mut places = Vec::new();
    if !files.is_empty() {
        places.push(Names::of_files(files));
    }
    if roots.len() > 1 || roots.iter().any(|root| root != TOP) {
        places.push(Names::of_paths(roots.iter().map(|root| text_parts(root)).collect()));
    }
    (places, format!("in {}", counts.join(" and ")))
}

/// The root in the top directory of a repository: naming it says nothing.
const TOP: &str = ".";

/// `9 × Deployment` and names without the kind, or `9 resources` of several kinds.
fn kinds(sides: &[&Resource]) -> (String, Names) {
    let first = sides.first().and_then(|side| kind_and_name(side)).map(|(kind, _)| kind);
    let names: Option<Vec<_>> = sides.iter().map(|side| kind_and_name(side)).collect();
    match names.zip(first).filter(|(names, first)| names.iter().all(|(kind, _)| kind == first)) {
        Some((names, kind)) => {
            let names: BTreeSet<String> = names.into_iter().map(|(_, name)| name).collect();
            let names = names.iter().map(|name| text_parts(name)).collect();
            (format!("{} × {kind}", grouped(sides.len())), Names::of_paths(names))
        }
        None => {
            let names: BTreeSet<&Identity> = sides.iter().map(|side| &side.identity).collect();
            (plural(sides.len(), "resource"), Names::of_resources(names))
        }
    }
}

/// `Deployment` and `shop/web`.
pub(super) fn kind_and_name(side: &Resource) -> Option<(String, String)> {
    match &side.identity {
        Identity::Kubernetes(name) => {
            let whole = name.to_string();
            whole.split_once(' ').map(|(kind, name)| (kind.to_owned(), name.to_owned()))
        }
        _ => None,
    }
}
