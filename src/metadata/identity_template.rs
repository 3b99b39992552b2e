//! Templates of identities: text, and actions over attributes of the payload such as `{{/name}}` and `{{lowercase /name}}`.

use smol_str::SmolStr;

use super::spelling;
use crate::path::Pointer;
use crate::value::{Node, Value};

/// A part of a template.
enum Part {
    Text(String),
    Call { helper: Helper, arguments: Vec<Argument> },
}

enum Argument {
    Attribute(Vec<SmolStr>),
    Text(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Helper {
    /// The value itself.
    Value,
    Uppercase,
    Lowercase,
    Trim,
    Substring,
    /// The first argument that has a value.
    Default,
}

/// What a template gives for a payload.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Identified {
    /// A text.
    Name(SmolStr),
    /// It is one attribute, which has no value.
    Nothing,
    /// A part of it has no value; the attribute is named.
    Missing(String),
}

/// Why a text is not an identity; nothing if it is one.
pub(super) fn check(text: &str) -> Result<(), String> {
    if text.contains("{{") { parse(text).map(|_| ()) } else { Ok(()) }
}

/// The attributes that an identity reads, as pointers, each once.
pub(super) fn attributes(text: &str) -> Vec<Pointer> {
    let mut found: Vec<Pointer> = Vec::new();
    let mut add = |tokens: &[SmolStr]| {
        let pointer: Pointer = tokens.iter().cloned().collect();
        if !found.contains(&pointer) {
            found.push(pointer);
        }
    };
    match lone(text) {
        Some(tokens) => add(&tokens),
        None => {
            for part in parse(text).unwrap_or_default() {
                let Part::Call { arguments, .. } = part else { continue };
                for argument in &arguments {
                    if let Argument::Attribute(tokens) = argument {
                        add(tokens);
                    }
                }
            }
        }
    }
    found
}

/// What an identity gives for a payload.
pub(super) fn render(text: &str, payload: &Node) -> Identified {
    if let Some(tokens) = lone(text) {
        return match scalar(payload, &tokens).filter(|text| !text.trim().is_empty()) {
            Some(text) => Identified::Name(text),
            None => Identified::Nothing,
        };
    }
    let mut rendered = String::new();
    for part in parse(text).unwrap_or_default() {
        match part {
            Part::Text(text) => rendered.push_str(&text),
            Part::Call { helper, arguments } => match call(helper, &arguments, payload) {
                Ok(text) => rendered.push_str(&text),
                Err(reason) => return Identified::Missing(reason),
            },
        }
    }
    Identified::Name(rendered.into())
}

/// The attribute that an identity is, if it is nothing else: only then can it be looked for backwards.
pub(super) fn lone(text: &str) -> Option<Vec<SmolStr>> {
    let text = text.trim();
    if text.contains("{{") {
        return None;
    }
    if text.starts_with('/') {
        return Pointer::parse(text).ok().map(|pointer| pointer.tokens().to_vec());
    }
    let tokens: Vec<SmolStr> = text.split('.').map(|token| SmolStr::new(token.trim())).collect();
    tokens.iter().all(|token| !token.is_empty()).then_some(tokens)
}

/// The text, number or boolean at an attribute, as text.
pub(super) fn scalar(payload: &Node, tokens: &[SmolStr]) -> Option<SmolStr> {
    match &payload.at(&tokens.iter().cloned().collect())?.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(SmolStr::new(number.as_str())),
        Value::Bool(value) => Some(SmolStr::new_static(if *value { "true" } else { "false" })),
        _ => None,
    }
}

fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        if open > 0 {
            parts.push(Part::Text(rest[..open].to_owned()));
        }
        let length = rest[open + 2..].find("}}").ok_or("an action is not closed with `}}`")?;
        parts.push(action(rest[open + 2..open + 2 + length].trim())?);
        rest = &rest[open + length + 4..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

fn action(text: &str) -> Result<Part, String> {
    let words = words(text)?;
    let argument = |(word, is_quoted): &(String, bool)| match spelling::action_tokens(word).filter(|_| !is_quoted) {
        Some(tokens) => Argument::Attribute(tokens),
        None => Argument::Text(word.clone()),
    };
    let call =
        |helper, words: &[(String, bool)]| Part::Call { helper, arguments: words.iter().map(argument).collect() };
    match &words[..] {
        [] => Err("an action is empty".to_owned()),
        [(word, is_quoted)] if *is_quoted || spelling::action_tokens(word).is_some() => Ok(call(Helper::Value, &words)),
        [(word, _)] => Err(format!("`{}` is neither an attribute nor a text", crate::sanitize::inline(word))),
        [(name, _), rest @ ..] => {
            let helper = match (name.as_str(), rest.len()) {
                ("uppercase" | "to_uppercase", 1) => Helper::Uppercase,
                ("lowercase" | "to_lowercase", 1) => Helper::Lowercase,
                ("trim", 1) => Helper::Trim,
                ("substring", 2 | 3) => Helper::Substring,
                ("default", 2..) => Helper::Default,
                (
                    "uppercase" | "to_uppercase" | "lowercase" | "to_lowercase" | "trim" | "substring" | "default",
                    count,
                ) => {
                    return Err(format!("`{name}` does not take {count} arguments"));
                }
                _ => return Err(format!("there is no function `{}` for identities", crate::sanitize::inline(name))),
            };
            let is_number = |(word, _): &(String, bool)| word.parse::<usize>().is_ok();
            if helper == Helper::Substring && !rest[1..].iter().all(is_number) {
                return Err("`substring` takes an attribute, a start and a length".to_owned());
            }
            Ok(call(helper, rest))
        }
    }
}

/// The words of an action, and whether each is quoted.
fn words(text: &str) -> Result<Vec<(String, bool)>, String> {
    let mut words = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(&first) = characters.peek() {
        if first.is_whitespace() {
            characters.next();
            continue;
        }
        let mut word = String::new();
        if matches!(first, '"' | '\'') {
            characters.next();
            loop {
                match characters.next() {
                    None => return Err("a quoted text is not closed".to_owned()),
                    Some('\\') => word.extend(characters.next()),
                    Some(c) if c == first => break,
                    Some(c) => word.push(c),
                }
            }
            words.push((word, true));
            continue;
        }
        while let Some(c) = characters.next_if(|c| !c.is_whitespace()) {
            word.push(c);
        }
        words.push((word, false));
    }
    Ok(words)
}

fn call(helper: Helper, arguments: &[Argument], payload: &Node) -> Result<String, String> {
    let value = |argument: &Argument| match argument {
        Argument::Text(text) => Some(text.clone()),
        Argument::Attribute(tokens) => {
            scalar(payload, tokens).map(|text| text.to_string()).filter(|text| !text.trim().is_empty())
        }
    };
    let first = || {
        let argument = arguments.first();
        argument.and_then(value).ok_or_else(|| match argument {
            Some(Argument::Attribute(tokens)) => tokens.iter().cloned().collect::<Pointer>().to_string(),
            _ => String::new(),
        })
    };
    let number = |at: usize| match arguments.get(at) {
        Some(Argument::Text(text)) => text.parse::<usize>().ok(),
        _ => None,
    };
    Ok(match helper {
        Helper::Value => first()?,
        Helper::Uppercase => first()?.to_uppercase(),
        Helper::Lowercase => first()?.to_lowercase(),
        Helper::Trim => first()?.trim().to_owned(),
        Helper::Substring => {
            let length = number(2).unwrap_or(usize::MAX);
            first()?.chars().skip(number(1).unwrap_or(0)).take(length).collect()
        }
        Helper::Default => match arguments.iter().find_map(value) {
            Some(text) => text,
            None => first()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn templates_are_filled_in() {
        let payload = read("{name: Ab, version: 2, ids: [x], blank: ' ', deep: {a/b: 1}}");
        let name = |text: &str| match render(text, &payload) {
            Identified::Name(text) => text.to_string(),
            Identified::Nothing => "nothing".to_owned(),
            Identified::Missing(attribute) => format!("missing {attribute}"),
        };
        for (text, expected) in [
            ("name", "Ab"),
            ("/ids/0", "x"),
            ("deep./x", "nothing"),
            ("/deep/a~1b", "1"),
            ("{{/name}} - {{/version}}", "Ab - 2"),
            ("{{lowercase /name}}{{to_uppercase name}}", "abAB"),
            ("{{substring /name 1}}{{substring /name 0 1}}", "bA"),
            ("{{default /none /blank \"x y\"}}", "x y"),
            ("{{trim \" t \"}}", "t"),
            ("{{\"fixed\"}}", "fixed"),
            ("blank", "nothing"),
            ("a-{{/none}}", "missing /none"),
        ] {
            assert_eq!(name(text), expected, "{text}");
        }
        for wrong in ["{{", "{{}}", "{{upper /a}}", "{{substring /a b}}", "{{\"a}}", "{{/a b}}"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        let pointers: Vec<String> = attributes("{{/a}}-{{default b /a}}").iter().map(Pointer::to_string).collect();
        assert_eq!(pointers, ["/a", "/b"]);
    }
}
