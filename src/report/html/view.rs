//! What the page shows, as data for its template.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::diff::{digest_of, path_text};
use crate::finding::{Finding, Location};
use crate::report::markdown::encoded;
use crate::report::outline::{Alike, Block, LISTED, Move, Outline, by_directory};
use crate::report::paint::{Line, Role};
use crate::report::style::Style;
use crate::report::summary_counts::{SummaryCounts, grouped, plural};
use crate::report::terminal::{self, BumpRow, Draft, bump_row, subject};
use crate::report::text_diff::Sign;
use crate::report::{Report, TextFile, consequences, fragment, layer_reach, lines};
use crate::resource::{Identity, Resource};
use crate::sanitize;

/// Everything, with changed words as roles.
const STYLE: Style = Style {
    width: 0,
    is_terminal: false,
    color: true,
    ascii: false,
    verbosity: 1,
    in_ci: false,
    show_suppressed: false,
};
/// More blocks than this are only counted; the JSON report has them.
const MOST_BLOCKS: usize = 2_000;
/// So many blocks are open at first.
const MOST_OPEN: usize = 40;
/// The most values of a facet that one block has.
const MOST_VALUES: usize = 40;
/// The most lines of one block, and the longest list of names: a browser should open a page at once.
const MOST_LINES: usize = 1_000;
const LONGEST_LIST: usize = 20_000;
/// A table of more rows is folded.
const MOST_ROWS: usize = 10;
/// Deeper lines go on below like these; the style sheet has a class for each.
const MOST_INDENT: usize = 16;

/// The values of the template.
#[derive(Serialize)]
pub(super) struct View {
    before: String,
    after: String,
    headline: String,
    counts: Vec<String>,
    alarms: Vec<String>,
    bumps: Vec<BumpView>,
    sources: Vec<SourceView>,
    sources_are_open: bool,
    bumps_are_open: bool,
    blocks: Vec<BlockView>,
    pub(super) notes: Vec<String>,
}

#[derive(Serialize)]
struct SourceView {
    file: String,
    edits: String,
    resources: String,
    href: Option<String>,
}

/// A row of the table of version bumps.
#[derive(Serialize)]
struct BumpView {
    kind: &'static str,
    name: String,
    before: String,
    after: String,
    level: String,
    uses: String,
    is_alarming: bool,
}

/// One card of the page.
#[derive(Serialize, Default)]
struct BlockView {
    id: String,
    status: &'static str,
    sign: String,
    title: String,
    extent: String,
    places: Vec<PlaceView>,
    lines: Vec<LineView>,
    kinds: String,
    roots: String,
    causes: String,
    paths: String,
    severity: &'static str,
    is_open: bool,
}

#[derive(Serialize)]
struct PlaceView {
    text: String,
    href: Option<String>,
}

/// A line, and how far it is indented.
#[derive(Serialize)]
struct LineView {
    indent: usize,
    parts: Vec<PartView>,
}

/// A piece of a line, and the element it is in.
#[derive(Serialize)]
struct PartView {
    tag: &'static str,
    class: &'static str,
    text: String,
}

