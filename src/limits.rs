//! What "too much" means, in one place.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::finding::{self, Finding, Location};
use crate::path::RepoPath;

/// Bounds on what a run reads and builds; every one can be moved in `outcrop.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files that a run holds at once, both sides together.
    pub run_bytes: u64,
    /// Levels of nesting in one document, after alias expansion.
    pub depth: u32,
    /// Values in one document, after alias expansion.
    pub nodes: u64,
    /// Directory entries looked at in a run.
    pub entries: u64,
    /// Levels of directories.
    pub directory_depth: u32,
    /// Files that include each other in a row.
    pub include_depth: u32,
    /// Files that one document includes, counted each time.
    pub includes: u32,
    /// Bytes of one path expression.
    pub expression_bytes: u64,
    /// Expressions that need each other in a row, and filters and functions inside each other.
    pub expression_depth: u32,
    /// Values looked at by the expressions of one resource.
    pub expression_steps: u64,
    /// Matches of one expression.
    pub expression_results: u64,
    /// Bytes of one CEL expression.
    pub cel_bytes: u32,
    /// Steps that evaluating one CEL expression may take.
    pub cel_steps: u64,
    /// Places that the path of one patch operation may select.
    pub patch_matches: u32,
    /// Values that patching one resource may copy, and steps that its expressions may take, together.
    pub patch_work: u64,
    /// Steps that all templates and jq programs of a run may take together.
    pub request_steps: u64,
    /// Values of all documents of a run together, on both sides, after aliases, merge keys and includes.
    pub run_nodes: u64,
    /// Steps that the expressions, patches and builds of a run may take together.
    pub run_steps: u64,
    /// Changed values that a run lists.
    pub changes: u64,
    /// Bytes that a run writes, beyond eight for each byte that it read.
    pub output_bytes: u64,
    /// Bytes of memory that a run uses; 0 for no limit. The operating system is asked, so that this is a last resort.
    pub memory_bytes: u64,
    /// Seconds of work, beyond one for every 8 MiB that a run reads after the first 64 MiB; 0 for no limit. A last resort, too.
    pub seconds: u64,
    /// What the run has used up. Clones of limits share it.
    pub account: Account,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            run_bytes: 512 << 20,
            depth: 128,
            nodes: 4_000_000,
            entries: 1_000_000,
            directory_depth: 64,
            include_depth: 32,
            includes: 1000,
            expression_bytes: 16 << 10,
            expression_depth: 1000,
            expression_steps: 1_000_000,
            expression_results: 100_000,
            cel_bytes: 4096,
            cel_steps: 1_000_000,
            patch_matches: 65_536,
            patch_work: 50_000_000,
            request_steps: 80_000_000,
            run_nodes: 16_000_000,
            run_steps: 50_000_000,
            changes: 500_000,
            output_bytes: 32 << 20,
            memory_bytes: 960 << 20,
            seconds: 10,
            account: Account::default(),
        }
    }
}

/// What a run has used up so far; shared by both sides and all threads.
#[derive(Debug, Default)]
pub struct Spent {
    /// Bytes that are held.
    held: AtomicU64,
    /// Bytes that were read, held or not.
    bytes: AtomicU64,
    entries: AtomicU64,
}

/// What a run has used up of everything that adds up: over files, over resources, over both sides and over threads. It is booked
/// before memory is taken. Clones share one account, and two accounts are equal, because limits are compared without it.
#[derive(Clone, Default)]
pub struct Account(Arc<Used>);

#[derive(Debug, Default)]
struct Used {
    bytes: AtomicU64,
    /// Hashes of the contents that are counted.
    contents: Mutex<HashSet<u64>>,
    nodes: AtomicU64,
    steps: AtomicU64,
    requests: AtomicU64,
    changes: AtomicU64,
    findings: AtomicU64,
    /// Bytes of memory that the run used when it was last looked at.
    memory: AtomicU64,
    /// What of the machine is nearly used up: [`Scarce`] as a number, or 0.
    scarce: AtomicU8,
    /// Whether something was left out because of it.
    is_cut: AtomicBool,
}

/// What of the machine a run has nearly used up, so that what is not done yet is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarce {
    /// Memory.
    Memory = 1,
    /// Time.
    Time = 2,
}

