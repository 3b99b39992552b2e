//! Values as YAML: on one line, or as a block of lines that is cut when it is long.

use std::collections::BTreeSet;

use super::secret_numbers::SecretNumbers;
use super::summary_counts::{grouped, plural};
use crate::document::write::{to_inline, to_yaml};
use crate::sanitize;
use crate::value::{Entry, Node, Value};

/// A value as lines, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The first lines.
    pub lines: Vec<String>,
    /// Says how much is missing, if something is.
    pub left_out: Option<String>,
    /// How many lines are missing, if that is known.
    more: usize,
}

impl Block {
    /// Leaves out the lines after the first ones, too.
    pub(super) fn shorten(&mut self, count: usize) {
        if self.lines.len() <= count || self.left_out.is_some() && self.more == 0 {
            return self.lines.truncate(count);
        }
        self.more += self.lines.len() - count;
        self.lines.truncate(count);
        self.left_out = Some(plural(self.more, "more line"));
    }
}

/// Larger values are cut before they are written, so that writing them costs no more than reading the result.
const LARGEST_WRITTEN_WHOLE: u64 = 4_000;
/// Fewer lines than this are not cut, because the remark about them takes a line too.
const NOT_WORTH_CUTTING: usize = 2;
/// Larger values are not tried on one line.
const LARGEST_INLINE: u64 = 24;

/// Larger maps read better as a block.
const LARGEST_INLINE_MAP: u64 = 5;

/// A value on one line; nothing for anything large, which reads better as a block.
pub(super) fn inline(node: &Node, secret_numbers: &mut SecretNumbers) -> Option<String> {
    let is_flat = match &node.value {
        Value::Map(_) => node.size() <= LARGEST_INLINE_MAP && node.height() <= 2,
        Value::List(_) => node.size() <= LARGEST_INLINE && node.height() <= 2,
        Value::String(text) => !text.trim_end_matches('\n').contains('\n'),
        _ => true,
    };
    is_flat.then(|| sanitize::inline(&to_inline(&secret_numbers.masked(node))).into_owned())
}

/// A value as YAML lines, at most `limit` of them. A string with line breaks is shown as its text.
/// Certificates, encoded data and digests are shortened where that is asked for.
pub(super) fn block(node: &Node, secret_numbers: &mut SecretNumbers, limit: Option<usize>, is_short: bool) -> Block {
    if is_short && let Some(short) = without_data(node) {
        return block(&short, secret_numbers, limit, false);
    }
    if let (Some(limit), true) = (limit, node.size() > LARGEST_WRITTEN_WHOLE) {
        let mut budget = LARGEST_WRITTEN_WHOLE;
        let pruned = prune(node, &mut budget);
        let mut lines = lines_of(&pruned, secret_numbers);
        lines.truncate(limit);
        let values = grouped(usize::try_from(node.size()).unwrap_or(usize::MAX));
        return Block { lines, left_out: Some(format!("the rest of {values} values")), more: 0 };
    }
    let lines = lines_of(node, secret_numbers);
    let all = lines.len();
    let (lines, left_out) = cut(lines, limit);
    let more = all - lines.len();
    Block { lines, left_out, more }
}

/// Keeps the first lines, and counts the others.
pub(super) fn cut<L>(mut lines: Vec<L>, limit: Option<usize>) -> (Vec<L>, Option<String>) {
    let left_out = limit.filter(|limit| lines.len() > limit + NOT_WORTH_CUTTING).map(|limit| {
        let more = lines.len() - limit;
        lines.truncate(limit);
        plural(more, "more line")
    });
    (lines, left_out)
}

fn lines_of(node: &Node, secret_numbers: &mut SecretNumbers) -> Vec<String> {
    let text = match node.as_str() {
        Some(text) if text.contains('\n') => text.to_owned(),
        _ => to_yaml(&secret_numbers.masked(node)),
    };
    text.lines().map(str::to_owned).collect()
}

