//! Brings equal spellings together, so that only what means something else differs.

use serde_json::{Value, json};

use super::text;

/// Metadata with one spelling of everything: placeholders, identities, names of attributes, transforms, headers.
pub(super) fn normalise(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| value.as_str() != Some(""));
            for (key, value) in map.iter_mut() {
                match key.as_str() {
                    "body" | "value" | "profiles" => continue,
                    "filterAttributes" | "suppressAttributes" | "requiredAttributes" => each_text(value, &attribute),
                    "secretInAttributes" => each_text(value, &secret),
                    "idFromAttribute" | "aliasFromAttribute" => each_text(value, &identity),
                    _ => {}
                }
                normalise(value);
            }
            as_steps(map);
            if let Some(headers) = map.get_mut("httpHeaders").and_then(Value::as_array_mut) {
                for name in headers.iter_mut().filter_map(|header| header.get_mut("name")) {
                    *name = text(name).to_lowercase().into();
                }
                headers.sort_by_key(|header| text(&header["name"]).to_owned());
            }
            if map.get("defaults").and_then(|defaults| defaults.get("mode")) == Some(&json!("inherit"))
                && let Some(defaults) = map.get_mut("defaults").and_then(Value::as_object_mut)
            {
                defaults.remove("mode");
            }
            map.retain(|key, value| !matches!(key.as_str(), "resourceInfo" | "operationInfo") || *value != json!({}));
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        Value::String(text) => *text = placeholders(text),
        _ => {}
    }
}

/// Three fields become a list of steps, in their order; a suppressed nothing is no step.
fn as_steps(map: &mut serde_json::Map<String, Value>) {
    const KINDS: [&str; 3] = ["filterAttributes", "suppressAttributes", "jqExpression"];
    for (name, value) in map.iter_mut().filter(|(name, _)| matches!(name.as_str(), "payload" | "compareResources")) {
        let Some(fields) = value.as_object_mut().filter(|fields| !fields.contains_key("transforms")) else { continue };
        let is_step = |name: &str, value: &Value| name != "suppressAttributes" || *value != json!([]);
        let kinds: Vec<(String, Value)> =
            fields.clone().into_iter().filter(|(name, _)| KINDS.contains(&name.as_str())).collect();
        fields.retain(|name, _| !KINDS.contains(&name.as_str()));
        let steps = kinds.into_iter().filter(|(name, value)| is_step(name, value));
        let steps: Vec<Value> = steps.map(|(name, value)| json!({ name: value })).collect();
        if name == "payload" || !steps.is_empty() {
            fields.insert("transforms".to_owned(), steps.into());
        }
    }
}

fn each_text(value: &mut Value, spelled: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = spelled(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, spelled)),
        _ => {}
    }
}

fn attribute(text: &str) -> String {
    match text.strip_prefix('/') {
        Some(name) if !name.contains(['/', '~']) => name.to_owned(),
        _ => text.to_owned(),
    }
}

fn secret(text: &str) -> String {
    let tokens: Vec<&str> = text.strip_prefix('/').map(|rest| rest.split('/').collect()).unwrap_or_default();
    if tokens.len() > 1 && tokens.iter().all(|token| is_name(token)) { tokens.join(".") } else { text.to_owned() }
}

fn identity(text: &str) -> String {
    let inner = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).map_or(text, str::trim);
    if inner.contains("{{") {
        return placeholders(text);
    }
    let tokens: Vec<&str> = inner.strip_prefix('/').map(|rest| rest.split('/').collect()).unwrap_or_default();
    match !tokens.is_empty() && tokens.iter().all(|token| is_name(token)) {
        true => tokens.join("."),
        false => inner.to_owned(),
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn placeholders(text: &str) -> String {
    let mut spelled = String::new();
    let mut rest = text;
    while let (Some(open), Some(close)) = (rest.find("{{"), rest.find("}}")) {
        if close < open {
            break;
        }
        spelled.push_str(&rest[..open]);
        let inner = rest[open + 2..close].trim();
        let tokens: Vec<&str> = match inner.strip_prefix(['/', '.']) {
            Some(path) => path.split(['/', '.']).collect(),
            None => vec![inner],
        };
        match tokens.iter().all(|token| is_name(token) && !token.contains('-')) && !inner.contains(' ') {
            true => spelled.push_str(&format!("{{{{.{}}}}}", tokens.join("."))),
            false => spelled.push_str(&rest[open..close + 2]),
        }
        rest = &rest[close + 2..];
    }
    spelled.push_str(rest);
    spelled
}

/// Names of headers have no case.
pub(super) fn lower_headers(value: &mut Value) {
    if let Some(headers) = value.get_mut("headers").and_then(Value::as_object_mut) {
        *headers = std::mem::take(headers).into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
    }
}

/// The canonical pointer of a change: headers by name, transforms by their list.
pub(super) fn pointer(change: &Value) -> String {
    let tokens: Vec<&str> = text(&change["path"]).split('/').skip(1).collect();
    let kinds = ["filterAttributes", "suppressAttributes", "jqExpression", "transforms"];
    if let Some(at) = tokens.iter().position(|token| kinds.contains(token)) {
        return format!("/{}/transforms", tokens[..at].join("/"));
    }
    let Some(at) = tokens.iter().position(|token| *token == "httpHeaders").filter(|at| at + 1 < tokens.len()) else {
        let lists = ["secretInAttributes", "requiredAttributes", "externalizedAttributes", "useProfiles"];
        let end = tokens.iter().position(|token| lists.contains(token)).map_or(tokens.len(), |at| at + 1);
        return format!("/{}", tokens[..end].join("/"));
    };
    let label = text(&change["display"]);
    let name = label.split("httpHeaders[").nth(1).and_then(|rest| rest.split(']').next());
    let name = name.filter(|name| !name.bytes().all(|byte| byte.is_ascii_digit()));
    let of_value = |side: &str| change[side]["name"].as_str().map(str::to_owned);
    let name = name.map(str::to_owned).or_else(|| of_value("after")).or_else(|| of_value("before"));
    format!("/{}/{}", tokens[..=at].join("/"), name.unwrap_or_default().to_lowercase())
}
