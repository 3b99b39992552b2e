//! Values as text, as Go prints them: integers with all their digits, floats as `%v` has them.

use crate::metadata::PLACEHOLDER;
use crate::value::{Node, Number, Value};

/// Columns and digits that a format may ask for.
const WIDEST: usize = 1000;

/// A scalar as text; what has no useful text is refused. A secret is written as its placeholder.
pub(super) fn scalar_text(value: &Node) -> Result<String, String> {
    match &value.value {
        Value::String(text) => Ok(text.to_string()),
        Value::Number(number) => Ok(number_text(number)),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Secret(_) => Ok(PLACEHOLDER.to_owned()),
        Value::Null => Err("it is null".to_owned()),
        Value::List(_) | Value::Map(_) => Err(format!("it is a {}, not one value", value.type_of())),
    }
}

/// All values in a row, with a blank between two that are no texts.
pub(super) fn print(values: &[Node]) -> Result<String, String> {
    let mut text = String::new();
    for (at, value) in values.iter().enumerate() {
        let is_text = |node: &Node| matches!(node.value, Value::String(_) | Value::Secret(_));
        if at > 0 && !is_text(value) && !is_text(&values[at - 1]) {
            text.push(' ');
        }
        text.push_str(&scalar_text(value)?);
    }
    Ok(text)
}

/// `%s %v %d %t %q %x %X %f %e %g %c %%`, with `-`, `+`, `0`, width and precision.
pub(super) fn printf(pattern: &str, values: &[Node]) -> Result<String, String> {
    let mut text = String::new();
    let mut values = values.iter();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let (verb, form, after) = form(after)?;
        rest = after;
        if verb == '%' {
            text.push('%');
            continue;
        }
        let value = values.next().ok_or_else(|| format!("`%{verb}` has no argument"))?;
        text.push_str(&form.padded(&converted(verb, &form, value)?));
    }
    text.push_str(rest);
    match values.next() {
        None => Ok(text),
        Some(_) => Err("`printf` has more arguments than its format asks for".to_owned()),
    }
}

#[derive(Default)]
struct Form {
    left: bool,
    plus: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// The verb after a `%`, how it is to be written, and what follows.
fn form(text: &str) -> Result<(char, Form, &str), String> {
    let mut form = Form::default();
    let mut rest = text;
    while let Some(flag) = rest.chars().next().filter(|c| "-+0 #".contains(*c)) {
        form.left |= flag == '-';
        form.plus |= flag == '+';
        form.zero |= flag == '0';
        rest = &rest[1..];
    }
    (form.width, rest) = digits(rest)?;
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = digits(after)?;
        (form.precision, rest) = (Some(precision), after);
    }
    let verb = rest.chars().next().ok_or("a `%` at the end of a format")?;
    Ok((verb, form, &rest[verb.len_utf8()..]))
}

fn digits(text: &str) -> Result<(usize, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = if end == 0 { 0 } else { text[..end].parse().unwrap_or(usize::MAX) };
    if number > WIDEST {
        Err(format!("a format asks for more than {WIDEST} columns"))
    } else {
        Ok((number, &text[end..]))
    }
}

impl Form {
    fn padded(&self, text: &str) -> String {
        let missing = self.width.saturating_sub(text.chars().count());
        match (self.left, self.zero) {
            (true, _) => format!("{text}{}", " ".repeat(missing)),
            (false, false) => format!("{}{text}", " ".repeat(missing)),
            (false, true) => {
                let (sign, rest) = text.split_at(usize::from(text.starts_with(['-', '+'])));
                format!("{sign}{}{rest}", "0".repeat(missing))
            }
        }
    }
}

fn converted(verb: char, form: &Form, value: &Node) -> Result<String, String> {
    let wrong = || format!("`%{verb}` does not take a {}", value.type_of());
    let signed = |text: String| if form.plus && !text.starts_with('-') { format!("+{text}") } else { text };
    match (verb, &value.value) {
        ('v', _) => scalar_text(value).map(|text| match value.value {
            Value::Number(_) => signed(text),
            _ => text,
        }),
        ('s', Value::String(_) | Value::Secret(_)) => {
            let text = scalar_text(value)?;
            Ok(form.precision.map_or(text.clone(), |most| text.chars().take(most).collect()))
        }
        ('q', Value::String(text)) => Ok(format!("{:?}", text.as_str())),
        ('t', Value::Bool(value)) => Ok(value.to_string()),
        ('d', Value::Number(number)) if number.is_integer() => Ok(signed(number_text(number))),
        ('x' | 'X', Value::String(text)) => {
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            Ok(if verb == 'X' { hex.to_uppercase() } else { hex })
        }
        ('x' | 'X' | 'c', Value::Number(number)) => {
            let integer: u64 = number_text(number).parse().map_err(|_| wrong())?;
            match verb {
                'x' => Ok(format!("{integer:x}")),
                'X' => Ok(format!("{integer:X}")),
                _ => u32::try_from(integer).ok().and_then(char::from_u32).map(String::from).ok_or_else(wrong),
            }
        }
        ('f' | 'F' | 'e' | 'g', Value::Number(number)) => {
            let float = exact_float(number).ok_or_else(|| format!("`%{verb}` would round {}", number.as_str()))?;
            Ok(signed(match verb {
                'e' => exponential(float, form.precision.unwrap_or(6)),
                'g' => go_float(float),
                _ => format!("{float:.*}", form.precision.unwrap_or(6)),
            }))
        }
        _ => Err(wrong()),
    }
}

/// A number as Go prints it, and with all its digits where Go would have rounded.
pub(super) fn number_text(number: &Number) -> String {
    let Some(json) = number.to_json() else { return number.as_str().to_owned() };
    if number.is_integer() {
        return json.into_owned();
    }
    exact_float(number).map_or_else(|| json.into_owned(), go_float)
}

fn exact_float(number: &Number) -> Option<f64> {
    let float: f64 = number.to_json()?.parse().ok()?;
    let spelt = Number::from_json(&format!("{float:e}"))?;
    spelt.is_equal(number).then_some(float)
}

/// `%v` of a float: the shortest digits, with an exponent below 1e-4 and from 1e21 on.
fn go_float(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-4..1e21).contains(&size) {
        return format!("{float}");
    }
    let text = format!("{float:e}");
    with_two_digits(&text)
}

fn exponential(float: f64, precision: usize) -> String {
    with_two_digits(&format!("{float:.precision$e}"))
}

/// `1e7` as `1e+07`.
fn with_two_digits(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}
