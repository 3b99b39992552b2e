//! `urljoin`: a URL from its parts.

use smol_str::SmolStr;

use super::super::datum::Datum;
use super::super::scope::Scope;
use super::super::session::EvalSession;
use super::super::trouble::{Result, bad_arguments};
use crate::percent::{escape_path, escape_query};
use crate::value::Node;

impl EvalSession<'_> {
    /// `[scheme, host, port, path, query, fragment]`; all but the first two may be missing. Nothing but empty parts is null.
    pub(super) fn urljoin(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        let at = argument.span;
        let parts = self.argument_list(argument, scope)?.unwrap_or_default();
        if !(2..=6).contains(&parts.len()) {
            let message = format!("`urljoin` takes a list of 2 to 6 parts, not {}", parts.len());
            return bad_arguments(at, message, "write `urljoin: [scheme, host, port, path, query, fragment]`");
        }
        let is_secret = parts.iter().any(Datum::is_secret);
        let mut texts: [SmolStr; 6] = Default::default();
        for (text, part) in texts.iter_mut().zip(parts.into_iter().map(Datum::laid_open)) {
            *text = match part.scalar_text() {
                _ if part.is_null() => SmolStr::default(),
                Some(own) => own,
                None => return bad_arguments(at, "a part of a URL is a list or a map", "write texts and numbers"),
            };
            self.spend_text(text.len(), at)?;
        }
        if texts.iter().all(|text| text.is_empty()) {
            return Ok(Datum::null(at));
        }
        let url = Datum::text(joined(&texts), at);
        Ok(if is_secret { url.hidden() } else { url })
    }
}

fn joined([scheme, host, port, path, query, fragment]: &[SmolStr; 6]) -> String {
    let mut url = String::new();
    if !scheme.is_empty() {
        url.extend([scheme.as_str(), ":"]);
    }
    let is_default = matches!((scheme.as_str(), port.as_str()), ("http", "80") | ("https", "443"));
    let port = if is_default { "" } else { port.as_str() };
    if !host.is_empty() || !port.is_empty() {
        url.extend(["//", host.as_str()]);
    }
    if !port.is_empty() {
        url.extend([":", port]);
    }
    if !path.is_empty() {
        if !host.is_empty() && !path.starts_with('/') {
            url.push('/');
        }
        url.push_str(&escape_path(path));
    }
    if !query.is_empty() {
        url.push('?');
        url.push_str(&escape_query(query));
    }
    if !fragment.is_empty() {
        url.push('#');
        url.push_str(&escape_query(fragment));
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_escaped_and_default_ports_left_out() {
        for (parts, url) in [
            (["http", "localhost", "80", "", "", ""], "http://localhost"),
            (["https", "localhost", "80", "", "", ""], "https://localhost:80"),
            (["https", "h", "443", "a b/ü", "q=1&r=%", "x#y"], "https://h/a%20b/%C3%BC?q=1&r=%25#x%23y"),
            (["", "h", "", "/p", "", ""], "//h/p"),
            (["", "", "", "p", "", ""], "p"),
        ] {
            assert_eq!(joined(&parts.map(SmolStr::new)), url);
        }
    }
}
