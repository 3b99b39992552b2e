//! Trees as git keeps them. Most of what is asked about a directory is answered from these bytes, without a path for every member.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, ObjectId};

/// A tree without anything odd: every name is safe, they are in git's order, and none is there twice.
pub(super) struct PlainTree {
    data: Arc<Vec<u8>>,
    /// Where each member starts, and where the last one ends.
    starts: Box<[u32]>,
    /// How many of them are directories.
    directories: usize,
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
            let (_, name_at) = kind(&data[at..])?;
            let name = safe_name(&data[at + name_at..])?;
            let end = at + name_at + name.len() + 1 + id_length;
            let member = member(data.get(at..end)?, id_length)?;
            if last.is_some_and(|last| in_git_order(&last, &member) != Ordering::Less) {
                return None;
            }
            starts.push(at as u32);
            directories += usize::from(member.kind == EntryKind::Directory);
            last = Some(member);
            at = end;
        }
        starts.push(data.len() as u32);
        let tree = Self { data, starts: starts.into(), directories, id_length };
        (!tree.has_twins()).then_some(tree)
    }

    /// Whether a file and a directory have one name; they need not stand side by side in git's order.
    fn has_twins(&self) -> bool {
        let is_directory = |member: &TreeMember<'_>| member.kind == EntryKind::Directory;
        let mut directories = self.members().filter(is_directory);
        self.directories > 0 && directories.any(|directory| self.find_as(directory.name, EntryKind::File).is_some())
    }

    /// How many members there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// All of them, in git's order.
    pub(super) fn members(&self) -> impl Iterator<Item = TreeMember<'_>> {
        (0..self.count()).filter_map(|at| self.member(at))
    }

    /// The member of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<TreeMember<'_>> {
        self.find_as(name, EntryKind::File).or_else(|| self.find_as(name, EntryKind::Directory))
    }

    /// The member of a name that is sorted like a kind: a directory, or anything else.
    fn find_as(&self, name: &[u8], kind: EntryKind) -> Option<TreeMember<'_>> {
        let like_it = if kind == EntryKind::Directory { self.directories } else { self.count() - self.directories };
        if like_it == 0 {
            return None;
        }
        let wanted = TreeMember { name, kind, id: &[] };
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.member(middle)?;
            match in_git_order(&found, &wanted) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(found),
            }
        }
        None
    }

    fn member(&self, at: usize) -> Option<TreeMember<'_>> {
        member(self.bytes(at)?, self.id_length)
    }

    fn bytes(&self, at: usize) -> Option<&[u8]> {
        let (start, end) = (*self.starts.get(at)?, *self.starts.get(at + 1)?);
        self.data.get(start as usize..end as usize)
    }

    /// What is not the same in both; each member that is in both comes once for each.
    pub(super) fn differing<'t>(&'t self, other: &'t Self) -> (Vec<TreeMember<'t>>, Vec<TreeMember<'t>>) {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let (mut this, mut that) = (0, 0);
        loop {
            // Most members are the same to the byte.
            if self.bytes(this).is_some_and(|bytes| other.bytes(that) == Some(bytes)) {
                (this, that) = (this + 1, that + 1);
                continue;
            }
            let (one, two) = (self.member(this), other.member(that));
            let order = match (&one, &two) {
                (None, None) => return (here, there),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(this), Some(that)) => in_git_order(this, that),
            };
            (this, that) = (this + usize::from(order.is_le()), that + usize::from(order.is_ge()));
            // A file that may be executed now is the same file.
            if one != two {
                here.extend(one.filter(|_| order.is_le()));
                there.extend(two.filter(|_| order.is_ge()));
            }
        }
    }
}

