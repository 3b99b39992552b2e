//! "Did you mean": the known word nearest to an unknown one.

/// The candidate that most likely was meant, if one is near enough that suggesting it helps more than it confuses.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // A third of the letters may be wrong; beyond that a suggestion is a guess.
    let tolerance = (word.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|&(distance, _)| distance <= tolerance)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added, dropped or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (one, other) = (a.chars().count(), b.chars().count());
    // Far longer words are never near, and hostile ones must not cost the square of their length.
    if one.abs_diff(other) > 4 || one.max(other) > 64 { usize::MAX } else { strsim::osa_distance(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let known = ["roots", "secrets", "limits", "lists"];
        assert_eq!(nearest("root", known), Some("roots"));
        assert_eq!(nearest("secrtes", known), Some("secrets"));
        assert_eq!(nearest("Limit", known), Some("limits"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("mian", ["main", "release/1.2"]), Some("main"));
        assert_eq!(nearest("release/12", ["main", "release/1.2"]), Some("release/1.2"));
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }
}
