//! Laws that hold for any text.

use proptest::prelude::*;

use super::*;
use crate::value::{Entry, Value};

/// Text made of what YAML and JSON give meaning to, so that it often parses and often nearly does.
fn snippets() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c]",
        2 => "(1|0x1F|true|null|~|yes|1.50|é|😀)",
        3 => "(: |:|- |\\? |, |,)",
        4 => "(\n|\n  |\n    |\n- |\n  - | )",
        2 => "([\\[\\]{}])",
        1 => "('a'|\"b\"|'|\"|\"\\\\n\"|'it''s')",
        1 => "(\\|\n  |>-\n  |\\|2\n|&a |\\*a |!T |!!str |<<: |#c\n| #)",
        1 => "(\n---\n|\n\\.\\.\\.\n|--- |%TAG ! x\n|\t|\r|\u{feff}|\u{7}|@)",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => snippets(), 1 => any::<String>()]
}

/// Calls with each node of a tree.
fn each<'n>(node: &'n Node, visit: &mut impl FnMut(&'n Node)) {
    visit(node);
    node.as_list().unwrap_or_default().iter().for_each(|item| each(item, visit));
    let entries = node.as_map().map(|map| map.entries()).unwrap_or_default();
    entries.iter().for_each(|Entry { value, .. }| each(value, visit));
}

fn same(a: &[Document], b: &[Document]) -> bool {
    let names = |document: &Document| document.anchors.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let pairs = || a.iter().zip(b);
    a.len() == b.len() && pairs().all(|(a, b)| a.root.is_identical(&b.root) && names(a) == names(b))
}

proptest! {
    #[test]
    fn any_text_gives_values_or_findings_with_places_inside_it(text in any_text()) {
        for format in [Format::Yaml, Format::Json] {
            let outcome = read(&text, format);
            let spans = outcome.findings.iter().flat_map(|finding| {
                let Location::Span(span) = finding.location else { panic!("a place in the text") };
                std::iter::once(span).chain(finding.related.iter().map(|label| label.span))
            });
            for span in spans {
                prop_assert!(text.get(span.range()).is_some(), "{:?}", outcome.findings);
            }
            for document in &outcome.value {
                each(&document.root, &mut |node| assert!(text.get(node.span.range()).is_some()));
            }
            let is_silent = outcome.findings.is_empty() && outcome.value.is_empty();
            prop_assert!(!is_silent || format == Format::Yaml, "JSON has a value or a finding");
        }
    }

    #[test]
    fn scalars_can_be_read_again_from_their_span(text in snippets()) {
        // A tag decides the type, and is not part of the span.
        let text = text.replace('!', "x");
        for document in read(&text, Format::Yaml).value {
            each(&document.root, &mut |node| {
                let slice = &text[node.span.range()];
                let is_block = slice.starts_with(['|', '>']);
                match &node.value {
                    Value::List(_) | Value::Map(_) => {}
                    Value::Null if slice.is_empty() => {}
                    _ if is_block || slice.starts_with("---") || slice.starts_with("...") => {}
                    _ => {
                        let again = only(slice, Format::Yaml);
                        assert!(again.root.is_identical(node), "{slice:?} in {text:?}");
                        assert_eq!(again.root.span.range(), 0..slice.len());
                    }
                }
            });
        }
    }

    #[test]
    fn collections_begin_and_end_with_their_children(text in snippets()) {
        for document in read(&text, Format::Yaml).value {
            each(&document.root, &mut |node| {
                let range = node.span.range();
                let inside = |span: Span| range.start <= span.range().start && span.range().end <= range.end;
                let is_local = |child: &Node| child.step().is_none();
                let items = node.as_list().unwrap_or_default();
                assert!(items.iter().all(|item| !is_local(item) || inside(item.span)), "{text:?}: {node:?}");
                let entries = node.as_map().map(|map| map.entries()).unwrap_or_default();
                for Entry { key, value } in entries.iter().filter(|entry| is_local(&entry.value)) {
                    assert!(inside(key.span) && inside(value.span), "{text:?}: {node:?}");
                }
                let slice = &text[range.clone()];
                let brackets = [("[", "]"), ("{", "}")];
                let is_whole = |(open, close): (&str, &str)| !slice.starts_with(open) || slice.ends_with(close) || !entries.is_empty();
                assert!(slice.trim() == slice || slice.contains(['|', '>']), "{slice:?} in {text:?}");
                assert!(brackets.into_iter().all(is_whole) || node.as_str().is_some(), "{slice:?} in {text:?}");
                if !slice.starts_with('[') && !items.is_empty() {
                    assert!(slice.starts_with('-'), "{slice:?} in {text:?}");
                }
            });
        }
    }

    #[test]
    fn pieces_hold_the_same_documents_as_the_whole(text in snippets()) {
        let limits = Limits::default();
        let pieces: Vec<_> =
            split(&text).into_iter().map(|piece| parse_part(&text, piece, source(), Format::Yaml, &limits)).collect();
        let mut problems = Problems::new(source());
        let mut whole = Vec::new();
        crate::document::yaml::parse(&text, 0..text.len(), &limits, &mut problems, &mut whole);
        let has_findings = pieces.iter().any(|piece| !piece.findings.is_empty());
        prop_assert_eq!(has_findings, problems.count() > 0, "{:?}", problems.into_findings(&Limits::default()));
        if !has_findings {
            let pieces: Vec<_> = pieces.into_iter().flat_map(|piece| piece.value).collect();
            prop_assert!(same(&pieces, &whole));
            let read = read(&text, Format::Yaml).value;
            prop_assert!(same(&pieces, &read));
            prop_assert!(pieces.iter().zip(&read).all(|(a, b)| a.root.span.range() == b.root.span.range()));
        }
    }
}
