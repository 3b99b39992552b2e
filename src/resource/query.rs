//! Kubernetes documents as people call them: `Deployment web`, `deployment/web`, `Deployment shop/web`.

use std::fmt;

use smol_str::SmolStr;

use super::KubernetesName;
use crate::sanitize;

/// A kind and a name, with a group and a namespace if they are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubernetesQuery {
    kind: SmolStr,
    group: Option<SmolStr>,
    namespace: Option<SmolStr>,
    name: SmolStr,
}

impl KubernetesQuery {
    /// Reads `KIND NAME`, `KIND NAMESPACE/NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`; the kind may have its group behind a dot.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (kind, name) = text.split_once(char::is_whitespace).or_else(|| text.split_once('/'))?;
        let name = name.trim();
        let (namespace, name) = match name.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, name),
        };
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind, Some(group)),
            None => (kind, None),
        };
        let is_word = |word: &str| {
            !word.is_empty() && !word.contains(|c: char| c == '/' || c.is_whitespace()) && !word.starts_with('.')
        };
        let words = [Some(kind), group, namespace, Some(name)];
        words.into_iter().flatten().all(is_word).then(|| Self {
            kind: kind.into(),
            group: group.map(SmolStr::new),
            namespace: namespace.map(SmolStr::new),
            name: name.into(),
        })
    }

    /// Whether a document of this name is meant. Kinds are written in any case, as elsewhere on the command line.
    pub fn fits(&self, name: &KubernetesName) -> bool {
        self.kind.eq_ignore_ascii_case(&name.kind)
            && self.name == name.name
            && self.group.as_ref().is_none_or(|group| *group == name.group)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == name.namespace)
    }

    /// Whether a text can hold such a document: cheap, and yes when in doubt.
    pub fn may_be_in(&self, text: &[u8]) -> bool {
        let name = self.name.as_bytes();
        // Escapes and encodings can spell a name in other bytes.
        text.windows(name.len()).any(|window| window == name) || text.contains(&b'\\') || text.contains(&0)
    }
}

impl fmt::Display for KubernetesQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sanitize::inline(&self.kind))?;
        if let Some(group) = &self.group {
            write!(f, ".{}", sanitize::inline(group))?;
        }
        f.write_str(" ")?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{}/", sanitize::inline(namespace))?;
        }
        f.write_str(&sanitize::inline(&self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web() -> KubernetesName {
        KubernetesName { group: "apps".into(), kind: "Deployment".into(), namespace: "shop".into(), name: "web".into() }
    }

    #[test]
    fn names_are_read_as_people_write_them() {
        for text in [
            "Deployment web",
            "deployment/web",
            "Deployment shop/web",
            "deployment/shop/web",
            "Deployment.apps web",
            "  Deployment   shop/web ",
        ] {
            assert!(KubernetesQuery::parse(text).unwrap().fits(&web()), "{text}");
        }
        for text in ["Deployment x", "Service web", "Deployment other/web", "Deployment.batch web"] {
            assert!(!KubernetesQuery::parse(text).unwrap().fits(&web()), "{text}");
        }
        for text in ["", "web", "Deployment ", "Deployment a/b/c", "/web", "../web", "Deployment a b"] {
            assert_eq!(KubernetesQuery::parse(text), None, "{text}");
        }
    }
}
