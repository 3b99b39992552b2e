//! What of a payload is compared: the compare transforms of its metadata, before anything is diffed.

use crate::finding::Finding;
use crate::layer::Operation;
use crate::request::{self, Flavour, Target};
use crate::value::Node;

/// A payload after its compare transforms. The target says whose rules apply, and fills in the templates of jq; the payload may be
/// that of the other side.
pub fn transform(payload: &Node, target: &Target<'_>) -> Result<Node, Box<Finding>> {
    // The rules can reach resources above, as any template can.
    let scoped = request::scope_for(target, Operation::Compare);
    request::transform(payload, target, Operation::Compare, &scoped, Flavour::Compare)
}
