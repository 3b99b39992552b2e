//! Copies of secrets: what a patch or an expression makes out of one is as secret as the one itself, wherever it is put.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use super::mask::secret;
use super::overridden::History;
use crate::finding::Finding;
use crate::memo::HashMap;
use crate::value::{Entry, Key, Map, Node, Secret, StepKind, Value};

/// The payload with copies of its own hidden values hidden too, in what counts and in what it overrides.
#[must_use]
pub(super) fn hide_copies(payload: Node) -> Node {
    let secrets = secrets_in([&payload]);
    hide_copies_of(payload, &secrets)
}

/// Hides copies of these values.
#[must_use]
pub fn hide_copies_of(payload: Node, secrets: &[Secret]) -> Node {
    Search::new(&Needles::new(secrets)).node(&payload, false).unwrap_or(payload)
}

/// Hides every text that contains one of these values, whatever brought it: for the intermediate stages of a resource.
#[must_use]
pub(super) fn hide_everywhere(payload: Node, secrets: &[Secret]) -> Node {
    hide_needles(payload, &Needles::new(secrets))
}

/// Hides every text that contains one of these texts, whatever brought it.
#[must_use]
pub(super) fn hide_needles(payload: Node, needles: &Needles) -> Node {
    Search::new(needles).node(&payload, true).unwrap_or(payload)
}

/// All hidden values of these payloads, each once, also those that are overridden.
pub fn secrets_in<'n>(payloads: impl IntoIterator<Item = &'n Node>) -> Vec<Secret> {
    let mut found = Found { known: BTreeMap::new(), secrets: Vec::new(), history: History::default() };
    payloads.into_iter().for_each(|payload| found.node(payload));
    found.secrets
}

/// A finding that quotes none of these values. The name of its resource is in the open.
#[must_use]
pub fn without_secrets(mut finding: Finding, secrets: &[Secret]) -> Finding {
    let name = finding.resource.clone().filter(|name| !name.is_empty());
    let cleaned = |text: &str| {
        let without = |text: String, secret: &Secret| secret.taken_out_of(&text, MASK).unwrap_or(text);
        secrets.iter().fold(text.to_owned(), without)
    };
    let clean = |text: &mut String| {
        *text = match &name {
            Some(name) => text.split(name.as_str()).map(cleaned).collect::<Vec<_>>().join(name),
            None => cleaned(text),
        };
    };
    clean(&mut finding.message);
    clean(&mut finding.label);
    finding.help.iter_mut().for_each(clean);
    finding.related.iter_mut().for_each(|label| clean(&mut label.text));
    finding
}

/// Replaces a secret in the middle of a text, and a key that is one.
const MASK: &str = "•••";

struct Found {
    known: BTreeMap<u64, usize>,
    secrets: Vec<Secret>,
    history: History,
}

impl Found {
    fn node(&mut self, node: &Node) {
        if !node.holds_secret() && !node.holds_extra() {
            return;
        }
        if let Value::Secret(secret) = &node.value {
            let first = *self.known.entry(node.hash()).or_insert(self.secrets.len());
            if self.secrets.get(first).is_none_or(|known| !known.is_equal(secret)) {
                self.secrets.push(secret.clone());
            }
        }
        node.children().for_each(|child| self.node(child.node));
        if let Some(loser) = node.overridden()
            && self.history.admits(loser)
        {
            self.node(loser);
        }
    }
}

/// Texts by which copies of secrets are known, in an order that lets many of them be looked for at once.
#[derive(Debug, Default)]
pub(super) struct Needles {
    forms: Vec<String>,
    /// The forms by how they start; empty if there are few.
    starts: HashMap<[u8; START], Vec<usize>>,
}

/// So many bytes are the start of a form; no form is shorter.
const START: usize = 4;
/// So many forms are looked for one by one.
const FEW_FORMS: usize = 8;

