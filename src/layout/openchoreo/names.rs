//! Names that the platform makes, and what is rendered where something is not in git.

use crate::expression::cel::{LABEL, NAME, generate, generate_with};

/// The longest generated name.
pub(super) const LONGEST: usize = NAME;
/// The longest generated namespace.
pub(super) const LONGEST_LABEL: usize = LABEL;

/// The UIDs that objects get in a cluster.
pub(super) const COMPONENT_UID: &str = "component-uid";
pub(super) const PROJECT_UID: &str = "project-uid";
pub(super) const ENVIRONMENT_UID: &str = "environment-uid";
pub(super) const DATA_PLANE_UID: &str = "dataplane-uid";

/// The environment of a component that no binding and no pipeline places.
pub(super) const UNKNOWN_ENVIRONMENT: &str = "unknown-environment";
/// The plane of an environment that names none.
pub(super) const DEFAULT_PLANE: &str = "default";
/// The notification channel of an environment whose channels are not known.
pub(super) const DEFAULT_CHANNEL: &str = "default-notification-channel";

/// A name of parts with a hash at its end.
pub(super) fn generated(parts: &[&str], most: usize) -> String {
    generate(parts, most).unwrap_or_default()
}

/// A name of parts with a hash of the parts and of a content at its end.
pub(super) fn generated_for(parts: &[&str], content: &str) -> String {
    generate_with(parts, LONGEST, content).unwrap_or_default()
}

/// A name without the hash at its end, if it has one: eight hexadecimal digits.
pub(super) fn without_hash(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((stem, hash)) if hash.len() == 8 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => stem,
        _ => name,
    }
}

/// A data plane that is not in git.
pub(super) const DATA_PLANE: &str = "\
spec:
  secretStoreRef: {name: dataplane-secret-store}
  observabilityPlaneRef: {kind: ClusterObservabilityPlane, name: observability-plane}
  gateway:
    publicVirtualHost: external.dataplane.invalid
    ingress:
      external:
        name: gateway-external
        namespace: gateway-namespace
        http: {listenerName: http, port: 80, host: external.dataplane.invalid}
        https: {listenerName: https, port: 443, host: external.dataplane.invalid}
      internal:
        name: gateway-internal
        namespace: gateway-namespace
        http: {listenerName: http, port: 80, host: internal.dataplane.invalid}
        https: {listenerName: https, port: 443, host: internal.dataplane.invalid}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hash_is_left_out_of_a_name() {
        assert_eq!(without_hash("cart-dev-4aba4403"), "cart-dev");
        assert_eq!(without_hash("cart"), "cart");
        assert_eq!(without_hash("cart-settings"), "cart-settings");
    }
}
