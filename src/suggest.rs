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
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Far longer words are never near, and hostile ones must not cost the square of their length.
    if a.len().abs_diff(b.len()) > 4 || a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let mut two_ago: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substituted = last[j] + usize::from(a[i] != b[j]);
            let mut best = substituted.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(two_ago[j - 1] + 1);
            }
            row.push(best);
        }
        two_ago = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