/// What a member is, by its mode, and where its name begins; nothing for a mode that git does not write.
fn kind(data: &[u8]) -> Option<(EntryKind, usize)> {
    match data {
        [b'1', b'0', b'0', b'6', b'4', b'4', b' ', ..] | [b'1', b'0', b'0', b'7', b'5', b'5', b' ', ..] => {
            Some((EntryKind::File, 7))
        }
        [b'4', b'0', b'0', b'0', b'0', b' ', ..] => Some((EntryKind::Directory, 6)),
        [b'1', b'2', b'0', b'0', b'0', b'0', b' ', ..] => Some((EntryKind::Symlink, 7)),
        [b'1', b'6', b'0', b'0', b'0', b'0', b' ', ..] => Some((EntryKind::Submodule, 7)),
        _ => None,
    }
}

/// A mode, a blank, a name, a zero and an id.
fn member(data: &[u8], id_length: usize) -> Option<TreeMember<'_>> {
    let (kind, name_at) = kind(data)?;
    let name_end = data.len().checked_sub(id_length + 1)?;
    Some(TreeMember { name: data.get(name_at..name_end)?, kind, id: &data[name_end + 1..] })
}

/// The name that a zero ends, if it is safe.
fn safe_name(data: &[u8]) -> Option<&[u8]> {
    let end = data.iter().position(|byte| !is_plain(byte))?;
    if data[end] == 0 && begins_plainly(&data[..end]) {
        return Some(&data[..end]);
    }
    let end = end + data[end..].iter().position(|byte| *byte == 0)?;
    Some(&data[..end]).filter(|name| is_safe(name))
}

/// Whether a name leads neither out of the tree nor into a repository's own files, on whatever file system.
pub(super) fn is_safe(name: &[u8]) -> bool {
    use gix::validate::path::component;
    // The full check takes longer than reading a name, and nearly all need none.
    if begins_plainly(name) && name.iter().all(is_plain) {
        return true;
    }
    let options = component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    gix::validate::path::component(name.into(), None, options).is_ok()
}

fn begins_plainly(name: &[u8]) -> bool {
    name.first().is_some_and(|first| !b".gG".contains(first))
}

fn is_plain(byte: &u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'/' | 0)
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
        let safe =
            ["...", ".gitattributes", ".github", "G", "generated", "git", "\u{e9}"].map(|name| ("100644", name, 1));
        assert_eq!(read(&safe).map(|tree| tree.count()), Some(safe.len()));
        let odd: [&[(&str, &str, u8)]; 10] = [
            &[("100644", "a", 1), ("100644", "a", 2)],
            &[("100644", "b", 1), ("100644", "a", 2)],
            &[("100644", "a", 1), ("100644", "a-b", 1), ("40000", "a", 1)],
            &[("40000", "a-b", 1), ("100644", "a", 1), ("40000", "a", 1)],
            &[("100644", "..", 1)],
            &[("40000", ".git", 1)],
            &[("40000", ".GIT", 1)],
            &[("40000", "git~1", 1)],
            &[("40000", ".g\u{200c}it", 1)],
            &[("100644", "a/b", 1)],
        ];
        for entries in odd {
            assert!(read(entries).is_none(), "{entries:?}");
        }
        assert!(read(&[("100600", "a", 1)]).is_none());
        let whole = tree(&[("100644", "a", 1)]);
        assert!(PlainTree::read(whole[..whole.len() - 1].to_vec().into(), 20).is_none(), "cut off");
    }

    #[test]
    fn a_file_that_may_be_executed_is_the_same_file() {
        let read = |mode| read(&[(mode, "a", 1), ("100644", "b", 1)]).expect("nothing is odd about it");
        let names = |of: &[TreeMember<'_>]| of.iter().map(|member| member.name.to_vec()).collect::<Vec<_>>();
        let (file, script, link) = (read("100644"), read("100755"), read("120000"));
        assert_eq!(script.differing(&file).0.len() + script.differing(&file).1.len(), 0);
        let (here, there) = file.differing(&link);
        assert_eq!([names(&here), names(&there)], [[b"a".to_vec()], [b"a".to_vec()]]);
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
