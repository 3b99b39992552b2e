//! Why things changed: groups of what is one change, and the edited files behind them.

use super::Request;
use crate::diff;
use crate::path::RepoPath;
use crate::report::Report;
use crate::snapshot::{Entry, Snapshot};

/// Adds the groups and the edits to a report whose resources are settled.
pub(super) fn explain(request: &Request<'_>, report: &mut Report) {
    report.groups = diff::groups(&report.resources, &report.sources);
    report.edits = diff::edits(&report.resources, &report.sources, &|file| is_edited(request, file));
}

/// Whether a file differs between the sides; ids tell without reading where there are any.
fn is_edited(request: &Request<'_>, file: &RepoPath) -> bool {
    let entry = |snapshot: &dyn Snapshot| snapshot.entry(file).ok().flatten();
    match (entry(request.before), entry(request.after)) {
        (Some(Entry { id: Some(before), .. }), Some(Entry { id: Some(after), .. })) => before != after,
        (Some(before), Some(after)) => {
            let (old, new) = (request.before.read(&before), request.after.read(&after));
            !matches!((old, new), (Ok(old), Ok(new)) if old == new)
        }
        (before, after) => before.is_some() || after.is_some(),
    }
}
