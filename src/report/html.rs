//! The report as one HTML page that needs no network and can be read without scripts.
//!
//! Everything from a repository goes through the template engine, which escapes it. The policy of the page allows nothing but its own
//! style sheet and script, named by their digests.

mod view;

use std::io;

use minijinja::{AutoEscape, Environment, Value, context};

use super::{Report, json};
use view::View;

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");
/// The SHA-256 of the style sheet and of the script, as the policy of the page names them.
const STYLE_HASH: &str = "'sha256-liN8HNLlOKTVCx8rMQS+T7VvzjddMA9yfynmoysujWs='";
const SCRIPT_HASH: &str = "'sha256-fLa7mEB03bGSZuW7QxVPsTlxyxRlY9ff2OxOlKIEgmc='";
/// A larger JSON report is not put into the page: reading it would keep the page from opening.
const LARGEST_JSON: usize = 8 << 20;

/// Writes the page. With `link`, the address below which the files of the newer side are shown, files are links.
pub fn write(report: &Report, link: Option<&str>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut view = View::new(report, link);
    let json = embedded(report)?;
    if json.is_none() {
        view.notes
            .push("The JSON report is too large for this page; `outcrop diff --format json` prints it.".to_owned());
    }
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page.html", PAGE).map_err(io::Error::other)?;
    let page = environment.get_template("page.html").map_err(io::Error::other)?;
    let values = context! {
        style_hash => Value::from_safe_string(STYLE_HASH.to_owned()),
        script_hash => Value::from_safe_string(SCRIPT_HASH.to_owned()),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        json => json.map(Value::from_safe_string),
        ..Value::from_serialize(&view)
    };
    page.render_captured_to(values, out).map(|_| ()).map_err(io::Error::other)
}

/// The JSON report as the content of a script element: nothing in it can end the element or start a comment.
fn embedded(report: &Report) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    json::write(report, &mut bytes)?;
    if bytes.len() > LARGEST_JSON {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).map_err(io::Error::other)?;
    // These characters occur in JSON only inside of strings, where an escape means the same.
    Ok(Some(text.trim_end().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{self, hostile};
    use proptest::prelude::*;

    fn written(report: &Report) -> String {
        let mut out = Vec::new();
        write(report, Some("https://example.com/o/r/blob/1"), &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("pages are text")
    }

    #[test]
    fn a_page_holds_every_part_of_a_report() {
        let page = written(&sample::rich());
        for part in [
            "<title>outcrop: HEAD → index</title>",
            "ConfigMap shop/web-config",
            "<del class=\"word\">4</del>",
            "document/syntax",
            "data-kind=\"Deployment\"",
            "<script type=\"application/json\" id=\"report\">{",
            "charts/web/templates/service.yaml",
        ] {
            assert!(page.contains(part), "{part} is missing in {page}");
        }
        assert!(!page.contains(sample::CANARY));
        assert_eq!(page.matches("<article").count(), page.matches("</article>").count());
    }

    #[test]
    fn the_json_of_a_page_is_the_json_report() {
        let report = sample::grouped();
        let page = written(&report);
        let start = page.find("id=\"report\">").expect("a report") + "id=\"report\">".len();
        let text = &page[start..start + page[start..].find("</script>").expect("an end")];
        let embedded: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let mut out = Vec::new();
        json::write(&report, &mut out).expect("writing to memory works");
        assert_eq!(embedded, serde_json::from_slice::<serde_json::Value>(&out).expect("JSON"));
    }

    /// The names of the elements of a page, except the contents of scripts.
    fn elements(page: &str) -> Vec<&str> {
        let body = page.split("<script").next().unwrap_or_default();
        let tags = body.match_indices('<').map(|(at, _)| &body[at + 1..]);
        tags.map(|tag| tag.split([' ', '>']).next().unwrap_or_default()).collect()
    }

    proptest! {
        #[test]
        fn repository_text_means_nothing_to_a_browser(name in hostile(), value in hostile()) {
            use crate::diff::ChangeKind;
            use sample::{both, change, key, kubernetes, map, report, resource, string};
            let side = || resource(kubernetes("ConfigMap", &name), "x.yaml", map([]));
            let harmless = || resource(kubernetes("ConfigMap", "x"), "x.yaml", map([]));
            let changed = |key: PathStepOf, text: &str| change(ChangeKind::Value, [key], string(text), string("after"));
            let page = written(&report(vec![both(side(), side(), vec![changed(key(&name), &value)])]));
            let plain = written(&report(vec![both(harmless(), harmless(), vec![changed(key("x"), "y")])]));
            let known = ["ins", "/ins", "del", "/del", "span", "/span"];
            let kept = |page: &str| elements(page).into_iter().filter(|tag| !known.contains(tag)).map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(kept(&page), kept(&plain));
        }
    }

    type PathStepOf = crate::diff::PathStep;
}