/// What the account of a run counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Values of documents.
    Values,
    /// Steps of expressions, patches and builds.
    Steps,
    /// Changed values.
    Changes,
}

/// Without what is used: limits that are printed are the same at every time.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}

impl PartialEq for Account {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Account {}

impl Limits {
    /// Says that memory or time is nearly used up.
    pub fn note_scarce(&self, what: Scarce) {
        self.account.0.scarce.store(what as u8, Ordering::Relaxed);
    }

    /// Notes how much memory the run uses.
    pub fn note_memory(&self, bytes: u64) {
        self.account.0.memory.store(bytes, Ordering::Relaxed);
    }

    /// Whether there is room for what takes about so much memory at once. If not, it is to be left out, like everything that follows.
    #[must_use]
    pub fn has_memory_for(&self, bytes: u64) -> bool {
        let used = self.account.0.memory.load(Ordering::Relaxed);
        let is_too_much = self.memory_bytes > 0 && used.saturating_add(bytes) > self.memory_bytes / 10 * 9;
        if is_too_much {
            self.note_scarce(Scarce::Memory);
        }
        self.may_go_on()
    }

    /// Whether there is enough left of memory and time for another piece of work. If not, that piece is to be left out.
    #[must_use]
    pub fn may_go_on(&self) -> bool {
        self.account.may_go_on()
    }

    /// The finding that something was left out, if it was, because memory or time is nearly used up.
    pub fn left_out(&self, revision: &str) -> Option<Finding> {
        let scarce = self.account.scarce().filter(|_| self.account.0.is_cut.load(Ordering::Relaxed))?;
        let (message, help) = self.scarcity(scarce);
        let everywhere = Location::File { path: RepoPath::root(), revision: revision.into() };
        Some(Finding::new(&finding::LIMIT_RUN_WORK, everywhere, message).help(help))
    }

    /// What is to be said about the account of the run, of which something is used up, and how it is raised.
    pub fn excess(&self, counted: Counted) -> (String, String) {
        if let Some(scarce) = self.account.scarce() {
            return self.scarcity(scarce);
        }
        let (message, key) = match counted {
            Counted::Values => {
                (format!("all documents of this run have more than {} values", self.run_nodes), "run_nodes")
            }
            Counted::Steps => {
                let most = self.run_steps;
                (format!("the expressions, patches and builds of this run take more than {most} steps"), "run_steps")
            }
            Counted::Changes => {
                let most = self.changes;
                (format!("not all changes are listed, because this run has more than {most} changed values"), "changes")
            }
        };
        (message, way_out(key))
    }

    /// What is to be said where memory or time is nearly used up.
    fn scarcity(&self, scarce: Scarce) -> (String, String) {
        match scarce {
            Scarce::Memory => {
                let most = self.memory_bytes >> 20;
                (
                    format!("the rest is left out, because this run would take more than {most} MiB of memory"),
                    way_out("memory_bytes"),
                )
            }
            Scarce::Time => {
                let most = self.most_seconds();
                (
                    format!("the rest is left out, because this run would take more than {most} seconds of work"),
                    way_out("seconds"),
                )
            }
        }
    }

    /// Books values of a document; false if the run has too many, and then nothing is booked.
    #[must_use]
    pub fn take_nodes(&self, nodes: u64) -> bool {
        self.may_go_on() && take(&self.account.0.nodes, nodes, self.run_nodes)
    }

    /// Books values that exist already.
    pub fn note_nodes(&self, nodes: u64) {
        self.account.0.nodes.fetch_add(nodes, Ordering::Relaxed);
    }

    /// Says that values of documents are held no longer.
    pub fn give_back_nodes(&self, nodes: u64) {
        let nodes_left = |held: u64| Some(held.saturating_sub(nodes));
        let _ = self.account.0.nodes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, nodes_left);
    }

    /// Books steps, whether or not they are still within the limit; false if they are not.
    #[must_use]
    pub fn take_steps(&self, steps: u64) -> bool {
        let before = self.account.0.steps.fetch_add(steps, Ordering::Relaxed);
        before.saturating_add(steps) <= self.run_steps && self.may_go_on()
    }

