//! Resources as a whole: added, removed and moved ones.

use super::Draft;
use super::change::Layout;
use super::elsewhere;
use super::resource::CHANGES;
use crate::report::Report;
use crate::report::outline::{Alike, Directory, LISTED, Move, by_directory};
use crate::report::paint::{Line, Role, columns};
use crate::report::places::{Names, text_parts};
use crate::report::summary_counts::{grouped, plural};
use crate::report::text_diff::Sign;
use crate::resource::Resource;

const INDENT: usize = 4;
/// The most kinds of a directory.
const MOST_KINDS: usize = 6;

impl Draft<'_> {
    /// Added or removed resources, each section with a blank line before it; a summary of many.
    pub(super) fn one_sided(&mut self, report: &Report, found: &[Alike], sign: Sign) -> Vec<Vec<Line>> {
        let count: usize = found.iter().map(|alike| alike.all().len()).sum();
        if count > LISTED && !self.style.is_verbose() {
            return vec![self.summarised(report, found, sign)];
        }
        let (elsewhere, rest) = match sign {
            Sign::Removed => elsewhere::split(report, found),
            _ => (Vec::new(), found.iter().collect()),
        };
        let mut sections: Vec<Vec<Line>> =
            rest.iter().map(|alike| self.alike(report, alike, sign, rest.len())).collect();
        sections.extend(elsewhere.iter().map(|(places, resources)| {
            let mut lines = self.heading(report, resources, (sign.gutter().trim_end(), sign.role()));
            lines.extend(self.phrase(&format!("added with the same content in {places}"), INDENT));
            lines
        }));
        sections
    }

    fn alike(&mut self, report: &Report, alike: &Alike, sign: Sign, count: usize) -> Vec<Line> {
        let mut lines = self.heading(report, &alike.resources, (sign.gutter().trim_end(), sign.role()));
        let first = alike.resources.first().and_then(|at| report.resources.get(*at));
        let side = first.and_then(|of| of.after.as_ref().or(of.before.as_ref()));
        // The metadata of a selector is no content of its own: its values are listed one by one.
        if let Some(of) = first.filter(|_| side.is_some_and(Resource::is_selector)) {
            self.enter(of);
            lines.extend(of.changes().flat_map(|change| self.change(change, CHANGES)).collect::<Vec<_>>());
            return lines;
        }
        lines.extend(side.into_iter().flat_map(|side| self.content_among(side, sign, CONTENT, count)));
        for words in self.also(report, alike) {
            lines.extend(self.phrase(&words, INDENT));
        }
        lines
    }

    /// `+ 483 resources added in 247 files`, then a line for each directory.
    fn summarised(&mut self, report: &Report, found: &[Alike], sign: Sign) -> Vec<Line> {
        let mut resources: Vec<usize> = found.iter().flat_map(Alike::all).collect();
        resources.sort_unstable();
        let directories = by_directory(report, &resources);
        let files: usize = directories.iter().map(|directory| directory.files).sum();
        let word = if sign == Sign::Added { "added" } else { "removed" };
        let title = format!("{} {word}", plural(resources.len(), "resource"));
        let line = Line::default().with(sign.role(), sign.gutter()).with(Role::Heading, &title);
        let above = shared_directory(&directories);
        let below = if above.is_empty() { String::new() } else { format!(" below {above}") };
        let extent = format!("  in {}{below} (-v shows each)", plural(files, "file"));
        let mut lines = match line.width() + columns(&extent) <= self.style.columns() {
            true => vec![line.with(Role::Dim, &extent)],
            false => {
                let mut lines = vec![line];
                lines.extend(self.phrase(extent.trim_start(), INDENT));
                lines
            }
        };
        if sign == Sign::Added {
            lines.extend(self.copies(report));
        }
        let short = |directory: &Directory| match &directory.name[above.len()..] {
            "" => "./".to_owned(),
            name => name.to_owned(),
        };
        let widest = directories.iter().map(|directory| columns(&short(directory))).max().unwrap_or(0);
        for directory in &directories {
            let mut kinds: Vec<String> = directory
                .kinds
                .iter()
                .take(MOST_KINDS)
                .map(|(kind, count)| format!("{kind} {}", grouped(*count)))
                .collect();
            let more = directory.kinds.len().saturating_sub(MOST_KINDS);
            kinds.extend((more > 0).then(|| format!("{more} more kinds")));
            let count = grouped(directory.resources);
            let start = Line::indented(INDENT).with(Role::Plain, &short(directory)).padded(INDENT + widest + 2);
            let start = start.with(Role::Plain, &format!("{count:>5}  "));
            let line = start.clone().with(Role::Dim, &kinds.join(", "));
            if line.width() <= self.style.columns() {
                lines.push(line);
            } else {
                lines.push(start);
                lines.extend(self.phrase(&kinds.join(", "), INDENT + 2));
            }
        }
        lines
    }

    /// `245 files copied from components/pipeline-service`.
    fn copies(&mut self, report: &Report) -> Vec<Line> {
        let mut lines = Vec::new();
        for copy in &report.copies {
            let from = if copy.from.is_root() { "./".to_owned() } else { format!("{}/", copy.from) };
            let to = if copy.to.is_root() { "./".to_owned() } else { format!("{}/", copy.to) };
            let phrase = format!("{} copied from {from} to {to}", plural(copy.files, "file"));
            lines.extend(self.phrase(&phrase, INDENT));
        }
        lines
    }

    /// `» archive/ => .archive/  386 files moved unchanged`.
    pub(super) fn moved(&mut self, report: &Report, moved: &Move) -> Vec<Line> {
        let start = Line::default().with(Role::Moved, self.symbols.moved).with(Role::Plain, " ");
        let line = start.clone().with(Role::Heading, &moved.name());
        let files = moved.files.len();
        let words = match (files, moved.changed) {
            (1, 0) => "moved unchanged".to_owned(),
            (1, _) => "moved and changed".to_owned(),
            (files, 0) => format!("{} moved unchanged", plural(files, "file")),
            (files, changed) if changed == files => format!("{} moved, all changed", plural(files, "file")),
            (files, changed) => format!("{} moved, {} of them changed", plural(files, "file"), grouped(changed)),
        };
        let words = match moved.resources.len() {
            resources if resources > files => format!("{words} ({})", plural(resources, "resource")),
            _ => words,
        };
        let mut lines = if line.width() + 2 + columns(&words) <= self.style.columns() {
            vec![line.with(Role::Dim, &format!("  {words}"))]
        } else {
            let names = Names::of_paths(vec![text_parts(&moved.name())]);
            let room = self.style.columns().saturating_sub(INDENT);
            let mut lines: Vec<Line> = Vec::new();
            for (at, name) in names.lines(room, None, "").iter().enumerate() {
                let start = if at == 0 { start.clone() } else { Line::indented(INDENT) };
                lines.push(start.with(Role::Heading, name));
            }
            lines.extend(self.phrase(&words, INDENT));
            lines
        };
        if self.style.is_verbose() && files > 1 {
            lines.extend(
                moved.resources.iter().filter_map(|at| report.resources.get(*at)).flat_map(|of| self.header(of)),
            );
        }
        lines
    }
}

/// The directory that all of several have in common, with a slash at its end.
fn shared_directory(directories: &[Directory]) -> String {
    let Some((first, rest)) = directories.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return String::new();
    };
    let same = |name: &str| first.name.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = rest.iter().map(|directory| same(&directory.name)).min().unwrap_or(0);
    first.name[..first.name[..shared].rfind('/').map_or(0, |at| at + 1)].to_owned()
}

/// Where the lines of an added or removed resource start.
const CONTENT: Layout = Layout { indent: 2, details: 4, inset: 0 };
