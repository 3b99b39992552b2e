//! Dates and times that are written without quotes: kustomize's library completes them.

/// A date or a time in full, in the form of RFC 3339; `None` if the text is neither.
pub(super) fn completed(text: &str) -> Option<String> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
        None => (text, None),
    };
    let date = completed_date(date)?;
    match time {
        None => Some(format!("{date}T00:00:00Z")),
        Some((separator, time)) => Some(format!("{date}T{}", completed_time(time, separator != " ")?)),
    }
}

fn completed_date(text: &str) -> Option<String> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, short(parts.next()?)?, short(parts.next()?)?);
    let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    let leap = |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap(year.parse().ok()?) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let is_date = is_year && parts.next().is_none() && (1..=days).contains(&day);
    is_date.then(|| format!("{year}-{month:02}-{day:02}"))
}

/// A time; one after a `T` has a zone, one after a blank has none.
fn completed_time(text: &str, has_zone: bool) -> Option<String> {
    let zone_at = if has_zone { text.find(['Z', '+', '-'])? } else { text.len() };
    let (clock, zone) = text.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let (hours, minutes, seconds) = (short(parts.next()?)?, short(parts.next()?)?, short(parts.next()?)?);
    let is_time = hours < 24 && minutes < 60 && seconds < 60 && parts.next().is_none();
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let is_zone = match zone {
        "" | "Z" => true,
        _ => zone.len() == 6 && zone[1..].split(':').all(|part| part.len() == 2 && short(part).is_some()),
    };
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let zone = if matches!(zone, "" | "+00:00" | "-00:00") { "Z" } else { zone };
    (is_time && is_fraction && is_zone).then(|| format!("{hours:02}:{minutes:02}:{seconds:02}{dot}{fraction}{zone}"))
}

/// A number of one or two digits.
fn short(text: &str) -> Option<u32> {
    let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_completed() {
        for (text, expected) in [
            ("2020-01-02", "2020-01-02T00:00:00Z"),
            ("2020-1-2", "2020-01-02T00:00:00Z"),
            ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
            ("2020-01-02t3:4:5.120+02:00", "2020-01-02T03:04:05.12+02:00"),
            ("2020-01-02 03:04:05", "2020-01-02T03:04:05Z"),
        ] {
            assert_eq!(completed(text).as_deref(), Some(expected), "{text}");
        }
        for other in ["2020", "2020-13-01", "2021-02-29", "20-01-02", "2020-01-02T03:04:05", "2020-01-02 03:04", "a b"]
        {
            assert_eq!(completed(other), None, "{other}");
        }
    }
}
