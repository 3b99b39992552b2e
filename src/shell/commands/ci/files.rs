//! The files through which a step talks to the GitHub runner: summary, outputs, and a place for reports.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use super::random;
use crate::shell::environment;
use crate::shell::error::Failure;
use crate::shell::output;

/// Where the runner wants things; without a runner there is nowhere to write to.
#[derive(Debug, Default)]
pub(super) struct Files {
    summary: Option<PathBuf>,
    outputs: Option<PathBuf>,
    temporary: Option<PathBuf>,
}

/// Above this many bytes the runner drops the whole summary of a step.
const MOST_SUMMARY: u64 = 1 << 20;
/// Less than this is not worth beginning.
const LEAST_SUMMARY: u64 = 1 << 10;

impl Files {
    pub(super) fn from_environment() -> Result<Self, Failure> {
        let path = |name| environment::text(name).map(|path| path.map(PathBuf::from));
        Ok(Self {
            summary: path("GITHUB_STEP_SUMMARY")?,
            outputs: path("GITHUB_OUTPUT")?,
            temporary: path("RUNNER_TEMP")?,
        })
    }

    /// Appends to the summary; `write` gets the number of bytes that are left.
    pub(super) fn append_summary(
        &self,
        write: impl FnOnce(usize, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let Some(path) = &self.summary else { return Ok(()) };
        let taken = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let room = MOST_SUMMARY.saturating_sub(taken);
        if room < LEAST_SUMMARY {
            output::note("note: the step summary is full, so nothing was added");
            return Ok(());
        }
        let mut text = Vec::new();
        write(usize::try_from(room).unwrap_or(usize::MAX), &mut text)?;
        append(path, &text)
    }

    /// Sets outputs of the step.
    pub(super) fn write_outputs(&self, values: &[(&str, String)]) -> Result<(), Failure> {
        let Some(path) = &self.outputs else { return Ok(()) };
        let mut text = String::new();
        for (name, value) in values {
            text.push_str(&heredoc(name, value, &random())?);
        }
        append(path, text.as_bytes())
    }

    /// Makes a new directory for the files of a review; nowhere without a runner.
    pub(super) fn make_directory(&self) -> Result<Option<Directory>, Failure> {
        let Some(directory) = &self.temporary else { return Ok(None) };
        // A new one, not one that somebody put there.
        let path = directory.join(format!("outcrop-{}", random()));
        fs::create_dir(&path)
            .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
        Ok(Some(Directory(path)))
    }
}

/// Where the files of a review go.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Writes a file, and returns its path.
    pub(super) fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<String, Failure> {
        let path = self.0.join(name);
        let failed = |error: io::Error| Failure::new(format!("{} cannot be written: {error}", path.display()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        let mut out = io::BufWriter::new(file);
        write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
        text(path)
    }

    pub(super) fn path(self) -> Result<String, Failure> {
        text(self.0)
    }
}

fn text(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|_| Failure::new("RUNNER_TEMP is not text"))
}

fn append(path: &PathBuf, text: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(format!("{} cannot be written: {error}", path.display()));
    let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
    file.write_all(text).map_err(failed)
}

/// A value between two marks that it does not hold: it can then hold anything else.
fn heredoc(name: &str, value: &str, token: &str) -> Result<String, Failure> {
    let mark = format!("ghadelimiter_{token}");
    if value.contains(&mark) || name.contains(&mark) {
        return Err(Failure::new(format!("the value of the output `{name}` contains its own delimiter")));
    }
    Ok(format!("{name}<<{mark}\n{value}\n{mark}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_can_hold_anything_but_its_end() {
        assert_eq!(heredoc("a", "b\nc", "x").expect("fine"), "a<<ghadelimiter_x\nb\nc\nghadelimiter_x\n");
        assert!(heredoc("a", "b\nghadelimiter_x\nevil=1", "x").is_err());
    }

    #[test]
    fn the_summary_never_grows_past_what_the_runner_takes() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let path = directory.path().join("summary");
        let files = Files { summary: Some(path.clone()), ..Files::default() };
        for taken in [0, 1000, MOST_SUMMARY - LEAST_SUMMARY, MOST_SUMMARY - LEAST_SUMMARY + 1, MOST_SUMMARY + 1] {
            fs::write(&path, vec![b'-'; usize::try_from(taken).expect("it is small")]).expect("it can be written");
            files.append_summary(|room, out| out.write_all(&vec![b'+'; room])).expect("it can be written");
            let size = fs::metadata(&path).expect("it is there").len();
            assert_eq!(size, if taken + LEAST_SUMMARY <= MOST_SUMMARY { MOST_SUMMARY } else { taken });
        }
    }

    #[test]
    fn random_words_differ_and_are_long_enough_for_a_mask() {
        assert_ne!(random(), random());
        assert_eq!(random().len(), 32);
    }
}
