//! Fast search in bytes, for prefilters that decide whether a file must be parsed.

/// The offsets of all pairs of neighbouring bytes that fulfil a condition. A condition without branches is checked for many pairs
/// at once.
pub fn byte_pairs(text: &[u8], is_wanted: impl Fn(u8, u8) -> bool + Copy) -> impl Iterator<Item = usize> {
    const STRIDE: usize = 128;
    let starts = (0..text.len().saturating_sub(1)).step_by(STRIDE);
    starts.flat_map(move |start| {
        let end = (start + STRIDE).min(text.len() - 1);
        let neighbours = move || text[start..end].iter().zip(&text[start + 1..=end]);
        let found = neighbours().fold(0, |found, (&byte, &next)| found | u8::from(is_wanted(byte, next)));
        let wanted = move |(at, (&byte, &next))| is_wanted(byte, next).then_some(start + at);
        (found != 0).then(|| neighbours().enumerate().filter_map(wanted)).into_iter().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No pair is missed or found twice.
        #[test]
        fn pairs_are_found_at_every_offset(text in prop::collection::vec(prop::sample::select(b"ab".to_vec()), 0..400)) {
            let found: Vec<usize> = byte_pairs(&text, |byte, next| (byte == b'a') & (next == b'b')).collect();
            let expected: Vec<usize> =
                text.windows(2).enumerate().filter(|(_, pair)| pair == b"ab").map(|(at, _)| at).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