impl Needles {
    pub(super) fn new(secrets: &[Secret]) -> Self {
        let mut forms: Vec<String> = secrets.iter().flat_map(Secret::forms).collect();
        forms.sort_unstable();
        forms.dedup();
        Self::of(forms)
    }

    /// These texts.
    pub(super) fn of(forms: Vec<String>) -> Self {
        let mut starts: HashMap<_, Vec<usize>> = HashMap::default();
        if forms.len() > FEW_FORMS {
            for (at, form) in forms.iter().enumerate() {
                if let Some(start) = form.as_bytes().first_chunk::<START>() {
                    starts.entry(*start).or_default().push(at);
                }
            }
        }
        Self { forms, starts }
    }

    /// Those of them that some texts contain.
    pub(super) fn found_in<'n, 't>(&'n self, texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<&'n str> {
        let mut found = BTreeSet::new();
        for text in texts {
            if self.starts.is_empty() {
                found.extend(self.forms.iter().map(String::as_str).filter(|form| text.contains(form)));
                continue;
            }
            for (at, window) in text.as_bytes().windows(START).enumerate() {
                let start: Option<&[u8; START]> = window.try_into().ok();
                let candidates = start.and_then(|start| self.starts.get(start)).map_or(&[][..], Vec::as_slice);
                let forms = candidates.iter().map(|form| self.forms[*form].as_str());
                found.extend(forms.filter(|form| text.as_bytes()[at..].starts_with(form.as_bytes())));
            }
        }
        found
    }

    /// Whether a text contains one of them. What that costs is taken from `left`; if it is too little, one counts as found.
    fn are_in(&self, text: &str, left: &mut u64) -> bool {
        let mut pay = |cost: usize| match left.checked_sub(cost as u64) {
            Some(rest) => {
                *left = rest;
                true
            }
            None => false,
        };
        if self.starts.is_empty() {
            return !pay((text.len() + 1).saturating_mul(self.forms.len()))
                || self.forms.iter().any(|form| text.contains(form.as_str()));
        }
        let bytes = text.as_bytes();
        !pay(bytes.len())
            || bytes.windows(START).enumerate().any(|(at, window)| {
                let start: Option<&[u8; START]> = window.try_into().ok();
                let candidates = start.and_then(|start| self.starts.get(start)).map_or(&[][..], Vec::as_slice);
                let is_here = |form: usize| bytes[at..].starts_with(self.forms[form].as_bytes());
                !candidates.is_empty() && (!pay(candidates.len()) || candidates.iter().any(|form| is_here(*form)))
            })
    }
}

/// How many bytes are searched at most, and forms compared. Beyond that everything that may be a copy counts as one.
const MOST_SEARCHED: u64 = 100_000_000;

struct Search<'f> {
    needles: &'f Needles,
    left: u64,
    history: History,
}

impl<'f> Search<'f> {
    fn new(needles: &'f Needles) -> Self {
        Self { needles, left: MOST_SEARCHED, history: History::default() }
    }

    /// The node with its copies hidden, or nothing if it has none. Whether it may be one is said by a step on it or around it.
    fn node(&mut self, node: &Node, is_suspect: bool) -> Option<Node> {
        if self.needles.forms.is_empty() {
            return None;
        }
        let is_suspect = is_suspect || is_made(node);
        let hidden = match &node.value {
            Value::String(text) if is_suspect && self.is_in(text) => Some(secret(node)),
            Value::Number(number) if is_suspect && self.is_in(number.as_str()) => Some(secret(node)),
            Value::List(_) => node.map_children(|child| self.node(child.node, is_suspect)),
            Value::Map(map) => self.entries(node, map, is_suspect),
            _ => None,
        };
        let Some(loser) = node.overridden() else { return hidden };
        let shown = || hidden.clone().unwrap_or_else(|| node.clone());
        if !self.history.admits(loser) {
            return Some(shown().forgetting());
        }
        match self.node(loser, is_suspect) {
            Some(loser) => Some(shown().overriding(loser)),
            None => hidden,
        }
    }