impl View {
    pub(super) fn new(report: &Report, link: Option<&str>) -> Self {
        let counts = SummaryCounts::count(report);
        let outline = Outline::new(report, true);
        let mut maker = Maker { report, draft: Draft::new(report, &STYLE), link, ids: HashSet::new() };
        let mut blocks: Vec<BlockView> = Vec::new();
        blocks.extend(report.findings.iter().map(|finding| maker.finding(finding)));
        let all = outline.blocks.len();
        blocks.extend(outline.blocks.iter().take(MOST_BLOCKS).map(|block| maker.block(block)));
        for (found, sign) in [(&outline.added, Sign::Added), (&outline.removed, Sign::Removed)] {
            blocks.extend(maker.one_sided(found, sign));
        }
        blocks.extend(outline.moves.iter().take(MOST_BLOCKS).map(|moved| maker.moved(moved)));
        blocks.extend(report.text_files.iter().take(MOST_BLOCKS).map(|file| maker.text_file(file)));
        for block in blocks.iter_mut().take(MOST_OPEN) {
            block.is_open = true;
        }
        let mut notes: Vec<String> = terminal::others(report).into_iter().collect();
        let rollouts = consequences::rollouts(report);
        notes.extend(rollouts.iter().take(MOST_BLOCKS).map(|rollout| format!("{} {}", rollout.names, rollout.words)));
        notes.extend(consequences::definitions(report));
        notes.extend(layer_reach::phrases(report, "→").iter().map(|phrase| sanitize::inline(phrase).into_owned()));
        // Filters and search know only what is on the page, so that this comes first.
        let mut alarms: Vec<String> = terminal::incomplete(report).into_iter().collect();
        if all > MOST_BLOCKS {
            alarms.push(format!("{} not shown; the JSON report has them.", plural(all - MOST_BLOCKS, "more block")));
        }
        notes.extend(report.filters.iter().map(|filter| format!("Only shown: {filter}")));
        let edits = report.edits.files.iter().take(MOST_BLOCKS);
        let sources = edits.map(|file| SourceView {
            file: file.file.to_string(),
            edits: grouped(file.edits),
            resources: grouped(file.resources),
            href: maker.address(&file.file.to_string()),
        });
        let bumps = report.bumps.rows.iter().take(MOST_BLOCKS).map(|bump| {
            let BumpRow { name, before, after, level, uses, is_alarming } = bump_row(report, bump, false);
            let shown = |text: &str| sanitize::inline(text).into_owned();
            let (name, before, after) = (shown(&name), shown(&before), shown(&after));
            BumpView { kind: bump.kind.name(), name, before, after, level, uses, is_alarming }
        });
        Self {
            bumps: bumps.collect(),
            before: sanitize::inline(&report.before).into_owned(),
            after: sanitize::inline(&report.after).into_owned(),
            headline: terminal::headline(report, &counts).1,
            counts: terminal::count_texts(&counts).into_iter().map(|(_, text)| text).collect(),
            alarms,
            bumps_are_open: report.bumps.rows.len() <= MOST_OPEN,
            sources_are_open: report.edits.files.len() <= MOST_ROWS,
            sources: sources.collect(),
            blocks,
            notes,
        }
    }
}

struct Maker<'a> {
    report: &'a Report,
    draft: Draft<'a>,
    link: Option<&'a str>,
    ids: HashSet<String>,
}

