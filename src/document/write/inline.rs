//! One-line YAML for short fragments and for keys that are not text.

use crate::value::{Entry, Node, Value};

use super::scalar::{KeyForm, push_key, push_scalar, push_tag};

/// The value on one line, in flow style: `{a: 1, b: [x, y]}`. A secret is written as `•••`.
pub fn to_inline(node: &Node) -> String {
    inline_within(node, usize::MAX).unwrap_or_default()
}

/// The value on one line, in flow style; `None` if that takes more bytes than this, because a small file can expand to a huge line.
pub fn inline_within(node: &Node, most_bytes: usize) -> Option<String> {
    let mut writer = InlineWriter { out: String::new(), most_bytes };
    writer.node(node)?;
    Some(writer.out)
}

struct InlineWriter {
    out: String,
    most_bytes: usize,
}

impl InlineWriter {
    fn node(&mut self, node: &Node) -> Option<()> {
        if push_tag(&mut self.out, node) {
            self.out.push(' ');
        }
        match &node.value {
            Value::Map(map) => self.separated("{", map.entries(), "}", Self::entry),
            Value::List(_) => self.separated("[", node.as_list()?, "]", Self::node),
            Value::String(text) if text.len() > self.most_bytes => None,
            _ => {
                push_scalar(&mut self.out, node, true);
                (self.out.len() <= self.most_bytes).then_some(())
            }
        }
    }

    fn separated<T>(
        &mut self,
        open: &str,
        children: &[T],
        close: &str,
        write: fn(&mut Self, &T) -> Option<()>,
    ) -> Option<()> {
        self.out.push_str(open);
        for (at, child) in children.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            write(self, child)?;
        }
        self.out.push_str(close);
        (self.out.len() <= self.most_bytes).then_some(())
    }

    fn entry(&mut self, entry: &Entry) -> Option<()> {
        let form = push_key(&mut self.out, &entry.key, true);
        self.out.push_str(if form == KeyForm::Explicit { " : " } else { ": " });
        self.node(&entry.value)
    }
}