    /// A patch can also make a key of a secret; then the key says no more than that there is one.
    fn entries(&mut self, node: &Node, map: &Map, is_suspect: bool) -> Option<Node> {
        let mut changed: Option<Vec<Entry>> = None;
        for (at, entry) in map.entries().iter().enumerate() {
            let is_key = (is_suspect || is_made(&entry.value)) && self.is_in(&entry.key.name);
            let value = self.node(&entry.value, is_suspect);
            if !is_key && value.is_none() {
                continue;
            }
            let entries = changed.get_or_insert_with(|| map.entries().to_vec());
            if is_key {
                let name = free_name(entries);
                entries[at].key = Key { name, ..entry.key.clone() };
            }
            entries[at].value = value.unwrap_or_else(|| entry.value.clone());
        }
        Some(Node { extra: node.extra.clone(), ..Node::map(changed?, node.span) })
    }

    fn is_in(&mut self, text: &str) -> bool {
        self.needles.are_in(text, &mut self.left)
    }
}

pub(super) fn free_name(entries: &[Entry]) -> SmolStr {
    let is_free = |name: &SmolStr| !entries.iter().any(|entry| entry.key.name == *name);
    let names = std::iter::once(SmolStr::new(MASK)).chain((2..).map(|number| format_smolstr!("{MASK} {number}")));
    names.into_iter().find(is_free).unwrap_or_default()
}

