//! What a report shows, in order: changes by the resources that share them, then what was added, removed and moved.
//!
//! Every format for people is made from an outline, so that they agree in what belongs together.

mod additions;
mod fold;
mod moves;
mod same;
mod tree;
mod unite;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use additions::{Alike, AlikeVariant, Directory, LISTED, by_directory};
pub(super) use moves::{Move, moved_between, renamed};
pub(super) use tree::{PathNode, path_tree};

use super::Report;
use crate::diff::{Change, Member, PathStep, ResourceChange, Status};

/// The parts of a report.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Changes, by the resources that have them: those of many resources first.
    pub blocks: Vec<Block>,
    /// Added resources, equal ones together.
    pub added: Vec<Alike>,
    /// Removed resources, equal ones together.
    pub removed: Vec<Alike>,
    /// Files that moved, by the directories they moved between.
    pub moves: Vec<Move>,
}

/// Changes that the same resources have.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The resources, in order.
    pub resources: Vec<usize>,
    /// What changed in each of them.
    pub entries: Vec<Entry>,
}

/// A change at one path, or the same change at several paths.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The group that it is, if it is exactly one.
    pub group: Option<usize>,
    /// Where it happened; never empty.
    pub at: Vec<Occurrence>,
}

/// The members that have a change at one path.
#[derive(Debug, Clone)]
pub(super) struct Occurrence {
    /// The path; list items without positions if several resources share it.
    pub path: Vec<PathStep>,
    /// Which changes; never empty.
    pub members: Vec<Member>,
}

impl Entry {
    /// The change of its first member, as an example of all.
    pub(super) fn example<'r>(&self, report: &'r Report) -> Option<(&'r ResourceChange, &'r Change)> {
        self.changes(report).next()
    }

    /// All the changes that it is.
    pub(super) fn changes<'r>(&self, report: &'r Report) -> impl Iterator<Item = (&'r ResourceChange, &'r Change)> {
        self.at.iter().flat_map(|at| &at.members).filter_map(|member| {
            let resource = report.resources.get(member.resource)?;
            Some((resource, resource.change(member.change)?))
        })
    }

    fn resources(&self) -> Vec<usize> {
        let members = self.at.iter().flat_map(|at| &at.members);
        members.map(|member| member.resource).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How often it happened.
    pub(super) fn count(&self) -> usize {
        self.at.iter().map(|at| at.members.len()).sum()
    }
}

impl Outline {
    /// The outline of a report. Changes that a file shares with its readers are shown there only, unless everything is asked for.
    pub(super) fn new(report: &Report, is_verbose: bool) -> Self {
        if report.is_ungrouped {
            return Self::of_each(report);
        }
        let entries = fold::folded(report, unite::united(report, atoms(report, is_verbose)));
        Self::with(report, ordered(blocks(entries)), true)
    }

    /// The outline of a report with each resource for itself.
    pub(super) fn of_each(report: &Report) -> Self {
        let mut entries = Vec::new();
        for (resource, of) in changed(report) {
            entries.extend(of.changes().enumerate().map(|(change, it)| single(Member { resource, change }, it)));
        }
        Self::with(report, ordered(blocks(entries)), false)
    }

    fn with(report: &Report, blocks: Vec<Block>, merges: bool) -> Self {
        let with_status = |status| {
            let found = report.resources.iter().enumerate().filter(move |(_, of)| of.status() == status);
            found.map(|(at, _)| at).collect::<Vec<usize>>()
        };
        let alike = |status| {
            let found = additions::alike(report, &with_status(status), merges);
            if merges { variants::merged(report, found) } else { found }
        };
        Self { blocks, added: alike(Status::Added), removed: alike(Status::Removed), moves: moves::moves(report) }
    }
}

/// Resources that are on both sides.
fn changed(report: &Report) -> impl Iterator<Item = (usize, &ResourceChange)> {
    report.resources.iter().enumerate().filter(|(_, of)| of.before.is_some() && of.after.is_some())
}

fn single(member: Member, change: &Change) -> Entry {
    Entry { group: None, at: vec![Occurrence { path: change.path.clone(), members: vec![member] }] }
}

/// Each group, and each change outside of groups.
fn atoms(report: &Report, is_verbose: bool) -> Vec<Entry> {
    let mut shown: BTreeSet<Member> = BTreeSet::new();
    let mut atoms = Vec::new();
    for (at, group) in report.groups.iter().enumerate() {
        let members: Vec<Member> = group.members().collect();
        shown.extend(&members);
        atoms.push(Entry { group: Some(at), at: vec![Occurrence { path: group.path.clone(), members }] });
    }
    if !is_verbose {
        shown.extend(&report.edits.echoes);
    }
    for (resource, of) in changed(report) {
        let members = of.changes().enumerate().map(|(change, it)| (Member { resource, change }, it));
        atoms.extend(members.filter(|(member, _)| !shown.contains(member)).map(|(member, it)| single(member, it)));
    }
    atoms
}

/// Entries by the resources that have them. The changes of a block are in the order of its first resource.
fn blocks(entries: Vec<Entry>) -> Vec<Block> {
    let mut by_set: BTreeMap<Vec<usize>, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        by_set.entry(entry.resources()).or_default().push(entry);
    }
    let mut blocks: Vec<Block> = by_set.into_iter().map(|(resources, entries)| Block { resources, entries }).collect();
    for block in &mut blocks {
        block.entries.sort_by_key(|entry| entry.at.iter().flat_map(|at| &at.members).min().copied());
    }
    blocks
}

/// Blocks of many resources first.
fn ordered(mut blocks: Vec<Block>) -> Vec<Block> {
    let rank = |block: &Block| match block.resources.len() {
        1 => 0,
        count => count,
    };
    blocks.sort_by(|a, b| rank(b).cmp(&rank(a)).then_with(|| a.resources.cmp(&b.resources)));
    blocks
}
