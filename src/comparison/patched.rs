//! What a patch from the command line changes, as a report.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Compared, Report, payload_options};
use crate::diff;
use crate::path::RepoPath;
use crate::side::{PatchedDocuments, Side};

/// The difference of documents before and after a patch.
pub fn patched_report(side: &Side<'_>, patched: PatchedDocuments) -> Report {
    let options = payload_options(&side.settings.lists, side.limits);
    let files: BTreeSet<&RepoPath> = patched.before.iter().map(|resource| &resource.file).collect();
    let compared = Compared { files: files.len(), resources: patched.before.len() };
    Report {
        before: "as written".into(),
        after: "patched".into(),
        resources: diff::compare_resources(diff::pair(patched.before, patched.after), &options),
        compared,
        sources: Arc::clone(side.sources),
        ..Report::default()
    }
}
