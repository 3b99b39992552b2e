//! Days of the calendar, by which waivers are judged.

use std::time::{SystemTime, UNIX_EPOCH};

use smol_str::{SmolStr, format_smolstr};

/// Today, in UTC.
pub(super) fn today() -> SmolStr {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    of_seconds(i64::try_from(passed.as_secs()).unwrap_or(i64::MAX))
}

/// The day of a moment in UTC, as `YYYY-MM-DD`; the calendar is counted from the first of March, so that a leap day is the last.
pub(super) fn of_seconds(seconds: i64) -> SmolStr {
    const DAYS_IN_400_YEARS: i64 = 146_097;
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(DAYS_IN_400_YEARS), days.rem_euclid(DAYS_IN_400_YEARS));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month_of_year) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + i64::from(month_of_year <= 2);
    format_smolstr!("{year:04}-{month_of_year:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_their_days() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (1_709_164_799, "2024-02-28"),
            (1_709_164_800, "2024-02-29"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(of_seconds(seconds), day);
        }
    }
}
