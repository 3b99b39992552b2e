//! One resource: its header line, then what changed in it.

use super::Draft;
use super::change::Layout;
use crate::diff::{HomeFile, ResourceChange, Status};
use crate::report::fragment;
use crate::report::outline::renamed;
use crate::report::paint::{Line, Role};
use crate::report::places::{Names, text_parts};
use crate::report::text_diff::{Sign, broken, whole};
use crate::resource::{Home, Identity, Resource};

/// The most lines of a new resource, of a removed one, and of either where nothing else is limited.
const ADDED_LINES: usize = 24;
const REMOVED_LINES: usize = 12;
const MOST_CONTENT_LINES: usize = 1_000;
/// Up to so many resources are shown with the usual number of lines, and so many more rows may be taken by long lines.
const FEW_RESOURCES: usize = 4;
const SPARE_ROWS: usize = 4;
/// Indents of changes below the header, and of values below changes.
pub(in crate::report) const CHANGES: Layout = Layout { indent: 2, details: 6, inset: 0 };
/// Indent of a file that does not fit beside its resource.
const FILE_INDENT: usize = 4;

impl Draft<'_> {
    /// The lines of a resource; none if it differs in nothing that is shown.
    pub(in crate::report) fn resource(&mut self, resource: &ResourceChange) -> Vec<Line> {
        let mut lines = self.header(resource);
        lines.extend(self.changes_at(resource, CHANGES));
        lines
    }

    /// What changed inside a resource: its whole content if it came or went.
    fn changes_at(&mut self, resource: &ResourceChange, layout: Layout) -> Vec<Line> {
        self.enter(resource);
        let content = Layout { details: layout.details.saturating_sub(2), ..layout };
        match (&resource.before, &resource.after) {
            (None, Some(after)) if !after.is_selector() => self.content(after, Sign::Added, content),
            (Some(before), None) if !before.is_selector() => self.content(before, Sign::Removed, content),
            _ => {
                let mut lines: Vec<Line> = resource.changes().flat_map(|change| self.change(change, layout)).collect();
                lines.extend(self.spellings(resource));
                lines
            }
        }
    }

    /// Numbers in another spelling, for those who asked for everything.
    pub(in crate::report) fn spellings(&mut self, resource: &ResourceChange) -> Vec<Line> {
        let shown = resource.spellings().filter(|_| self.style.is_verbose()).collect::<Vec<_>>();
        shown.into_iter().flat_map(|change| self.spelling(change, CHANGES)).collect()
    }

    /// Symbol, identity and file; on two lines if one is too short. None for what only `-v` shows.
    pub(in crate::report) fn header(&mut self, resource: &ResourceChange) -> Vec<Line> {
        let Some((symbol, role)) = self.status_symbol(resource) else { return Vec::new() };
        let columns = self.style.columns();
        let mut line = Line::default().with(role, &symbol).with(Role::Plain, " ");
        line.push(Role::Heading, &self.name(resource));
        let Some(files) = self.files(resource) else { return line.hanging(columns, FILE_INDENT) };
        if line.width() + 2 + super::super::paint::columns(&files) <= columns {
            return vec![line.with(Role::Plain, "  ").with(Role::Dim, &files)];
        }
        let mut lines = line.hanging(columns, FILE_INDENT);
        let names = Names::of_paths(vec![text_parts(&files)]).lines(columns.saturating_sub(FILE_INDENT), None, "");
        lines.extend(names.iter().map(|name| Line::indented(FILE_INDENT).with(Role::Dim, name)));
        lines
    }

    /// The symbol of a resource; none if there is nothing to show about it.
    pub(in crate::report) fn status_symbol(&self, resource: &ResourceChange) -> Option<(String, Role)> {
        let (symbol, role) = match resource.status() {
            Status::Added => ("+", Role::Added),
            Status::Removed => ("-", Role::Removed),
            Status::Changed => ("~", Role::Changed),
            Status::Moved => (self.symbols.moved, Role::Moved),
            Status::Respelled | Status::Same if self.style.is_verbose() => ("=", Role::Dim),
            Status::Respelled | Status::Same => return None,
        };
        Some((symbol.to_owned(), role))
    }

    /// What the resource is called, both names if it was renamed.
    pub(in crate::report) fn name(&self, resource: &ResourceChange) -> String {
        match (&resource.before, &resource.after) {
            (Some(before), Some(after)) if self.names_its_file(before) && self.names_its_file(after) => {
                match before.file == after.file {
                    true => after.identity.to_string(),
                    false => renamed(&before.file.to_string(), &after.file.to_string()),
                }
            }
            (Some(before), Some(after)) if before.identity != after.identity => {
                format!("{} {} {}", before.identity, self.symbols.arrow, after.identity)
            }
            (before, after) => {
                after.as_ref().or(before.as_ref()).map(|side| side.identity.to_string()).unwrap_or_default()
            }
        }
    }

    /// The file or unit, both if it moved; nothing if the name is the file, or says where it is.
    fn files(&mut self, resource: &ResourceChange) -> Option<String> {
        match (&resource.before, &resource.after) {
            (Some(before), Some(after)) if before.home() != after.home() => {
                let is_said = self.names_its_file(before) && self.names_its_file(after);
                (!is_said).then(|| renamed(&before.home().to_string(), &after.home().to_string()))
            }
            (before, after) => {
                let side = after.as_ref().or(before.as_ref())?;
                (!self.names_its_file(side) && !is_below(side)).then(|| self.file(side))
            }
        }
    }

    fn names_its_file(&self, side: &Resource) -> bool {
        matches!((&side.identity, side.home()), (Identity::File { path, .. }, Home::File(file)) if path == file)
    }

    /// The unit or the file, with the line for all but the first document of a file.
    fn file(&mut self, side: &Resource) -> String {
        match (side.home(), side.position) {
            (Home::File(file), 1..) => format!("{file}:{}", self.locator.start(side.payload.span).line),
            (home, _) => home.to_string(),
        }
    }

    pub(in crate::report) fn content(&mut self, side: &Resource, sign: Sign, layout: Layout) -> Vec<Line> {
        self.content_among(side, sign, layout, 1)
    }

    /// The content of one of several resources: of many, less of each. Lines count as often as they are broken.
    pub(super) fn content_among(&mut self, side: &Resource, sign: Sign, layout: Layout, count: usize) -> Vec<Line> {
        let usual = if sign == Sign::Removed { REMOVED_LINES } else { ADDED_LINES };
        let share = (usual * FEW_RESOURCES / count.max(1)).clamp(usual / 3, usual);
        let rows = self.most(share);
        let most = rows.or((!self.style.is_verbose()).then_some(MOST_CONTENT_LINES));
        let mut block = fragment::block(&side.payload, &mut self.secret_numbers, most, self.style.is_limited());
        if let Some(rows) = rows {
            let mut taken = 0;
            let fitting = block.lines.iter().take_while(|line| {
                taken += self.gutter(std::slice::from_ref(line), sign, layout).len();
                taken <= rows + SPARE_ROWS
            });
            let fitting = fitting.count().max(1);
            block.shorten(fitting);
        }
        let mut lines = self.gutter(&block.lines, sign, layout);
        lines.extend(block.left_out.into_iter().flat_map(|what| self.left_out(&what, layout.details)));
        lines
    }

    /// Lines of one side, each with its sign.
    pub(in crate::report) fn gutter(&self, block: &[String], sign: Sign, layout: Layout) -> Vec<Line> {
        let text_layout = self.text_layout(layout.details + layout.inset + 2);
        let rows = broken(block.iter().map(|text| whole(text, sign)), text_layout);
        rows.into_iter().map(|row| self.signed(sign, layout).then(row.text)).collect()
    }

    /// The start of a line that belongs to one side.
    pub(super) fn signed(&self, sign: Sign, layout: Layout) -> Line {
        Line::indented(layout.details).with(sign.role(), sign.gutter()).with(Role::Plain, &" ".repeat(layout.inset))
    }

    /// Forgets what was remembered of the resource before.
    pub(in crate::report) fn enter(&mut self, resource: &ResourceChange) {
        self.homes = HomeFile::both(resource);
        let mut sides = resource.before.iter().chain(&resource.after);
        self.hides_comments = sides.any(|side| side.payload.holds_secret());
    }
}

/// Whether the name of a resource is a file in the directory of its root, or the root is the top directory.
fn is_below(side: &Resource) -> bool {
    let Home::Unit(unit) = side.home() else { return false };
    let is_in = |path: &str| path.strip_prefix(&*unit.key).is_some_and(|rest| rest.starts_with('/'));
    unit.key.is_empty() || matches!(&side.identity, Identity::File { path, .. } if is_in(&path.to_string()))
}
