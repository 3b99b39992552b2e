//! The last resort: a run that crashes, or that takes too much memory or time, ends with exit code 2 and a sentence.
//!
//! Every stage has limits of its own, and reaching one of them is a finding. What they do not foresee ends here, without a report.

use std::panic::{self, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::output;
use crate::limits::{Limits, Scarce};

/// The place in the program of the last panic.
static CRASH: Mutex<Option<String>> = Mutex::new(None);
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// The exit code of everything that was not done.
const INCOMPLETE: i32 = 2;

/// Lets crashes of every kind end with exit code 2.
///
/// An allocation that fails and a stack that ends are said by the standard library, which then aborts; the handler of that signal
/// exits instead. The message of a panic may quote a file, so that only its place in the program is kept.
pub(super) fn prepare() {
    #[cfg(unix)]
    {
        let always = Arc::new(AtomicBool::new(true));
        // Without the handler the exit code is another one, and the message is the same.
        let _ = signal_hook::flag::register_conditional_shutdown(signal_hook::consts::SIGABRT, INCOMPLETE, always);
    }
    panic::set_hook(Box::new(note_crash));
}

fn note_crash(info: &PanicHookInfo<'_>) {
    let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
    *CRASH.lock().unwrap_or_else(PoisonError::into_inner) = place;
}

/// What is said about a panic that nothing has caught.
pub(super) fn crash_message() -> String {
    let place = CRASH.lock().unwrap_or_else(PoisonError::into_inner).take();
    let place = place.map(|place| format!(" at {place}")).unwrap_or_default();
    format!("error: outcrop crashed{place}\n help: this is a bug; please report it with the files involved")
}

/// Watches over memory and time from now on, with these limits.
pub(super) fn watch(limits: &Limits) {
    output::set_limits(limits);
    if !IS_WATCHED.swap(true, Ordering::Relaxed) {
        // Without the thread the limits of each stage are all there is.
        let _ = thread::Builder::new().name("guard".to_owned()).stack_size(256 << 10).spawn(keep_watching);
    }
}

const INTERVAL: Duration = Duration::from_millis(10);

fn keep_watching() {
    let start = Instant::now();
    loop {
        thread::sleep(INTERVAL);
        let Some(limits) = output::limits() else { continue };
        let wall = start.elapsed().as_secs_f64();
        let used = memory();
        limits.note_memory(used);
        if let Some(scarce) = scarce(&limits, used, wall, cpu_seconds) {
            limits.note_scarce(scarce);
        }
        let excess = too_much_memory(&limits, used).or_else(|| too_much_time(&limits, wall, cpu_seconds));
        if let Some(message) = excess {
            output::note(&message);
            stop();
        }
    }
}

/// Ends the process without waiting for anything: other threads may be at work.
#[cfg(unix)]
fn stop() -> ! {
    signal_hook::low_level::exit(INCOMPLETE)
}

#[cfg(not(unix))]
#[allow(clippy::exit, reason = "there is no report to finish")]
fn stop() -> ! {
    std::process::exit(INCOMPLETE)
}

/// Where so much of what is allowed is used up, the rest of the run is left out, so that what was found can still be said.
const MOST: f64 = 0.8;

/// What of memory or time is nearly used up.
#[allow(clippy::cast_precision_loss, reason = "it is about tenths")]
fn scarce(limits: &Limits, used: u64, wall: f64, cpu: impl FnOnce() -> f64) -> Option<Scarce> {
    if limits.memory_bytes > 0 && used as f64 > limits.memory_bytes as f64 * MOST {
        return Some(Scarce::Memory);
    }
    let allowed = limits.most_seconds() as f64 * SLOWNESS * MOST;
    (limits.seconds > 0 && wall > allowed && cpu() > allowed * BUSY).then_some(Scarce::Time)
}

fn too_much_memory(limits: &Limits, used: u64) -> Option<String> {
    let most = limits.memory_bytes;
    (most > 0 && used > most).then(|| {
        let most = most >> 20;
        format!(
            "error: this run takes more than {most} MiB of memory\n \
             help: name the paths of interest after `--`, or raise `limits.memory_bytes` in outcrop.yaml"
        )
    })
}

/// An unoptimised program is that much slower.
const SLOWNESS: f64 = if cfg!(debug_assertions) { 30.0 } else { 1.0 };
/// A process that waits for others, or for a person, does not work.
const BUSY: f64 = 0.9;

fn too_much_time(limits: &Limits, wall: f64, cpu: impl FnOnce() -> f64) -> Option<String> {
    let most = limits.most_seconds();
    #[allow(clippy::cast_precision_loss, reason = "seconds are small numbers")]
    let allowed = most as f64 * SLOWNESS;
    (limits.seconds > 0 && wall > allowed && cpu() > allowed * BUSY).then(|| {
        format!(
            "error: this run takes more than {most} seconds of work\n \
             help: name the paths of interest after `--`, or raise `limits.seconds` in outcrop.yaml"
        )
    })
}

/// The bytes of memory that belong to this process alone; 0 where the system does not say.
fn memory() -> u64 {
    // Packs are mapped into memory and can be dropped at any time: they do not count.
    let read = |text: String| {
        let mut pages = text.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
        let (resident, shared) = (pages.next()??, pages.next()??);
        Some(resident.saturating_sub(shared) * PAGE)
    };
    std::fs::read_to_string("/proc/self/statm").ok().and_then(read).unwrap_or(0)
}

/// The size of a page; where pages are larger, less memory is counted than there is.
const PAGE: u64 = 4096;
/// Linux counts time in hundredths of a second, whatever the machine.
const TICKS: f64 = 100.0;

/// Seconds of work of all threads; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    // The name of the program is between parentheses and may contain anything.
    let read = |text: String| {
        let mut fields =
            text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).map(|field| field.parse::<f64>().ok());
        let (user, system) = (fields.next()??, fields.next()??);
        Some((user + system) / TICKS)
    };
    std::fs::read_to_string("/proc/self/stat").ok().and_then(read).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_time_are_known_on_linux() {
        let block = vec![1_u8; 8 << 20];
        assert!(!cfg!(target_os = "linux") || memory() > 8 << 20, "{}", memory());
        assert!(block.iter().all(|byte| *byte == 1) && cpu_seconds() >= 0.0);
    }

    #[test]
    fn too_much_is_said_with_the_way_out() {
        let limits = Limits { memory_bytes: 2 << 20, seconds: 3, ..Limits::default() };
        assert_eq!(too_much_memory(&limits, 1 << 20), None);
        assert!(too_much_memory(&limits, 3 << 20).is_some_and(|text| text.contains("limits.memory_bytes")));
        let late = 3.0 * SLOWNESS + 1.0;
        assert!(too_much_time(&limits, late, || late).is_some_and(|text| text.contains("limits.seconds")));
        assert_eq!(too_much_time(&limits, late, || 0.5), None, "it waits");
        assert_eq!(too_much_time(&limits, 1.0, || late), None, "many threads at work");
        assert_eq!(scarce(&limits, 1 << 20, late * 0.9, || late * 0.9), Some(Scarce::Time), "before it is too late");
        assert_eq!(scarce(&limits, 7 << 18, 0.0, || 0.0), Some(Scarce::Memory));
        assert_eq!(scarce(&limits, 1 << 20, late * 0.5, || late), None);
        let unlimited = Limits { memory_bytes: 0, seconds: 0, ..Limits::default() };
        assert_eq!(too_much_memory(&unlimited, u64::MAX), None);
        assert_eq!(too_much_time(&unlimited, 1e9, || 1e9), None);
        assert_eq!(scarce(&unlimited, u64::MAX, 1e9, || 1e9), None);
    }
}
