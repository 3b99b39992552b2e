//! `kubernetes/volume-shrink`: a claim that asks for less storage than before.

use std::cmp::Ordering;

use super::quantity;
use super::recreated::{Update, update};
use super::transition::{Problem, Transition, pointer, scalar};
use crate::finding;
use crate::sanitize;

/// A claim whose size is smaller now.
pub(super) fn volume_shrink(transition: &Transition<'_>) -> Option<Problem> {
    let (old, new) = transition.both()?;
    if !transition.is("", "PersistentVolumeClaim") || update(transition) != Update::Refused {
        return None;
    }
    let place = pointer("/spec/resources/requests/storage");
    let (was, is) = (old.at(&place)?, new.at(&place)?);
    if quantity::compare(is, was) != Some(Ordering::Less) {
        return None;
    }
    let (was, is) = (scalar(was)?, scalar(is)?);
    let tail = format!(" cannot shrink from {} to {}", sanitize::inline(&was), sanitize::inline(&is));
    let help = "create a smaller claim of another name and copy the data; a claim can only grow";
    Some(Problem::new(&finding::KUBERNETES_VOLUME_SHRINK, place, tail).help(help))
}
