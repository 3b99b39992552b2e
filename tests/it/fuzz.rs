//! Random damage to real input: everything ends, nothing crashes, and what is printed is safe to show.
//!
//! Each test is deterministic and short. `OUTCROP_FUZZ_SECONDS=3600 OUTCROP_FUZZ_SEED=7 cargo test --release --test it fuzz` searches for
//! longer. What fails is written to `target/fuzz/`; once it is fixed it moves to `fixtures/crashes/`, where it is tried for ever.

mod languages;
mod mutate;
mod repositories;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::program::project;
use mutate::Random;

#[test]
fn mutated_texts_end_in_every_language() {
    each(400, languages::try_one);
}

#[test]
fn both_readers_of_yaml_agree() {
    each(400, languages::read_twice);
}

#[test]
fn json_patches_do_what_an_independent_program_does() {
    each(150, languages::patch_twice);
}

#[test]
fn mutated_repositories_end_with_reports_that_are_safe_to_show() {
    let cases = repositories::cases();
    each(60, |random| repositories::try_one(&cases, random));
}

#[test]
fn crashes_of_the_past_stay_fixed() {
    let folder = project().join("fixtures/crashes");
    for case in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let sides = ["before", "after"].map(|side| repositories::files_below(&case.join(side)));
        repositories::try_pair(&sides).unwrap_or_else(|problem| panic!("{}: {problem}", case.display()));
    }
}

/// Tries a number of cases, or as many as the time allows that the environment gives.
#[track_caller]
fn each(count: u64, mut attempt: impl FnMut(&mut Random) -> Result<(), Problem>) {
    let seconds = std::env::var("OUTCROP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let seed: u64 = std::env::var("OUTCROP_FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (start, mut problems, mut tried) = (Instant::now(), Vec::new(), 0);
    for number in 0.. {
        let is_over = seconds.map_or(number >= count, |seconds| start.elapsed() > Duration::from_secs(seconds));
        if is_over || problems.len() >= 20 {
            break;
        }
        tried += 1;
        if let Err(problem) = attempt(&mut Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number))) {
            problems.push(format!("{} (case {number} of seed {seed}, see {})", problem.what, problem.keep().display()));
        }
    }
    if seconds.is_some() {
        let line = format!("{tried} cases in {:.0} s, {} problems\n", start.elapsed().as_secs_f64(), problems.len());
        std::io::stderr().write_all(line.as_bytes()).expect("standard error is open");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A case that went wrong: what happened, and the files to try it again with.
struct Problem {
    what: String,
    files: Vec<(String, Vec<u8>)>,
}

impl Problem {
    fn new(what: impl Into<String>, files: Vec<(String, Vec<u8>)>) -> Self {
        Self { what: what.into(), files }
    }

    /// Writes the files below `target/fuzz`.
    fn keep(&self) -> PathBuf {
        let sum = self
            .files
            .iter()
            .flat_map(|(_, bytes)| bytes)
            .fold(0_u64, |sum, byte| sum.wrapping_mul(1_099_511_628_211).wrapping_add(u64::from(*byte)));
        let folder = project().join(format!("target/fuzz/{sum:016x}"));
        for (path, bytes) in &self.files {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).unwrap();
            fs::write(file, bytes).unwrap();
        }
        folder
    }
}

/// Calls a function; a panic is a problem.
fn guarded<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        format!("panic: {}", text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown"))
    })
}
