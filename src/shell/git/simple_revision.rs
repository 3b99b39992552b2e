//! Revisions in the notations that are used most, such as `HEAD~2`, `main^` and abbreviated ids, resolved with a few reads. gix opens and
//! checks the indices of all packs for that. What is unusual in any way is left to it, and so are mistakes.

use gix::objs::{CommitRefIter, Kind, TagRefIter};

use super::objects::Objects;

/// A name or an id, and the way from there to an ancestor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimpleRevision<'w> {
    base: &'w str,
    steps: Vec<Step>,
}

/// One step from a commit.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// `^2`: to this parent.
    Parent(usize),
    /// `~3`: to the first parent, so many times.
    Ancestor(usize),
}

impl<'w> SimpleRevision<'w> {
    /// A word in one of these notations.
    pub(super) fn read(word: &'w str) -> Option<Self> {
        let end = word.find(['^', '~']).unwrap_or(word.len());
        let (base, mut rest) = word.split_at(end);
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/_.-".contains(letter);
        if base.is_empty() || base != "@" && !base.chars().all(is_plain) || base.contains("..") {
            return None;
        }
        let mut steps = Vec::new();
        while let Some(step) = rest.chars().next() {
            rest = &rest[1..];
            let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let number =
                if digits == 0 { 1 } else { rest[..digits].parse().ok().filter(|number| *number <= MOST_STEPS)? };
            rest = &rest[digits..];
            steps.push(match step {
                '^' if number > 0 => Step::Parent(number),
                '~' => Step::Ancestor(number),
                _ => return None,
            });
        }
        Some(Self { base: if base == "@" { "HEAD" } else { base }, steps })
    }

    /// The object that is meant; it can be read.
    pub(super) fn resolve(&self, objects: &Objects) -> Option<gix::ObjectId> {
        let mut id = base(self.base, objects)?;
        for step in &self.steps {
            let (count, number) = match step {
                Step::Parent(number) => (1, *number),
                Step::Ancestor(count) => (*count, 1),
            };
            for _ in 0..count {
                id = parent(id, number, objects)?;
            }
        }
        objects.object(id).map(|_| id)
    }
}

/// A farther ancestor is left to gix, which may know the graph of commits.
const MOST_STEPS: usize = 100;

fn base(name: &str, objects: &Objects) -> Option<gix::ObjectId> {
    let is_id = name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(id) = gix::ObjectId::from_hex(name.as_bytes()).ok().filter(|_| is_id) {
        return Some(id);
    }
    let named = objects.with(|repository, _| {
        let mut reference = repository.try_find_reference(name).ok()?;
        while let Some(reference) = reference.as_mut() {
            match reference.follow() {
                Some(next) => *reference = next.ok()?,
                None => break,
            }
        }
        Some(reference.and_then(|reference| reference.try_id().map(gix::Id::detach)))
    });
    named?.or_else(|| if is_id { objects.beginning(name) } else { None })
}

/// A parent of a commit, or of the commit that a tag names.
fn parent(id: gix::ObjectId, number: usize, objects: &Objects) -> Option<gix::ObjectId> {
    let mut object = objects.object(id)?;
    for _ in 0..MOST_TAGS {
        match object.kind {
            Kind::Commit => return CommitRefIter::from_bytes(&object.bytes, id.kind()).parent_ids().nth(number - 1),
            Kind::Tag => object = objects.object(TagRefIter::from_bytes(&object.bytes, id.kind()).target_id().ok()?)?,
            Kind::Tree | Kind::Blob => break,
        }
    }
    None
}

/// Tags can name tags.
const MOST_TAGS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(word: &str) -> Option<(&str, Vec<Step>)> {
        SimpleRevision::read(word).map(|it| (it.base, it.steps))
    }

    #[test]
    fn simple_notations_are_read() {
        assert_eq!(read("HEAD"), Some(("HEAD", vec![])));
        assert_eq!(read("@~2^"), Some(("HEAD", vec![Step::Ancestor(2), Step::Parent(1)])));
        assert_eq!(read("feature/x.1^^2"), Some(("feature/x.1", vec![Step::Parent(1), Step::Parent(2)])));
        assert_eq!(read("v1~0"), Some(("v1", vec![Step::Ancestor(0)])));
    }

    #[test]
    fn others_are_left_to_gix() {
        for word in [
            "",
            "^",
            "a..b",
            "HEAD@{1}",
            "@{u}",
            "a:b",
            ":/fix",
            "HEAD^{tree}",
            "HEAD^!",
            "HEAD^-",
            "HEAD^@",
            "HEAD^0",
            "HEAD~9999",
            "ä",
        ] {
            assert_eq!(read(word), None, "{word}");
        }
    }
}
