//! The changes of a block by their paths: what paths share is said once, and equal parts are shown once.

use std::collections::HashMap;

use super::Entry;
use super::same::{field, hash_of, is_same_change, values};
use crate::diff::path_text;
use crate::report::Report;
use crate::report::paint::columns;
use crate::report::places::Names;

/// A part of a document with changes in it.
#[derive(Debug, Clone)]
pub(in crate::report) struct PathNode {
    /// The steps from the node above.
    pub steps: Vec<String>,
    /// The changes at this very place, by their positions in the block.
    pub entries: Vec<usize>,
    /// The parts below.
    pub children: Vec<PathNode>,
    /// The entries of other parts that have the same changes.
    twins: Vec<usize>,
}

/// Shorter names of parts with few changes are repeated.
const WORTH_NESTING: usize = 12;
/// So many changes below a short name.
const FEW: usize = 2;

/// The changes of a block as a tree. Folded entries are at its top.
pub(in crate::report) fn path_tree(report: &Report, entries: &[Entry], embedded: &str) -> Vec<PathNode> {
    let (mut top, mut paths) = (Vec::new(), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        match entry.at.as_slice() {
            [only] => paths.push((path_text::steps(&only.path, embedded), at)),
            _ => top.push(PathNode::leaf(vec![entry.at.first().map(|at| field(&at.path)).unwrap_or_default()], at)),
        }
    }
    let borrowed: Vec<(&[String], usize)> = paths.iter().map(|(steps, at)| (steps.as_slice(), *at)).collect();
    let nodes = merged(report, entries, nested(&borrowed), embedded);
    top.extend(nodes.into_iter().flat_map(PathNode::flattened));
    top
}

/// The steps of a path, and what it belongs to.
type PathEntry<'a> = (&'a [String], usize);

/// Puts paths with the same first step below it, in the order of their first occurrence.
fn nested(paths: &[(&[String], usize)]) -> Vec<PathNode> {
    let mut order: Vec<(&str, Vec<PathEntry<'_>>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (steps, at) in paths {
        let Some((first, rest)) = steps.split_first() else { continue };
        let place = *places.entry(first).or_insert(order.len());
        match order.get_mut(place) {
            Some((_, below)) => below.push((rest, *at)),
            None => order.push((first, vec![(rest, *at)])),
        }
    }
    order.into_iter().flat_map(|(step, below)| nodes(step, &below)).collect()
}

/// What changes as a whole, and what changes inside. An item that is removed may have the position of one that changes.
fn nodes(step: &str, below: &[(&[String], usize)]) -> Vec<PathNode> {
    let whole = below.iter().filter(|(rest, _)| rest.is_empty());
    let mut nodes: Vec<PathNode> = whole.map(|(_, at)| PathNode::leaf(vec![step.to_owned()], *at)).collect();
    let deeper: Vec<(&[String], usize)> = below.iter().filter(|(rest, _)| !rest.is_empty()).copied().collect();
    if !deeper.is_empty() {
        let steps = vec![step.to_owned()];
        let mut node = PathNode { steps, entries: Vec::new(), children: nested(&deeper), twins: Vec::new() };
        node.join_only_child();
        nodes.push(node);
    }
    nodes
}

/// Parts with several changes that are the same are shown once: `.{a, b}`.
fn merged(report: &Report, entries: &[Entry], nodes: Vec<PathNode>, embedded: &str) -> Vec<PathNode> {
    let mut kept = Kept { report, entries, parts: Vec::new(), known: HashMap::new() };
    for mut node in nodes {
        node.children = merged(report, entries, std::mem::take(&mut node.children), embedded);
        node.join_only_child();
        kept.add(node);
    }
    let named = |(mut node, names): (PathNode, Vec<Vec<String>>)| {
        if names.len() > 1 {
            node.steps = vec![together(names, embedded)];
        }
        node
    };
    kept.parts.into_iter().map(named).collect()
}

/// Parts of which no two are the same, each with its names.
struct Kept<'a> {
    report: &'a Report,
    entries: &'a [Entry],
    parts: Vec<(PathNode, Vec<Vec<String>>)>,
    /// The numbers of steps, changes and parts below, and who has as many.
    known: HashMap<[usize; 3], OfOneForm>,
}

/// Parts of one form, by their positions. They are hashed only where there are several.
#[derive(Default)]
struct OfOneForm {
    alone: Option<usize>,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl Kept<'_> {
    fn add(&mut self, node: PathNode) {
        match self.twin_of(&node).and_then(|at| self.parts.get_mut(at)) {
            Some((known, names)) => {
                known.twins.extend(node.all());
                names.push(node.steps);
            }
            None => {
                let steps = node.steps.clone();
                self.parts.push((node, vec![steps]));
            }
        }
    }