/// The first values of a tree, in written order.
fn prune(node: &Node, budget: &mut u64) -> Node {
    *budget = budget.saturating_sub(1);
    if node.size() <= *budget {
        *budget -= node.size();
        return node.clone();
    }
    let pruned = match &node.value {
        Value::List(_) => {
            let mut kept = Vec::new();
            for item in node.as_list().unwrap_or_default().iter() {
                if *budget == 0 {
                    break;
                }
                kept.push(prune(item, budget));
            }
            Node::list(kept, node.span)
        }
        Value::Map(map) => {
            let mut kept = Vec::new();
            for entry in map.entries() {
                if *budget == 0 {
                    break;
                }
                kept.push(Entry { key: entry.key.clone(), value: prune(&entry.value, budget) });
            }
            Node::map(kept, node.span)
        }
        _ => return node.clone(),
    };
    Node { extra: node.extra.clone(), ..pruned }
}

/// The digits of a digest that are kept at either end.
const KEPT_DIGITS: usize = 8;
const DIGEST: &str = "sha256:";
const DIGEST_DIGITS: usize = 64;

/// A text with the middle of its digests left out: `app@sha256:bd598786…55523ccd`.
pub(super) fn short_digests(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(DIGEST) {
        let (head, digits) = rest.split_at(at + DIGEST.len());
        shown.push_str(head);
        let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        if count == DIGEST_DIGITS {
            shown.extend([&digits[..KEPT_DIGITS], "…", &digits[count - KEPT_DIGITS..count]]);
        } else {
            shown.push_str(&digits[..count]);
        }
        rest = &digits[count..];
    }
    shown + rest
}

/// Both texts with short digests; nothing if there are none, or if two of them would look alike.
pub(super) fn short_digests_in(before: &str, after: &str) -> Option<(String, String)> {
    let digests: BTreeSet<&str> = [before, after].into_iter().flat_map(digests).collect();
    let short: BTreeSet<String> = digests.iter().map(|digest| short_digests(digest)).collect();
    let is_clear = !digests.is_empty() && short.len() == digests.len();
    is_clear.then(|| (short_digests(before), short_digests(after)))
}

fn digests(text: &str) -> impl Iterator<Item = &str> {
    let found = text.match_indices(DIGEST).map(|(at, _)| &text[at..]);
    found.map(|rest| {
        let digits = rest[DIGEST.len()..].bytes().take_while(u8::is_ascii_hexdigit).count();
        &rest[..DIGEST.len() + digits]
    })
}

/// Longer texts without blanks are encoded data.
const LONGEST_WORD: usize = 1_000;

/// A value with certificates, encoded data and digests in short; nothing if there are none.
fn without_data(node: &Node) -> Option<Node> {
    let Some(text) = node.as_str() else {
        return node.map_children(|child| without_data(child.node));
    };
    let short = data(node).or_else(|| encoded(text)).or_else(|| {
        let short = short_digests(text);
        (short != text).then_some(short)
    });
    short.map(|short| Node { value: Value::String(short.into()), ..node.clone() })
}

/// `base64, 27,648 characters, …Zk3fQw==`.
fn encoded(text: &str) -> Option<String> {
    let is_data = text.len() > LONGEST_WORD && text.bytes().all(|byte| is_base64(byte) || byte == b'\n');
    let end = text.trim_end();
    let last = end.get(end.len().saturating_sub(LAST_CHARACTERS)..)?;
    is_data.then(|| format!("base64, {}, …{last}", plural(text.len(), "character")))
}

/// Characters of a certificate or key that tell it apart from others.
const LAST_CHARACTERS: usize = 8;

/// A certificate, a key or an encrypted value, in short.
pub(super) fn data(node: &Node) -> Option<String> {
    pem(node).or_else(|| encrypted(node.as_str()?))
}

