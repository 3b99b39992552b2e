//! `concat`, `token` and `is_function_defined`.

use super::super::datum::Datum;
use super::super::scope::Scope;
use super::super::secrecy::opened;
use super::super::session::EvalSession;
use super::super::trouble::{Result, bad_arguments};
use super::Function;
use super::operator::kind;
use crate::document::write::to_inline;
use crate::text::Span;
use crate::value::{Node, Value};

impl EvalSession<'_> {
    /// The texts of a list, one after the other, with `sep` between them. What is not a list stays as it is.
    pub(super) fn concat(&mut self, argument: &Node, separator: Option<&Node>, scope: &Scope) -> Result<Datum> {
        let at = argument.span;
        let datum = self.mapped(argument, scope)?;
        let Some(items) = self.items_of(&datum, at)? else { return Ok(datum) };
        let (separator, mut is_secret) = match separator {
            Some(separator) => {
                let value = self.mapped(separator, scope)?;
                self.text_of(&value, separator.span)?
            }
            None => (String::new(), false),
        };
        let mut joined = String::new();
        for (position, item) in items.iter().enumerate() {
            let (text, is_hidden) = self.text_of(item, at)?;
            is_secret |= is_hidden;
            self.spend_text(separator.len() + text.len(), at)?;
            if position > 0 {
                joined.push_str(&separator);
            }
            joined.push_str(&text);
        }
        let joined = Datum::text(joined, at);
        Ok(if is_secret { joined.hidden() } else { joined })
    }

    /// A value as text, and whether anything in it is hidden: scalars as JSON writes them, without quotes; a resource by its
    /// path.
    fn text_of(&mut self, datum: &Datum, at: Span) -> Result<(String, bool)> {
        let is_secret = datum.is_secret();
        if let Some(text) = datum.clone().laid_open().scalar_text() {
            return Ok((text.into(), is_secret));
        }
        if let Datum::Resource(id) = datum {
            return Ok((self.tree.path(*id).into(), false));
        }
        let node = self.exported(datum, at)?;
        self.spend(node.size(), at)?;
        Ok(match opened(&node) {
            Some(open) => (to_inline(&open), true),
            None => (to_inline(&node), false),
        })
    }

    /// `[text, separator, index]`: a part of a text.
    pub(super) fn token(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        let given = self.arguments("token", argument, scope)?;
        self.beneath("`token`", given, |session, given| session.part(given, argument.span))
    }

    fn part(&mut self, [text, separator, index]: [Datum; 3], at: Span) -> Result<Datum> {
        let (Some(Value::String(text)), Some(Value::String(separator)), Some(Value::Number(index))) =
            (text.as_value(), separator.as_value(), index.as_value())
        else {
            let given = format!("{}, {} and {}", kind(&text), kind(&separator), kind(&index));
            let message = format!("`token` cannot work with {given}");
            return bad_arguments(at, message, "write `token: [text, separator, index]`");
        };
        if separator.is_empty() {
            return bad_arguments(at, "`token` cannot split at an empty text", "write what separates the parts");
        }
        self.spend_text(text.len(), at)?;
        let parts: Vec<&str> = text.split(separator.as_str()).collect();
        let position = index.to_json().and_then(|index| index.parse::<i64>().ok()).and_then(|index| {
            let position = if index < 0 { i64::try_from(parts.len()).ok()?.checked_add(index)? } else { index };
            usize::try_from(position).ok()
        });
        match position.and_then(|position| parts.get(position)) {
            Some(part) => Ok(Datum::text(*part, at)),
            None => {
                let message = format!("`token` is asked for part {} of {}", index.as_str(), parts.len());
                bad_arguments(at, message, "parts are counted from 0, or with a minus from the end")
            }
        }
    }

    /// Whether a function has this name.
    pub(super) fn is_function_defined(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        let name = self.mapped(argument, scope)?.laid_open();
        let Some(Value::String(name)) = name.as_value() else {
            let message = format!("`is_function_defined` takes a name, not {}", kind(&name));
            return bad_arguments(argument.span, message, "write the name of a function");
        };
        Ok(Datum::bool(Function::named(name).is_some(), argument.span))
    }
}