/// Whether a patch or an expression brought the value. A value that is written in a patch of a kustomization is made of nothing else.
fn is_made(node: &Node) -> bool {
    let mut later = None;
    node.steps().any(|step| {
        let is_kustomized = matches!(later.replace(&step.kind), Some(StepKind::Kustomize(_)));
        match step.kind {
            StepKind::Patch => !(is_kustomized && step.at.covers(node.span)),
            StepKind::Expression => true,
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;

    use crate::finding::{self, Location};

    use crate::testing::read;

    /// The value of `secret` hidden, and the value of `made` brought by a patch.
    fn prepared(text: &str) -> Node {
        let root = read(text);
        let entries = root.as_map().unwrap().entries().iter().map(|entry| {
            let value = match entry.key.name.as_str() {
                "secret" => secret(&entry.value),
                "made" => entry.value.clone().through(StepKind::Patch, entry.value.span),
                _ => entry.value.clone(),
            };
            Entry { value, ..entry.clone() }
        });
        Node::map(entries.collect(), root.span)
    }

    fn shown(text: &str) -> String {
        to_inline(&hide_copies(prepared(text)))
    }

    #[test]
    fn what_was_made_of_a_secret_is_hidden() {
        assert_eq!(shown("{secret: hunter2, made: hunter2}"), "{secret: •••, made: •••}");
        assert_eq!(
            shown("{secret: hunter2, made: {url: 'x:hunter2@y', ok: hunter}}"),
            "{secret: •••, made: {url: •••, ok: hunter}}"
        );
        assert_eq!(shown("{secret: 12345, made: [12345, a12345b, 1234]}"), "{secret: •••, made: [•••, •••, 1234]}");
        assert_eq!(shown("{secret: \"hunter2\\n\", made: hunter2}"), "{secret: •••, made: •••}");
    }

    #[test]
    fn what_a_patch_of_a_kustomization_says_literally_stays() {
        let root = read("{secret: hunter2, made: quay.io/hunter2/app}");
        let [hidden, plain] = ["secret", "made"].map(|name| root.get(name).unwrap().clone());
        let shown = |made: Node| {
            let entries =
                [("secret", secret(&hidden)), ("made", made.through(StepKind::Kustomize("patches"), root.span))];
            let entries = entries.into_iter().map(|(name, value)| Entry::named(name, root.span, value));
            to_inline(&hide_copies(Node::map(entries.collect(), root.span)))
        };
        let literal = plain.clone().through(StepKind::Patch, plain.span);
        assert_eq!(shown(literal), "{secret: •••, made: quay.io/hunter2/app}");
        let copied = plain.through(StepKind::Patch, hidden.span);
        assert_eq!(shown(copied), "{secret: •••, made: •••}");
    }

    #[test]
    fn a_key_can_be_a_copy_too() {
        assert_eq!(
            shown("{secret: hunter2, made: {hunter2: 1, x-hunter2: 2, z: 3}}"),
            "{secret: •••, made: {•••: 1, ••• 2: 2, z: 3}}"
        );
    }

    #[test]
    fn what_no_stage_made_and_what_is_short_stays() {
        assert_eq!(shown("{secret: hunter2, other: hunter2}"), "{secret: •••, other: hunter2}");
        assert_eq!(shown("{secret: abc, made: abc}"), "{secret: •••, made: abc}");
        let everywhere = |text: &str| {
            let node = prepared(text);
            let secrets = secrets_in([&node]);
            to_inline(&hide_everywhere(node, &secrets))
        };
        assert_eq!(everywhere("{secret: hunter2, other: [hunter2]}"), "{secret: •••, other: [•••]}");
    }

    #[test]
    fn many_secrets_are_looked_for_at_once() {
        let known = (0..1000).map(|number| secret(&read(&format!("hunter-{number}-x"))));
        let secrets: Vec<Secret> = secrets_in(&known.collect::<Vec<_>>());
        let needles = Needles::new(&secrets);
        assert!(!needles.starts.is_empty());
        let shown = |text: &str| to_inline(&hide_needles(read(text), &needles));
        assert_eq!(shown("[hunter-7-x, a-hunter-999-x-b, hunter, hun]"), "[•••, •••, hunter, hun]");
        assert_eq!(shown("{a: hunter-1000-x, hunter-5-x: b}"), "{a: hunter-1000-x, •••: b}");
        assert_eq!(shown("[aHVudGVyLTcteA==, aHVudGVy]"), "[•••, aHVudGVy]");
    }

    #[test]
    fn what_a_copy_overrides_is_hidden_and_so_are_copies_of_what_a_secret_overrides() {
        let node = prepared("{secret: hunter2, made: old1}");
        let (first, second) = (node.get("secret").unwrap().clone(), node.get("made").unwrap().clone());
        let first = secret(&read("new1")).overriding(first);
        let second = second.overriding(read("x-hunter2"));
        let payload = Node::map(
            vec![Entry::named("secret", node.span, first), Entry::named("made", node.span, second)],
            node.span,
        );
        assert!(format!("{payload:?}").contains("x-hunter2"));
        assert!(!format!("{:?}", hide_copies(payload)).contains("hunter2"));
    }

    #[test]
    fn the_name_of_a_resource_stays_in_messages() {
        let secrets = secrets_in([&prepared("secret: archive")]);
        let place = Location::Span(prepared("secret: archive").span);
        let finding = Finding::new(&finding::PATCH_MISSING, place, "Job shop/archive-1 has archive");
        let shown = |finding: Finding| without_secrets(finding, &secrets).message;
        assert_eq!(shown(finding.clone()), "Job shop/•••-1 has •••");
        let named = Finding { resource: Some("Job shop/archive-1".into()), ..finding };
        assert_eq!(shown(named), "Job shop/archive-1 has •••");
    }

    #[test]
    fn texts_lose_their_secrets() {
        let secrets = secrets_in([&prepared("{secret: hunter2}")]);
        let span = read("a").span;
        let finding = Finding::new(&finding::PATCH_MISSING, Location::Span(span), "at `/labels/hunter2`: hunter2");
        let cleaned = without_secrets(finding.help("is hunter2 right?").related(span, "hunter2"), &secrets);
        assert_eq!(cleaned.message, "at `/labels/•••`: •••");
        assert!(!format!("{cleaned:?}").contains("hunter2"));
    }
}