impl Maker<'_> {
    fn address(&self, file: &str) -> Option<String> {
        Some(format!("{}/{}", self.link?.trim_end_matches('/'), encoded(file)))
    }

    /// An id that no other block has.
    fn id(&mut self, fingerprint: &str) -> String {
        let mut id = format!("fp-{fingerprint}");
        let mut number = 1;
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("fp-{fingerprint}-{number}");
        }
        id
    }

    fn block(&mut self, block: &Block) -> BlockView {
        let (mut lines, left_out) = fragment::cut(self.draft.block_changes(self.report, block), Some(MOST_LINES));
        let note = |what: String| format!("… {what}; the JSON report has them");
        lines.extend(left_out.map(|what| Line::default().with(Role::Dim, &note(what))));
        let path = |entry: &crate::report::outline::Entry| {
            path_text::display(&entry.at.first()?.path, path_text::EMBEDDED).into()
        };
        let paths: Vec<String> = block.entries.iter().filter_map(path).collect();
        let group = block.entries.first().and_then(|entry| self.report.groups.get(entry.group?));
        let fingerprint = match group {
            Some(group) => group.fingerprint.to_string(),
            None => {
                let names = self.sides(&block.resources).into_iter().map(|side| side.identity.to_string());
                digest_of(names.chain(paths.iter().cloned()).collect::<Vec<_>>().join("\n").as_bytes()).to_string()
            }
        };
        let mut causes: BTreeSet<String> = BTreeSet::new();
        for entry in block.entries.iter().take(MOST_VALUES) {
            let reason = self.draft.reason(self.report, entry);
            match reason {
                None => drop(causes.insert("the resource's own file".to_owned())),
                Some(reason) if reason.files().is_empty() => {
                    causes.extend(reason.text.split([':', ',', ' ']).next().map(str::to_owned));
                }
                Some(reason) => causes.extend(reason.files().iter().map(ToString::to_string)),
            }
        }
        let fields = paths.iter().map(|path| top_field(path)).collect::<BTreeSet<_>>();
        BlockView {
            id: self.id(&fingerprint),
            causes: joined(causes),
            paths: joined(fields),
            lines: parts(&lines),
            ..self.card(&block.resources, "changed", "~")
        }
    }

    fn sides(&self, resources: &[usize]) -> Vec<&Resource> {
        let of = resources.iter().filter_map(|at| self.report.resources.get(*at));
        of.filter_map(|of| of.after.as_ref().or(of.before.as_ref())).collect()
    }

    /// Title, places and facets of some resources.
    fn card(&self, resources: &[usize], status: &'static str, sign: &str) -> BlockView {
        let subject = subject(self.report, resources);
        let place = |text: String| PlaceView { text, href: None };
        let places = match self.sides(resources).as_slice() {
            [only] => {
                let file = only.file.to_string();
                vec![PlaceView { href: self.address(&file), text: file }]
            }
            _ => subject
                .names
                .into_iter()
                .chain(subject.places)
                .map(|names| place(names.shortened(LONGEST_LIST, Some(1))))
                .collect(),
        };
        let sides = self.sides(resources);
        let kinds: BTreeSet<String> = sides.iter().map(|side| kind(side)).collect();
        let mut roots: BTreeSet<String> = sides.iter().map(|side| root(side, 2)).collect();
        if roots.len() > MOST_VALUES {
            roots = sides.iter().map(|side| root(side, 1)).collect();
        }
        BlockView {
            status,
            sign: sign.to_owned(),
            title: subject.title,
            extent: if resources.len() > 1 { subject.extent } else { String::new() },
            places,
            kinds: joined(kinds),
            roots: joined(roots),
            ..BlockView::default()
        }
    }

    fn one_sided(&mut self, found: &[Alike], sign: Sign) -> Vec<BlockView> {
        let (status, word) = if sign == Sign::Added { ("added", "added") } else { ("removed", "removed") };
        let count: usize = found.iter().map(|alike| alike.all().len()).sum();
        if count > LISTED {
            let resources: Vec<usize> = found.iter().flat_map(Alike::all).collect();
            return vec![self.many(&resources, status, word, sign)];
        }
        let mut cards = Vec::new();
        for alike in found {
            let first = alike.resources.first().and_then(|at| self.report.resources.get(*at));
            let side = first.and_then(|of| of.after.as_ref().or(of.before.as_ref()));
            let mut lines = side.map(|side| self.draft.content(side, sign, terminal::CHANGES)).unwrap_or_default();
            for words in self.draft.also(self.report, alike) {
                lines.push(Line::default().with(Role::Dim, &words));
            }
            let names: Vec<String> =
                self.sides(&alike.all()).iter().map(|side| format!("{} {}", side.identity, side.file)).collect();
            let id = self.id(&digest_of(format!("{word}\n{}", names.join("\n")).as_bytes()).to_string());
            let card = self.card(&alike.all(), status, sign.gutter().trim_end());
            let title = format!("{} {word}", card.title);
            cards.push(BlockView { id, title, lines: parts(&lines), ..card });
        }
        cards
    }

    /// Many added or removed resources: a table of directories and kinds.
    fn many(&mut self, resources: &[usize], status: &'static str, word: &str, sign: Sign) -> BlockView {
        let mut lines = Vec::new();
        for directory in by_directory(self.report, resources) {
            let kinds: Vec<String> =
                directory.kinds.iter().map(|(kind, count)| format!("{kind} {}", grouped(*count))).collect();
            let name = if directory.name.is_empty() { "./" } else { &directory.name };
            let line = Line::default().with(sign.role(), &format!("{:>7}  ", grouped(directory.resources)));
            lines.push(line.with(Role::Plain, name).with(Role::Dim, &format!("  {}", kinds.join(", "))));
        }
        let card = self.card(resources, status, sign.gutter().trim_end());
        let title = format!("{} {word}", plural(resources.len(), "resource"));
        let id = self.id(&digest_of(title.as_bytes()).to_string());
        BlockView { id, title, places: Vec::new(), lines: parts(&lines), ..card }
    }

    fn moved(&mut self, moved: &Move) -> BlockView {
        let name = moved.name();
        let id = self.id(&digest_of(name.as_bytes()).to_string());
        let word = if moved.changed == 0 { "moved unchanged" } else { "moved" };
        let extent = format!("{} {word}", plural(moved.files.len(), "file"));
        BlockView { id, title: name, extent, ..self.card(&moved.resources, "moved", "»") }
    }

    fn text_file(&mut self, file: &TextFile) -> BlockView {
        let name = file.path.to_string();
        BlockView {
            id: self.id(&digest_of(format!("text {name}").as_bytes()).to_string()),
            status: "changed",
            sign: lines::symbol(file).0.to_owned(),
            extent: lines::note(file),
            lines: parts(&lines::hunks_of(file, &STYLE)),
            kinds: "text".to_owned(),
            title: name,
            ..BlockView::default()
        }
    }

    fn finding(&mut self, finding: &Finding) -> BlockView {
        let place = match &finding.location {
            Location::Span(at) => {
                let start = self.draft.locator.start(*at);
                format!("{}:{}:{}", start.text.path, start.line, start.column)
            }
            Location::File { path, .. } => path.to_string(),
        };
        let severity = finding.severity.name();
        let mut lines = vec![Line::default().with(Role::Alarm, &finding.message)];
        lines.extend(finding.help.iter().map(|help| Line::default().with(Role::Dim, &format!("help: {help}"))));
        BlockView {
            id: self.id(&digest_of(format!("{} {place} {}", finding.rule.id, finding.message).as_bytes()).to_string()),
            status: severity,
            severity,
            sign: "!".to_owned(),
            title: format!("{severity}[{}]", finding.rule.id),
            places: vec![PlaceView { text: place, href: None }],
            lines: parts(&lines),
            ..BlockView::default()
        }
    }
}

