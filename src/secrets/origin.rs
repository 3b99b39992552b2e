//! Secrecy by origin: what is written at a secret place is secret wherever it is used, and what is used at a secret place is secret
//! where it is written. An alias, a merge key, an include, a replacement and a generator all keep the place of what they take.

use std::collections::{BTreeMap, BTreeSet};

use super::given::{self, ByPlace, OpenUse, OpenUseFinder, Position, Share, TextKey, share, taken_places};
use super::mask::secret;
use super::overridden::History;
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::text::{SourceId, SourceText, Sources, Span};
use crate::value::{Node, Secret, Value};

/// Places in texts that hold secrets. A text is known by its path and content: it may have been read more than once, and a file that
/// both sides have is read for one of them.
#[derive(Debug, Default, Clone)]
pub struct Origins {
    texts: BTreeMap<TextKey, Vec<Place>>,
    /// Files that are secret as a whole, at every revision.
    files: BTreeSet<RepoPath>,
    /// Values that tools put into Secrets, and how much of them these are.
    given: ByPlace<Share>,
    /// How these values are used elsewhere.
    open: ByPlace<OpenUse>,
}

/// A range of a text.
#[derive(Debug, Clone)]
struct Place {
    start: u32,
    end: u32,
    /// The secret that was made of it; none where the text itself is declared as secret.
    taken: Option<Secret>,
}

impl Origins {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.files.is_empty() && self.given.is_empty()
    }

    /// Adds a file that is secret as a whole.
    pub fn add_file(&mut self, file: RepoPath) {
        self.files.insert(file);
    }

    /// Adds the places of all secrets of a resource. Annotations stay out: tools put one text on many resources. `is_followed` says
    /// whether what the resource takes from elsewhere in a file counts.
    pub fn add(&mut self, hidden: &Resource, sources: &Sources, is_followed: &dyn Fn(&RepoPath) -> bool) {
        if hidden.payload.holds_secret() {
            let mut collector =
                Collector { origins: self, sources, texts: BTreeMap::new(), file: &hidden.file, is_followed };
            collector.node(&hidden.payload, false, &mut History::default());
        }
    }

    /// Adds other places.
    pub fn extend(&mut self, others: &Self) {
        for (text, places) in &others.texts {
            self.texts.entry(text.clone()).or_default().extend(places.iter().cloned());
        }
        self.files.extend(others.files.iter().cloned());
        given::extend(&mut self.given, &others.given);
        given::extend(&mut self.open, &others.open);
    }

    /// Notes which of the values that tools put into Secrets are used in the open by these resources, whose secrets are hidden.
    pub fn note_open_uses<'r>(&mut self, hidden: impl IntoIterator<Item = &'r Resource>, sources: &Sources) {
        let open = OpenUseFinder::new(&self.given, sources).find(hidden);
        given::extend(&mut self.open, &open);
    }

    /// Whether tools put any of these values into Secrets.
    pub fn has_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// These places as far as they are in one file.
    #[must_use]
    pub fn in_file(&self, file: &RepoPath) -> Self {
        let is_meant = |((path, _), _): &(&TextKey, &Vec<Place>)| path == file;
        let texts = self.texts.iter().filter(is_meant).map(|(text, places)| (text.clone(), places.clone()));
        let (given, open) = (given::in_file(&self.given, file), given::in_file(&self.open, file));
        Self { texts: texts.collect(), files: BTreeSet::new(), given, open }
    }

    /// The payload with everything hidden that is written at one of these places; nothing if there is nothing to hide.
    pub fn hide(&self, payload: &Node, sources: &Sources) -> Option<Node> {
        if self.is_empty() {
            return None;
        }
        let (texts, whole, history) = (BTreeMap::new(), BTreeMap::new(), History::default());
        let (has_given, keys) = (self.has_given(), BTreeMap::new());
        Hider { origins: self, sources, clean: None, texts, whole, history, has_given, keys }
            .node(payload, Position::Top)
    }

    /// The places in a text. Only files with such places are read to find out whether this is the text that is meant.
    fn places_in(&self, text: &SourceText) -> &[Place] {
        let mut near = self.texts.range((text.path.clone(), 0)..).take_while(|((path, _), _)| *path == text.path);
        near.next().and_then(|_| self.texts.get(&(text.path.clone(), text.fingerprint()))).map_or(&[], Vec::as_slice)
    }

    /// Whether what a tool took from a place is secret.
    fn is_given(&self, text: &TextKey, at: Span) -> bool {
        let range = (at.start, at.end);
        let Some(share) = self.given.get(text).and_then(|places| places.get(&range)) else { return false };
        let open = self.open.get(text).and_then(|uses| uses.get(&range));
        open.is_none_or(|how| !how.reveals(*share))
    }
}

struct Collector<'a> {
    origins: &'a mut Origins,
    sources: &'a Sources,
    texts: BTreeMap<SourceId, TextKey>,
    /// The file of the resource.
    file: &'a RepoPath,
    is_followed: &'a dyn Fn(&RepoPath) -> bool,
}

