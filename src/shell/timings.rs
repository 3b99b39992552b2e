//! How long the parts of a run took, on standard error, for those who ask with `-vv`.

use std::time::Instant;

use super::cli::Global;
use super::output;

/// A clock that is only read if somebody wants to know.
pub(super) struct Timings {
    last: Option<Instant>,
}

impl Timings {
    /// Starts the clock.
    pub(super) fn start(global: &Global) -> Self {
        Self { last: (global.verbose > 1).then(Instant::now) }
    }

    /// Says how long it took since the last mark.
    pub(super) fn mark(&mut self, what: &str) {
        let Some(last) = &mut self.last else { return };
        output::note(&format!("{what} in {:.1} ms", last.elapsed().as_secs_f64() * 1e3));
        *last = Instant::now();
    }
}
