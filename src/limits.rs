//! What "too much" means, in one place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
            request_steps: 200_000_000,
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

/// Steps that may still be taken; shared by all threads of a run.
#[derive(Debug)]
pub struct Allowance(AtomicU64);

impl Allowance {
    /// So many steps.
    pub fn new(steps: u64) -> Self {
        Self(AtomicU64::new(steps))
    }

    /// Takes as many as are left, but not more than these; what is not used is to be given back.
    pub fn take(&self, most: u64) -> u64 {
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - left.min(most)));
        taken.map_or(0, |left| left.min(most))
    }

    /// Gives back what was taken and not used.
    pub fn give_back(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
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