    /// The number of steps that the run may still take.
    pub fn steps_left(&self) -> u64 {
        match self.account.scarce() {
            None => self.run_steps.saturating_sub(self.account.0.steps.load(Ordering::Relaxed)),
            Some(_) => 0,
        }
    }

    /// Books one changed value; false if the run lists too many, and then nothing is booked.
    #[must_use]
    pub fn take_change(&self) -> bool {
        self.may_go_on() && take(&self.account.0.changes, 1, self.changes)
    }

    /// Books errors in a document, and says how many of them may be listed.
    pub fn take_findings(&self, most: usize) -> usize {
        let before = self.account.0.findings.fetch_add(most as u64, Ordering::Relaxed);
        let left = usize::try_from(MOST_FINDINGS.saturating_sub(before)).unwrap_or(usize::MAX);
        left.min(most)
    }

    /// Notes bytes that are read. The same content, by its hash, counts once, however often it is read: only new input allows a run
    /// to do more.
    pub fn note_bytes(&self, content: u64, bytes: u64) {
        let is_new = self.account.0.contents.lock().unwrap_or_else(PoisonError::into_inner).insert(content);
        self.account.0.bytes.fetch_add(if is_new { bytes } else { 0 }, Ordering::Relaxed);
    }

    /// The number of bytes that the run may write, after what it has read so far.
    pub fn most_output(&self) -> u64 {
        self.output_bytes.saturating_add(self.bytes_read().saturating_mul(8))
    }

    /// The number of seconds that the run may work, after what it has read so far.
    pub fn most_seconds(&self) -> u64 {
        self.seconds.saturating_add(self.bytes_read().saturating_sub(64 << 20) >> 23)
    }

    fn bytes_read(&self) -> u64 {
        self.account.0.bytes.load(Ordering::Relaxed)
    }
}

impl Account {
    fn scarce(&self) -> Option<Scarce> {
        match self.0.scarce.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Scarce::Memory),
            _ => Some(Scarce::Time),
        }
    }

    fn may_go_on(&self) -> bool {
        let is_scarce = self.scarce().is_some();
        if is_scarce {
            self.0.is_cut.store(true, Ordering::Relaxed);
        }
        !is_scarce
    }
}

/// The number of errors in documents that a run lists. Beyond that each file has one, and the number of the others.
const MOST_FINDINGS: u64 = 100_000;

fn way_out(key: &str) -> String {
    format!("name the paths of interest after `--`, or raise `limits.{key}` in outcrop.yaml")
}

/// Steps that may still be taken; shared by all threads of a run.
#[derive(Debug)]
pub struct Allowance {
    account: Account,
    limit: u64,
}

impl Allowance {
    /// So many steps.
    #[cfg(test)]
    pub fn new(steps: u64) -> Self {
        Self { account: Account::default(), limit: steps }
    }

    /// What the templates and jq programs of a run may still use; both sides draw on it.
    pub fn of_requests(limits: &Limits) -> Self {
        Self { account: limits.account.clone(), limit: limits.request_steps }
    }

    /// Takes as many as are left, but not more than these; what is not used is to be given back.
    pub fn take(&self, most: u64) -> u64 {
        if !self.account.may_go_on() {
            return 0;
        }
        let granted = |used: u64| self.limit.saturating_sub(used).min(most);
        let taken = self
            .account
            .0
            .requests
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| Some(used + granted(used)));
        taken.map_or(0, granted)
    }

    /// Gives back what was taken and not used.
    pub fn give_back(&self, steps: u64) {
        self.account.0.requests.fetch_sub(steps, Ordering::Relaxed);
    }
}

/// How far a run is, for the progress display.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Progress {
    /// Says how much there is to do.
    pub fn expect(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Says that one more is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// How many are done.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// How many there are; 0 while that is unknown.
    pub fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }
}

/// What a run may use, and the account of what it has used; every snapshot of a run draws on the same account.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// What is too much.
    pub limits: Limits,
    /// What is used up.
    pub spent: Arc<Spent>,
    /// How far the run is.
    pub progress: Arc<Progress>,
}