/// A value that SOPS encrypted, in short: `encrypted str, …W9e5Ow==`. What it holds shows only in that it changed.
fn encrypted(text: &str) -> Option<String> {
    let inner = text.strip_prefix("ENC[")?.strip_suffix(']')?;
    let (cipher, kind) = inner.rsplit_once(",type:")?;
    let (_, tag) = cipher.rsplit_once(",tag:")?;
    let is_plain = kind.bytes().all(|byte| byte.is_ascii_lowercase()) && tag.bytes().all(is_base64);
    let end = tag.get(tag.len().saturating_sub(LAST_CHARACTERS)..)?;
    is_plain.then(|| format!("encrypted {kind}, …{end}"))
}

/// A text that is nothing but PEM, in short: `PEM certificate, 24 lines, …Zk3fQw==`.
fn pem(node: &Node) -> Option<String> {
    let text = node.as_str()?.trim();
    let (label, _) = text.strip_prefix("-----BEGIN ")?.split_once("-----\n")?;
    let (body, _) = text.strip_suffix("-----")?.rsplit_once("\n-----END ")?;
    let is_all = text.lines().all(|line| line.starts_with("-----") || line.bytes().all(is_base64));
    let count = text.lines().filter(|line| line.starts_with("-----BEGIN ")).count();
    let kind = sanitize::inline(label).to_lowercase();
    let end = body.get(body.len().saturating_sub(LAST_CHARACTERS)..)?;
    let what = if count == 1 { format!("PEM {kind}") } else { format!("{count} × PEM {kind}") };
    is_all.then(|| format!("{what}, {}, …{end}", plural(text.lines().count(), "line")))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=\r".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn certificates_are_named_by_kind_length_and_end() {
        let short = |text: &str| pem(&Node::text(text, read("1").span));
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIDdzCC\nabcdefghZk3fQw==\n-----END CERTIFICATE-----\n";
        assert_eq!(short(certificate).as_deref(), Some("PEM certificate, 4 lines, …Zk3fQw=="));
        assert_eq!(short(&certificate.repeat(2)).as_deref(), Some("2 × PEM certificate, 8 lines, …Zk3fQw=="));
        assert_eq!(short("-----BEGIN CERTIFICATE-----\nnot base64!\n-----END CERTIFICATE-----"), None);
        assert_eq!(short("plain text"), None);
    }

    #[test]
    fn values_that_sops_encrypted_are_named_by_type_and_end() {
        let short = |text: &str| data(&Node::text(text, read("1").span));
        let value = "ENC[AES256_GCM,data:Z7oX+mBa8VQz,iv:VLtMBF22toK4lp==,tag:8n+ND3yuTlyXYxvlW9e5Ow==,type:str]";
        assert_eq!(short(value).as_deref(), Some("encrypted str, …W9e5Ow=="));
        assert_eq!(short("ENC[not one of these]"), None);
        assert_eq!(short("ENC[AES256_GCM,data:x,tag:no base64!,type:str]"), None);
    }

    #[test]
    fn data_inside_of_values_is_short() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIDdzCC\nabcdefghZk3fQw==\n-----END CERTIFICATE-----\n";
        let node = |text: &str| Node::text(text, read("1").span);
        let tree = read("{ca: x, image: y}").map_children(|child| match child.node.as_str() {
            Some("x") => Some(node(certificate)),
            _ => Some(node(&format!("web@sha256:{}", "0123456789abcdef".repeat(4)))),
        });
        let lines = block(&tree.unwrap(), &mut SecretNumbers::default(), None, true).lines;
        assert_eq!(lines, ["ca: PEM certificate, 4 lines, …Zk3fQw==", "image: web@sha256:01234567…89abcdef"]);
    }

    #[test]
    fn digests_in_texts_are_short_only_if_they_still_differ() {
        let digest = |middle: &str| format!("sha256:{}{middle}{}", "a".repeat(30), "b".repeat(33));
        assert!(short_digests_in(&digest("1"), &digest("2")).is_none());
        let (before, after) = short_digests_in(&format!("x {}", digest("1")), "y").unwrap();
        assert_eq!((before.as_str(), after.as_str()), ("x sha256:aaaaaaaa…bbbbbbbb", "y"));
        assert!(short_digests_in("x", "y").is_none());
    }
}
