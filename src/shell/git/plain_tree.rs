//! Trees as git keeps them. Most of what is asked about a directory is answered from these bytes, without a path for every member.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, ObjectId};

/// A tree without anything odd: every name is harmless, they are in git's order, and none is there twice.
pub(super) struct PlainTree {
    data: Arc<Vec<u8>>,
    /// Where each member starts, and where the last one ends.
    starts: Box<[u32]>,
    /// How long ids are.
    id_length: usize,
}

/// A member of a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeMember<'t> {
    pub(super) name: &'t [u8],
    pub(super) kind: EntryKind,
    /// The bytes of its id.
    id: &'t [u8],
}

/// Members as entries of a directory, in the order of listings; nothing if one could not stand there.
pub(super) fn entries<'t>(
    members: impl IntoIterator<Item = TreeMember<'t>>,
    directory: &RepoPath,
) -> Option<Vec<Entry>> {
    let entry = |member: TreeMember<'_>| {
        let path = directory.join(member.name).ok()?;
        Some(Entry { path, kind: member.kind, id: member.id() })
    };
    let mut entries = members.into_iter().map(entry).collect::<Option<Vec<Entry>>>()?;
    entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    Some(entries)
}

impl TreeMember<'_> {
    /// Its id.
    pub(super) fn id(&self) -> Option<ObjectId> {
        ObjectId::new(self.id)
    }
}

impl PlainTree {
    /// Nothing for a tree that needs a closer look.
    pub(super) fn read(data: Arc<Vec<u8>>, id_length: usize) -> Option<Self> {
        u32::try_from(data.len()).ok()?;
        let mut starts: Vec<u32> = Vec::with_capacity(1 + data.len() / (id_length + 12));
        let mut directories = 0;
        let mut last: Option<TreeMember<'_>> = None;
        let mut at = 0;
        while at < data.len() {
            let name_end = at + data[at..].iter().position(|byte| *byte == 0)?;
            let end = name_end + 1 + id_length;
            let member = member(data.get(at..end)?, id_length)?;
            let follows = last.is_none_or(|last| in_git_order(&last, &member) == Ordering::Less);
            if !is_harmless(member.name) || !follows {
                return None;
            }
            starts.push(at as u32);
            directories += usize::from(member.kind == EntryKind::Directory);
            last = Some(member);
            at = end;
        }
        let is_mixed = directories > 0 && directories < starts.len();
        starts.push(data.len() as u32);
        let tree = Self { data, starts: starts.into(), id_length };
        (!is_mixed || !tree.has_twins()).then_some(tree)
    }

    /// Whether a file and a directory have one name; they need not stand side by side in git's order.
    fn has_twins(&self) -> bool {
        let is_directory = |member: &TreeMember<'_>| member.kind == EntryKind::Directory;
        let mut directories = self.members().filter(is_directory);
        directories.any(|directory| self.find_as(directory.name, EntryKind::File).is_some())
    }

    /// How many members there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// All of them, in git's order.
    pub(super) fn members(&self) -> impl Iterator<Item = TreeMember<'_>> {
        self.starts.windows(2).filter_map(|pair| self.member(pair[0], pair[1]))
    }

    /// The member of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<TreeMember<'_>> {
        self.find_as(name, EntryKind::File).or_else(|| self.find_as(name, EntryKind::Directory))
    }

    /// The member of a name that is sorted like a kind: a directory, or anything else.
    fn find_as(&self, name: &[u8], kind: EntryKind) -> Option<TreeMember<'_>> {
        let wanted = TreeMember { name, kind, id: &[] };
        let member = |at: usize| self.member(*self.starts.get(at)?, *self.starts.get(at + 1)?);
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            let found = member(middle)?;
            match in_git_order(&found, &wanted) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(found),
            }
        }
        None
    }

    fn member(&self, start: u32, end: u32) -> Option<TreeMember<'_>> {
        member(self.data.get(start as usize..end as usize)?, self.id_length)
    }

    /// What is not the same in both; each member that is in both comes once for each.
    pub(super) fn differing<'t>(&'t self, other: &'t Self) -> (Vec<TreeMember<'t>>, Vec<TreeMember<'t>>) {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let (mut these, mut those) = (self.members().peekable(), other.members().peekable());
        loop {
            let order = match (these.peek(), those.peek()) {
                (None, None) => return (here, there),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(this), Some(that)) => in_git_order(this, that),
            };
            let this = if order.is_le() { these.next() } else { None };
            let that = if order.is_ge() { those.next() } else { None };
            if this != that {
                here.extend(this);
                there.extend(that);
            }
        }
    }
}

