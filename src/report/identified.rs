//! Findings with fingerprints by which programs recognise them from run to run.

use std::collections::BTreeMap;

use crate::diff::Digest;
use crate::finding::{Finding, FindingKey};
use crate::path::Pointer;
use crate::text::Sources;

/// A finding and its fingerprint.
pub(super) struct Identified<'a> {
    /// The finding.
    pub(super) finding: &'a Finding,
    /// Twelve hexadecimal digits that do not depend on lines; the second of two equal ones has a number after it.
    pub(super) fingerprint: String,
}

/// Every finding with a fingerprint of its own.
pub(super) fn identified<'a>(findings: impl Iterator<Item = &'a Finding>, sources: &Sources) -> Vec<Identified<'a>> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let identify = |finding: &'a Finding| {
        let digits = digits(&finding.key(sources));
        let count = seen.entry(digits.clone()).or_default();
        *count += 1;
        let fingerprint = if *count == 1 { digits } else { format!("{digits}-{count}") };
        Identified { finding, fingerprint }
    };
    findings.map(identify).collect()
}

fn digits(key: &FindingKey) -> String {
    let pointer = key.pointer.as_ref().map(Pointer::to_string).unwrap_or_default();
    let mut digest = Digest::new();
    for part in [key.rule, key.subject.as_str(), pointer.as_str(), key.shape.as_str()] {
        digest.bytes(part.as_bytes());
    }
    digest.finish().to_string()
}
