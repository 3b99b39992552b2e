//! The resources of one snapshot in effect, in the order of their files, a handful at a time: memory follows the largest handful,
//! not the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use smol_str::SmolStr;

use super::{FileContent, Opened, ResourceSelection, Side, Stage};
use crate::document::Format;
use crate::finding::{Finding, has_errors};
use crate::layout::{LAYOUTS, Role, resources_in};
use crate::limits::{Progress, Spent};
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::{Content, Parsed, Resource, parse};
use crate::snapshot::{Entry, EntryKind, Unreadable, files_below};
use crate::text::{SourceId, Span};
use crate::value::Node;

/// What is rendered, and how.
pub struct Rendering<'a> {
    /// The resources that are meant.
    pub selection: &'a ResourceSelection,
    /// Whether every stage is shown that changes a resource.
    pub has_steps: bool,
    /// How a resource is written; asked by many threads at once.
    pub write: &'a (dyn Fn(&RenderedResource) -> String + Sync),
    /// How far the run is.
    pub progress: &'a Progress,
}

/// A resource, ready to be written.
#[derive(Debug)]
pub struct RenderedResource {
    /// Its name.
    pub name: String,
    /// The file it is written in.
    pub file: RepoPath,
    /// What it is, or what it was after each stage that changed it.
    pub views: Vec<RenderedStage>,
    /// What a reader must know about it.
    pub remark: Option<SmolStr>,
}

/// A resource after one stage.
#[derive(Debug)]
pub struct RenderedStage {
    /// The stage; nothing if only the result is shown.
    pub stage: Option<String>,
    /// The payload; nothing once it was dropped.
    pub payload: Option<Node>,
}

/// What there is to say beside the resources.
#[derive(Debug, Default)]
pub struct RenderSummary {
    /// What is wrong, in order.
    pub findings: Vec<Finding>,
    /// Whether values were masked.
    pub is_masked: bool,
    /// Whether something is missing, or not what it should be.
    pub is_incomplete: bool,
    /// Names that mean nothing, by their numbers.
    pub unknown: Vec<usize>,
    /// Resources that are selection and that a patch drops.
    pub dropped: Vec<String>,
}

/// So many files are read, worked out and written before the next ones are opened.
const HANDFUL: usize = 256;

impl Side<'_> {
    /// Renders resources; `out` gets each as text, in order.
    pub fn render(
        &self,
        asked: &Rendering<'_>,
        out: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> io::Result<RenderSummary> {
        Renderer { asked, side: self }.run(out)
    }
}

struct Renderer<'a> {
    asked: &'a Rendering<'a>,
    side: &'a Side<'a>,
}

/// What one file gave.
#[derive(Default)]
struct Piece {
    texts: Vec<String>,
    findings: Vec<Finding>,
    hits: BTreeSet<usize>,
    dropped: Vec<String>,
    is_masked: bool,
    is_incomplete: bool,
    /// Texts that are not needed once this is written.
    sources: Vec<SourceId>,
}