    /// The part that a new one is the same as; if there is none, the new one is known from now on.
    fn twin_of(&mut self, node: &PathNode) -> Option<usize> {
        let (report, entries, at) = (self.report, self.entries, self.parts.len());
        if node.children.is_empty() && node.entries.len() + node.twins.len() < 2 {
            return None;
        }
        let known = self.known.entry([node.steps.len(), node.entries.len(), node.children.len()]).or_default();
        if known.alone.is_none() && known.by_hash.is_empty() {
            known.alone = Some(at);
            return None;
        }
        if let Some(first) = known.alone.take() {
            known.by_hash.insert(self.parts[first].0.hash(report, entries), vec![first]);
        }
        let same = known.by_hash.entry(node.hash(report, entries)).or_default();
        let is_twin = |known: &PathNode| known.is_same(node, report, entries) && node.is_manifold(report, entries);
        let twin = same.iter().copied().find(|&at| is_twin(&self.parts[at].0));
        same.extend(twin.is_none().then_some(at));
        twin
    }
}

/// `.{a, b}`.
fn together(mut names: Vec<Vec<String>>, embedded: &str) -> String {
    // The sign before a document inside a string belongs to all of them.
    let lead = format!(" {embedded} ");
    let is_inside = names.iter().all(|name| name.first().is_some_and(|step| step.starts_with(&lead)));
    for first in names.iter_mut().filter_map(|name| name.first_mut()).filter(|_| is_inside) {
        first.drain(..lead.len());
    }
    let names = Names::in_braces(names).text();
    if is_inside { format!("{lead}{names}") } else { names }
}

impl PathNode {
    fn leaf(steps: Vec<String>, entry: usize) -> Self {
        Self { steps, entries: vec![entry], children: Vec::new(), twins: Vec::new() }
    }

    /// A part with nothing in it but one other part is one with it.
    fn join_only_child(&mut self) {
        if let (true, [_]) = (self.entries.is_empty(), self.children.as_slice())
            && let Some(child) = self.children.pop()
        {
            self.steps.extend(child.steps);
            self.twins.extend(child.twins);
            (self.entries, self.children) = (child.entries, child.children);
        }
    }

    /// The whole path from the node above.
    pub(in crate::report) fn label(&self) -> String {
        self.steps.concat()
    }

    fn all(&self) -> Vec<usize> {
        let below = self.children.iter().flat_map(PathNode::all);
        self.entries.iter().copied().chain(below).chain(self.twins.iter().copied()).collect()
    }

    /// The entries of parts that are shown once for several.
    pub(super) fn repeated(&self) -> Vec<usize> {
        if self.twins.is_empty() { self.children.iter().flat_map(PathNode::repeated).collect() } else { self.all() }
    }

    /// Whether different changes are in it.
    fn is_manifold(&self, report: &Report, entries: &[Entry]) -> bool {
        let all = self.all();
        let differs = |at: &usize| !is_same_change(report, &entries[all[0]], &entries[*at]);
        all.len() > 1 && all[1..].iter().any(differs)
    }

    /// Equal for parts that are the same.
    fn hash(&self, report: &Report, entries: &[Entry]) -> u64 {
        let own = self.entries.iter().map(|at| values(report, &entries[*at]).map(|(_, hashes)| hashes));
        let below = self.children.iter().map(|child| (&child.steps, child.hash(report, entries)));
        hash_of(&(own.collect::<Vec<_>>(), below.collect::<Vec<_>>()))
    }

    fn is_same(&self, other: &Self, report: &Report, entries: &[Entry]) -> bool {
        let same = |(a, b): (&usize, &usize)| is_same_change(report, &entries[*a], &entries[*b]);
        self.entries.len() == other.entries.len()
            && self.children.len() == other.children.len()
            && self.entries.iter().zip(&other.entries).all(same)
            && self
                .children
                .iter()
                .zip(&other.children)
                .all(|(a, b)| a.steps == b.steps && a.is_same(b, report, entries))
    }

    /// A short name with few changes below is not worth a line.
    fn flattened(mut self) -> Vec<PathNode> {
        self.children = self.children.into_iter().flat_map(PathNode::flattened).collect();
        let is_short = columns(&self.label()) < WORTH_NESTING && self.all().len() <= FEW && self.twins.is_empty();
        if !self.entries.is_empty() || !is_short || self.children.iter().any(|child| !child.children.is_empty()) {
            return vec![self];
        }
        let steps = self.steps;
        let joined = |child: PathNode| PathNode { steps: [steps.clone(), child.steps].concat(), ..child };
        self.children.into_iter().map(joined).collect()
    }
}