fn kind(side: &Resource) -> String {
    match &side.identity {
        Identity::Kubernetes(name) => sanitize::inline(&name.kind).into_owned(),
        Identity::Logical(_) => "resource".to_owned(),
        Identity::File { .. } => "file".to_owned(),
    }
}

/// The root that rendered a resource, or the first directories of its file.
fn root(side: &Resource, most: usize) -> String {
    match &side.unit {
        Some(_) => side.home().to_string(),
        None => {
            let file = side.file.to_string();
            let directories: Vec<&str> = file.split('/').collect();
            let count = (directories.len() - 1).min(most);
            directories[..count].iter().map(|part| format!("{part}/")).collect()
        }
    }
}

/// The first field of a path.
fn top_field(path: &str) -> String {
    let end = path.char_indices().skip(1).find(|(_, c)| ['.', '[', ' '].contains(c)).map_or(path.len(), |(at, _)| at);
    path[..end].to_owned()
}

/// The values of a facet, one per line; names never hold line breaks.
fn joined(values: BTreeSet<String>) -> String {
    values.into_iter().filter(|value| !value.is_empty()).take(MOST_VALUES).collect::<Vec<_>>().join("\n")
}

/// Lines with their indents, in twos: what does not fit goes on below, a little further in.
fn parts(lines: &[Line]) -> Vec<LineView> {
    let part = |(role, text): (Role, &str)| {
        let (tag, class) = match role {
            Role::Plain | Role::Path => ("", ""),
            Role::Added => ("ins", ""),
            Role::Removed => ("del", ""),
            Role::AddedWord => ("ins", "word"),
            Role::RemovedWord => ("del", "word"),
            Role::Changed => ("span", "chg"),
            Role::Moved => ("span", "mov"),
            Role::Dim | Role::Struck => ("span", "dim"),
            Role::Heading => ("b", ""),
            Role::Alarm => ("span", "alarm"),
        };
        PartView { tag, class, text: text.to_owned() }
    };
    let line = |line: &Line| {
        let blanks = line.plain().bytes().take_while(|byte| *byte == b' ').count();
        LineView { indent: (blanks / 2).min(MOST_INDENT), parts: line.parts().map(part).collect() }
    };
    lines.iter().map(line).collect()
}