impl Renderer<'_> {
    fn run(&self, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<RenderSummary> {
        let Self { side, asked, .. } = *self;
        let scope = asked.selection.places();
        let (mut entries, unreadable) = files_below(side.snapshot, scope, side.limits, &Spent::default());
        entries.retain(|entry| self.may_hold(entry));
        asked.progress.expect(entries.len());
        let mut summary = RenderSummary { is_incomplete: !unreadable.is_empty(), ..RenderSummary::default() };
        summary.findings.extend(unreadable.into_iter().map(Unreadable::into_finding));
        let mut hits = BTreeSet::new();
        let mut reported = BTreeSet::new();
        for handful in entries.chunks(HANDFUL) {
            let pieces = few_or_many(handful, FEW, |entry| self.file(entry));
            for piece in pieces {
                piece.texts.iter().try_for_each(|text| out(text))?;
                hits.extend(piece.hits);
                summary.is_masked |= piece.is_masked;
                summary.is_incomplete |= piece.is_incomplete;
                summary.dropped.extend(piece.dropped);
                if piece.findings.is_empty() {
                    piece.sources.iter().for_each(|source| side.sources.forget(*source));
                }
                // A layer that is wrong is wrong for every resource that it applies to.
                summary.findings.extend(piece.findings.into_iter().filter(|finding| reported.insert(key(finding))));
            }
        }
        summary.unknown = asked.selection.without(&hits);
        Ok(summary)
    }

    fn may_hold(&self, entry: &Entry) -> bool {
        let is_file = matches!(entry.kind, EntryKind::File | EntryKind::Conflict);
        is_file
            && Format::of_file_name(entry.path.file_name()).is_some()
            && self.asked.selection.may_be_in(&entry.path, self.side)
            && !matches!(self.side.roles().role(&entry.path), Role::Layer | Role::Configuration)
    }

    fn file(&self, entry: &Entry) -> Piece {
        self.asked.progress.step();
        if !self.side.limits.may_go_on() {
            return Piece { is_incomplete: true, ..Piece::default() };
        }
        let path = &entry.path;
        let is_meant = self.asked.selection.means_all_of(path);
        let bytes = match self.side.open(Some(entry.clone())) {
            Opened::Bytes(bytes, _) if self.asked.selection.may_be_in_text(path, &bytes) => bytes,
            Opened::Bytes(..) => return Piece::default(),
            Opened::Done(content) => return Piece::of(&content, is_meant),
        };
        let content = Content { bytes: &bytes, path, revision: self.side.snapshot.label() };
        let parsed = parse(content, self.side.sources, self.side.limits);
        let content = self.side.content(path, &parsed);
        // What is wrong with a file that only might have held what is meant is not reported.
        let mut piece = Piece::of(&content, is_meant);
        piece.sources.extend(parsed.source);
        let written = if self.asked.has_steps { self.written(path, &parsed) } else { WrittenByPosition::new() };
        for resource in &content.resources {
            if !self.side.limits.may_go_on() {
                piece.is_incomplete = true;
                break;
            }
            let hits = self.asked.selection.hits(resource, self.side);
            if hits.is_empty() {
                continue;
            }
            if !is_meant {
                piece.findings.extend(content.findings.iter().cloned());
            }
            piece.hits.extend(hits);
            self.resource(resource, &written, &mut piece);
        }
        piece
    }

    fn resource(&self, resource: &Resource, written: &WrittenByPosition, piece: &mut Piece) {
        let (effective, stages) = self.side.stages(resource);
        let about_layers = self.side.layer_findings(resource);
        // Secrets that are declared in a file that cannot be read must not be printed.
        let is_withheld = has_errors(&about_layers) && self.side.secrets.hides_values();
        piece.findings.extend(about_layers);
        piece.findings.extend(effective.findings.iter().cloned());
        piece.is_incomplete |= effective.is_incomplete || is_withheld;
        if effective.payload.is_none() && !self.asked.has_steps {
            piece.dropped.push(resource.identity.to_string());
            return;
        }
        let mut moments = match self.asked.has_steps {
            true => self.moments(resource, written, stages),
            false => vec![(None, effective.payload)],
        };
        let mut remark = effective.is_incomplete.then_some("incomplete: not every stage succeeded");
        match is_withheld {
            true => {
                remark = Some("withheld: its metadata cannot be read, and may declare secrets");
                moments = vec![(None, None)];
            }
            false => piece.is_masked |= self.mask(resource, &mut moments),
        }
        let view = |(stage, payload)| RenderedStage { stage, payload };
        let views = moments.into_iter().map(view).collect();
        let (name, file) = (resource.identity.to_string(), resource.file.clone());
        let rendered = RenderedResource { name, file, views, remark: remark.map(Into::into) };
        piece.texts.push((self.asked.write)(&rendered));
    }

    /// Hides secrets; whether there were any.
    fn mask(&self, resource: &Resource, moments: &mut [Moment]) -> bool {
        let payloads: Vec<Node> = moments.iter().filter_map(|(_, payload)| payload.clone()).collect();
        let hidden = match &payloads[..] {
            [only] => vec![self.side.hidden(Resource { payload: only.clone(), ..resource.clone() }).payload],
            _ => self.side.hidden_stages(resource, payloads.clone()),
        };
        let is_masked = payloads.iter().zip(&hidden).any(|(payload, hidden)| !payload.is_identical(hidden));
        let shown = moments.iter_mut().filter_map(|(_, payload)| payload.as_mut());
        shown.zip(hidden).for_each(|(payload, hidden)| *payload = hidden);
        is_masked
    }

    /// What the resource was after each stage that changed it.
    fn moments(
        &self,
        resource: &Resource,
        written: &WrittenByPosition,
        stages: Vec<(Stage, Option<Node>)>,
    ) -> Vec<Moment> {
        let first = as_written(resource, written).unwrap_or_else(|| resource.payload.clone());
        let mut last = Some(first.clone());
        let mut moments = vec![(Stage::Written, Some(first))];
        for (stage, payload) in [(Stage::Directives, Some(resource.payload.clone()))].into_iter().chain(stages) {
            if !Node::same_option(last.as_ref(), payload.as_ref()) {
                last.clone_from(&payload);
                moments.push((stage, payload));
            }
        }
        let total = moments.len();
        let stage_of = |(at, (stage, payload)): (usize, (Stage, Option<Node>))| {
            let dropped = if payload.is_none() { ", which drops it" } else { "" };
            (Some(format!("{} of {total}: {}{dropped}", at + 1, words(&stage))), payload)
        };
        moments.into_iter().enumerate().map(stage_of).collect()
    }

    /// The resources of a file before its directives.
    fn written(&self, file: &RepoPath, parsed: &Parsed) -> WrittenByPosition {
        let role = self.side.roles().role(file);
        let mut written = WrittenByPosition::new();
        for resource in resources_in(parsed, file, &role, LAYOUTS) {
            written.entry(resource.position).or_default().push(resource);
        }
        written
    }
}

/// Resources by the position of their document.
type WrittenByPosition = BTreeMap<usize, Vec<Resource>>;

/// The resource before its directives.
fn as_written(resource: &Resource, written: &WrittenByPosition) -> Option<Node> {
    let there = written.get(&resource.position)?;
    let namesake = there.iter().find(|other| other.identity == resource.identity);
    Some(namesake.or(there.first())?.payload.clone())
}

/// What was made, and by what.
type Moment = (Option<String>, Option<Node>);

fn words(stage: &Stage) -> String {
    match stage {
        Stage::Written => "as written".to_owned(),
        Stage::Directives => "after its merge directives".to_owned(),
        Stage::Expressions => "after its expressions".to_owned(),
        Stage::Patches(file) => format!("after {file}"),
    }
}

impl Piece {
    fn of(content: &FileContent, is_meant: bool) -> Self {
        if !is_meant {
            return Self::default();
        }
        Self { findings: content.findings.clone(), is_incomplete: content.is_broken, ..Self::default() }
    }
}

fn key(finding: &Finding) -> (&'static str, Option<Span>, String) {
    (finding.rule.id, finding.span(), finding.message.clone())
}
