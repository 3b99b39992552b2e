//! Reads the waivers of `outcrop.yaml`: which rule, where, why, and until when.

use smol_str::SmolStr;

use crate::decode::StrictReader;
use crate::finding;
use crate::settings::Waiver;
use crate::suggest;
use crate::value::Node;

const KEYS: [&str; 4] = ["rule", "within", "reason", "expires"];

/// One waiver. Without a reason or a last day it is refused, because a reader could not tell when it can go.
pub(super) fn read_waiver(shape: &mut StrictReader, node: &Node) -> Option<Waiver> {
    let (mut rule, mut within, mut reason, mut expires) = (None, None, None, None);
    for entry in shape.entries(node, "waivers", &KEYS) {
        match entry.key.name.as_str() {
            "rule" => rule = read_rule(shape, &entry.value),
            "within" => within = Some(shape.text(&entry.value, "within")?),
            "reason" => reason = shape.text(&entry.value, "reason").filter(|reason| !reason.trim().is_empty()),
            _ => expires = read_day(shape, &entry.value),
        }
    }
    match (rule, reason, expires) {
        (Some(rule), Some(reason), Some(expires)) => Some(Waiver { rule, within, reason, expires }),
        _ => {
            shape.invalid(node, "a waiver needs a `rule`, a `reason` and a last day, `expires: YYYY-MM-DD`");
            None
        }
    }
}

fn read_rule(shape: &mut StrictReader, node: &Node) -> Option<SmolStr> {
    let id = shape.text(node, "rule")?;
    if finding::rule(&id).is_some() {
        return Some(id);
    }
    let near = suggest::nearest(&id, finding::RULES.iter().map(|rule| rule.id));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    shape.invalid(node, format!("there is no rule `{id}`{near}"));
    None
}

/// A day of the calendar, so that days can be compared as texts.
fn read_day(shape: &mut StrictReader, node: &Node) -> Option<SmolStr> {
    let text = shape.text(node, "expires")?;
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize| {
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let is_day = match parts[..] {
        [year, month, day] => {
            number(year, 4).is_some()
                && number(month, 2).is_some_and(|month| (1..=12).contains(&month))
                && number(day, 2).is_some_and(|day| (1..=31).contains(&day))
        }
        _ => false,
    };
    if !is_day {
        shape.wrong(node, "expires", "a day such as `2027-06-30`");
    }
    is_day.then_some(text)
}