/// A mode, a blank, a name, a zero and an id; nothing for a mode that git does not write.
fn member(data: &[u8], id_length: usize) -> Option<TreeMember<'_>> {
    let (name, id) = data.split_at_checked(data.len().checked_sub(id_length)?)?;
    let (kind, name) = match name {
        [b'4', b'0', b'0', b'0', b'0', b' ', name @ .., 0] => (EntryKind::Directory, name),
        [b'1', b'0', b'0', b'6', b'4', b'4', b' ', name @ .., 0] => (EntryKind::File, name),
        [b'1', b'0', b'0', b'7', b'5', b'5', b' ', name @ .., 0] => (EntryKind::File, name),
        [b'1', b'2', b'0', b'0', b'0', b'0', b' ', name @ .., 0] => (EntryKind::Symlink, name),
        [b'1', b'6', b'0', b'0', b'0', b'0', b' ', name @ .., 0] => (EntryKind::Submodule, name),
        _ => return None,
    };
    Some(TreeMember { name, kind, id })
}

/// Names that need no closer look, as nearly all are: nothing in them leads anywhere else, on whatever file system.
pub(super) fn is_harmless(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii() && !matches!(byte, b'/' | 0);
    name.first().is_some_and(|first| !b".gG".contains(first)) && name.iter().all(is_plain)
}

/// git sorts directories as if their names ended with a slash.
fn in_git_order(a: &TreeMember<'_>, b: &TreeMember<'_>) -> Ordering {
    let shared = a.name.len().min(b.name.len());
    let next = |member: &TreeMember<'_>| match member.name.get(shared) {
        Some(byte) => *byte,
        None if member.kind == EntryKind::Directory => b'/',
        None => 0,
    };
    a.name[..shared].cmp(&b.name[..shared]).then_with(|| next(a).cmp(&next(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(entries: &[(&str, &str, u8)]) -> Vec<u8> {
        let entry =
            |(mode, name, id): &(&str, &str, u8)| [mode.as_bytes(), b" ", name.as_bytes(), &[0], &[*id; 20]].concat();
        entries.iter().flat_map(entry).collect()
    }

    fn read(entries: &[(&str, &str, u8)]) -> Option<PlainTree> {
        PlainTree::read(tree(entries).into(), 20)
    }

    #[test]
    fn what_is_odd_is_left_to_others() {
        assert_eq!(read(&[]).map(|tree| tree.count()), Some(0));
        assert!(read(&[("100644", "a-b", 1), ("40000", "a", 1), ("100644", "b", 1)]).is_some());
        let odd: [&[(&str, &str, u8)]; 7] = [
            &[("100644", "a", 1), ("100644", "a", 2)],
            &[("100644", "b", 1), ("100644", "a", 2)],
            &[("100644", "a", 1), ("100644", "a-b", 1), ("40000", "a", 1)],
            &[("40000", "a-b", 1), ("100644", "a", 1), ("40000", "a", 1)],
            &[("100644", "..", 1)],
            &[("40000", ".git", 1)],
            &[("100644", "é", 1)],
        ];
        for entries in odd {
            assert!(read(entries).is_none(), "{entries:?}");
        }
        assert!(read(&[("100600", "a", 1)]).is_none());
        let whole = tree(&[("100644", "a", 1)]);
        assert!(PlainTree::read(whole[..whole.len() - 1].to_vec().into(), 20).is_none(), "cut off");
    }

    proptest! {
        /// What differs is what a look at every member of both finds.
        #[test]
        fn differences_are_found(sides in prop::array::uniform2(prop::collection::btree_map("[ab-]{1,2}", (any::<bool>(), 0..3_u8), 0..6))) {
            let [before, after] = sides.map(|side| {
                let place = |name: &String, is_tree: bool| if is_tree { format!("{name}/") } else { format!("{name}\0") };
                let mut entries: Vec<(&str, &str, u8)> =
                    side.iter().map(|(name, (is_tree, id))| (if *is_tree { "40000" } else { "100644" }, name.as_str(), *id)).collect();
                entries.sort_by_key(|(mode, name, _)| place(&(*name).to_owned(), *mode == "40000"));
                read(&entries).expect("nothing is odd about it")
            });
            let named = |members: &[TreeMember<'_>]| -> Vec<(Vec<u8>, EntryKind, Option<ObjectId>)> {
                members.iter().map(|member| (member.name.to_vec(), member.kind, member.id())).collect()
            };
            let only = |tree: &PlainTree, other: &PlainTree| -> Vec<_> {
                let all: Vec<TreeMember<'_>> = tree.members().filter(|member| !other.members().any(|twin| twin == *member)).collect();
                named(&all)
            };
            for member in before.members() {
                prop_assert!(before.find(member.name) == Some(member));
            }
            prop_assert!(before.find(b"c").is_none() && before.find(b"").is_none());
            let (here, there) = before.differing(&after);
            prop_assert_eq!(named(&here), only(&before, &after));
            prop_assert_eq!(named(&there), only(&after, &before));
        }
    }
}