impl Collector<'_> {
    fn node(&mut self, node: &Node, is_brought: bool, history: &mut History) {
        let is_brought = is_brought || node.step().is_some();
        if let Value::Secret(secret) = &node.value
            && !secret.is_withheld()
        {
            let given: Vec<Span> = taken_places(node).collect();
            given.iter().for_each(|span| self.given(*span, secret));
            if !given.contains(&node.span) {
                secret.for_each_place(&mut |span, part| self.place(span, part, is_brought));
                self.place(node.span, secret, is_brought);
            }
        }
        for child in node.children() {
            if child.key.is_none_or(|key| key.name != "annotations") {
                self.node(child.node, is_brought, history);
            }
        }
        if let Some(loser) = node.overridden()
            && history.admits(loser)
        {
            self.node(loser, is_brought, history);
        }
    }

    fn place(&mut self, span: Span, secret: &Secret, is_brought: bool) {
        if span.start >= span.end {
            return;
        }
        let text = self.text(span.source);
        let is_taken = is_brought || text.0 != *self.file;
        if is_taken && !(self.is_followed)(&text.0) {
            return;
        }
        let taken = is_taken.then(|| secret.clone());
        let place = Place { start: span.start, end: span.end, taken };
        self.origins.texts.entry(text).or_default().push(place);
    }

    /// What a tool took from a place and put into a Secret.
    fn given(&mut self, span: Span, secret: &Secret) {
        let text = self.text(span.source);
        if !(self.is_followed)(&text.0) {
            return;
        }
        if let Some(share) = share(secret, span, self.sources) {
            given::note(&mut self.origins.given, &text, (span.start, span.end), share);
        }
    }

    fn text(&mut self, source: SourceId) -> TextKey {
        let sources = self.sources;
        let text = self.texts.entry(source).or_insert_with(|| {
            let text = sources.get(source);
            (text.path.clone(), text.fingerprint())
        });
        text.clone()
    }
}

struct Hider<'a> {
    origins: &'a Origins,
    sources: &'a Sources,
    /// The text that was met last, if nothing in it is secret.
    clean: Option<SourceId>,
    /// The places of each text that was met.
    texts: BTreeMap<SourceId, &'a [Place]>,
    /// Whether a text is secret as a whole.
    whole: BTreeMap<SourceId, bool>,
    history: History,
    /// Whether tools put any of the values into Secrets.
    has_given: bool,
    /// The texts that were met.
    keys: BTreeMap<SourceId, TextKey>,
}

impl<'a> Hider<'a> {
    fn node(&mut self, node: &Node, position: Position) -> Option<Node> {
        let hidden = match &node.value {
            Value::Map(_) | Value::List(_) => node.map_children(|child| {
                let key = child.key.map(|key| key.name.as_str());
                self.node(child.node, position.below(key))
            }),
            Value::Null | Value::Secret(_) | Value::Bool(_) => None,
            _ => (self.is_secret(node) || position != Position::Identity && self.is_given(node)).then(|| secret(node)),
        };
        let Some(loser) = node.overridden() else { return hidden };
        let shown = || hidden.clone().unwrap_or_else(|| node.clone());
        if !self.history.admits(loser) {
            return Some(shown().forgetting());
        }
        match self.node(loser, position) {
            Some(loser) => Some(shown().overriding(loser)),
            None => hidden,
        }
    }

    /// Whether a tool puts the value into a Secret, or took it from where it is put into one.
    fn is_given(&mut self, node: &Node) -> bool {
        if !self.has_given {
            return false;
        }
        let (origins, sources) = (self.origins, self.sources);
        taken_places(node).chain([node.span]).any(|at| {
            let text = self.keys.entry(at.source).or_insert_with(|| {
                let text = sources.get(at.source);
                (text.path.clone(), text.fingerprint())
            });
            origins.is_given(text, at)
        })
    }

    fn is_secret(&mut self, node: &Node) -> bool {
        let span = node.span;
        if self.clean == Some(span.source) {
            return false;
        }
        let (origins, sources) = (self.origins, self.sources);
        let is_whole = self
            .whole
            .entry(span.source)
            .or_insert_with(|| !origins.files.is_empty() && origins.files.contains(&sources.get(span.source).path));
        if *is_whole {
            return true;
        }
        let places = *self.texts.entry(span.source).or_insert_with(|| origins.places_in(&sources.get(span.source)));
        self.clean = places.is_empty().then_some(span.source);
        span.start < span.end && places.iter().any(|place| place.holds(span, node))
    }
}

impl Place {
    fn holds(&self, span: Span, node: &Node) -> bool {
        if span.start < self.start || span.end > self.end {
            return false;
        }
        match &self.taken {
            // A text that is only part of a secret may be no secret itself.
            Some(secret) if (span.start, span.end) == (self.start, self.end) => secret.is_made_of(node),
            _ => true,
        }
    }
}
