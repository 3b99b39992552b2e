//! Whether a file that caused a change was edited itself.

use crate::path::RepoPath;
use crate::side::Side;
use crate::snapshot::Entry;

/// Whether a file differs between the sides. Where there are object ids, nothing is read.
pub(super) fn is_edited(before: &Side<'_>, after: &Side<'_>, file: &RepoPath) -> bool {
    let entry = |side: &Side<'_>| side.snapshot.entry(file).ok().flatten();
    match (entry(before), entry(after)) {
        (Some(Entry { id: Some(before), .. }), Some(Entry { id: Some(after), .. })) => before != after,
        (Some(old), Some(new)) => {
            let (old, new) = (before.snapshot.read(&old), after.snapshot.read(&new));
            !matches!((old, new), (Ok(old), Ok(new)) if old == new)
        }
        (before, after) => before.is_some() || after.is_some(),
    }
}