impl Spent {
    /// Books bytes before they are read; false if that would pass the limit, and then nothing is booked.
    pub fn take_bytes(&self, bytes: u64, limits: &Limits) -> bool {
        let is_within = take(&self.held, bytes, limits.run_bytes);
        self.bytes.fetch_add(if is_within { bytes } else { 0 }, Ordering::Relaxed);
        is_within
    }

    /// Says that bytes are held no longer.
    pub fn give_back_bytes(&self, bytes: u64) {
        let _ = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held| Some(held.saturating_sub(bytes)));
    }

    /// Whether this many bytes more would be within the limit.
    pub fn has_room_for(&self, bytes: u64, limits: &Limits) -> bool {
        self.held.load(Ordering::Relaxed).checked_add(bytes).is_some_and(|after| after <= limits.run_bytes)
    }

    /// Books directory entries before they are kept.
    pub fn take_entries(&self, entries: u64, limits: &Limits) -> bool {
        take(&self.entries, entries, limits.entries)
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn take(spent: &AtomicU64, amount: u64, limit: u64) -> bool {
    let booked = spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |before| {
        before.checked_add(amount).filter(|&after| after <= limit)
    });
    booked.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_account() {
        let limits = Limits { run_nodes: 10, run_steps: 10, changes: 1, request_steps: 5, ..Limits::default() };
        let other = limits.clone();
        assert!(limits.take_nodes(6) && !other.take_nodes(5) && other.take_nodes(4) && !limits.take_nodes(1));
        assert!(limits.take_steps(6) && !other.take_steps(5), "steps that are taken are booked");
        assert_eq!(limits.steps_left(), 0);
        assert!(limits.take_change() && !other.take_change());
        let (one, two) = (Allowance::of_requests(&limits), Allowance::of_requests(&other));
        assert_eq!((one.take(3), two.take(3), two.take(3)), (3, 2, 0));
        one.give_back(2);
        assert_eq!(two.take(9), 2);
        assert_eq!(limits, other);
    }

    #[test]
    fn nothing_is_granted_where_memory_or_time_is_scarce() {
        let limits = Limits { memory_bytes: 5 << 20, ..Limits::default() };
        assert!(limits.may_go_on() && limits.take_nodes(1) && limits.excess(Counted::Values).0.contains("values"));
        let other = limits.clone();
        other.note_scarce(Scarce::Memory);
        assert!(limits.left_out("x").is_none(), "nothing was asked for since");
        assert!(!limits.take_nodes(1) && !limits.take_steps(1) && !limits.take_change() && !limits.may_go_on());
        assert_eq!((limits.steps_left(), Allowance::of_requests(&limits).take(5)), (0, 0));
        let said = limits.left_out("x").map(|finding| finding.message + finding.help.as_deref().unwrap_or_default());
        assert!(
            said.as_deref().is_some_and(|said| said.contains("5 MiB") && said.contains("limits.memory_bytes")),
            "{said:?}"
        );
    }

    #[test]
    fn much_memory_is_not_taken_at_once_where_there_is_little_left() {
        let limits = Limits { memory_bytes: 100 << 20, ..Limits::default() };
        limits.note_memory(50 << 20);
        assert!(limits.has_memory_for(30 << 20) && !limits.has_memory_for(50 << 20));
        assert!(!limits.has_memory_for(0) && limits.left_out("x").is_some(), "what follows is left out, too");
        assert!(Limits { memory_bytes: 0, ..Limits::default() }.has_memory_for(u64::MAX));
    }

    #[test]
    fn a_run_lists_so_many_errors_of_documents() {
        let limits = Limits::default();
        let most = usize::try_from(MOST_FINDINGS).unwrap_or(0);
        assert_eq!(
            (limits.take_findings(most - 1), limits.take_findings(5), limits.take_findings(5)),
            (most - 1, 1, 0)
        );
    }

    #[test]
    fn what_is_read_allows_more_output_and_more_time() {
        let limits = Limits { output_bytes: 100, seconds: 10, ..Limits::default() };
        assert_eq!((limits.most_output(), limits.most_seconds()), (100, 10));
        limits.note_bytes(1, 128 << 20);
        limits.note_bytes(1, 128 << 20);
        assert_eq!((limits.most_output(), limits.most_seconds()), (100 + (1 << 30), 18));
    }
}
