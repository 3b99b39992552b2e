//! Bytes as values: what is neither text nor data.

use std::sync::Arc;

use super::{Extra, Node};
use crate::text::Span;

impl Node {
    /// A value of bytes: text in base64 with the tag that YAML has for it.
    pub fn bytes(bytes: &[u8], span: Span) -> Self {
        let extra = Extra { tag: Some("tag:yaml.org,2002:binary".into()), ..Extra::default() };
        Self { extra: Some(Arc::new(extra)), ..Self::text(base64(bytes), span) }
    }
}

/// RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, &byte| group << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let sextet = (group >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    text
}
