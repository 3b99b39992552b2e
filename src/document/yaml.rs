//! Reads YAML with the event parser, and explains its errors. The only file that uses the parser.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StrInput, StructureStyle};
use smol_str::SmolStr;

use crate::finding::{self, Finding};
use crate::limits::Limits;

use super::Document;
use super::compose::{Collection, Composer, Properties, Stop};
use super::problems::Problems;
use super::scalar::{Core, Style, Tag};

/// Reads one piece of a text, usually one document, and appends its documents.
pub(super) fn parse(
    text: &str,
    piece: Range<usize>,
    limits: &Limits,
    problems: &mut Problems,
    documents: &mut Vec<Document>,
) {
    let depth = limits.depth as usize;
    let options = granit_parser::options! {
        block_nesting_limit: depth,
        flow_nesting_limit: depth,
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
    };
    let parser = Parser::new_from_str_with_options(&text[piece.clone()], options);
    let mut reader = EventReader { parser, text, end_of_last: piece.start, piece, limits };
    while let Some(start) = reader.next_document(problems) {
        let faultless = problems.count();
        let mut composer = Composer::new(text, start, limits, problems);
        if reader.compose(&mut composer).is_err() {
            return;
        }
        let Some((root, anchors)) = composer.finish() else { continue };
        if problems.count() == faultless {
            documents.push(Document { position: 0, root, span: problems.span(reader.piece.clone()), anchors });
        }
    }
}

struct EventReader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    piece: Range<usize>,
    limits: &'a Limits,
    /// The end of the previous document.
    end_of_last: usize,
}

impl<'a> EventReader<'a> {
    /// The offset at which the content of the next document may start.
    fn next_document(&mut self, problems: &mut Problems) -> Option<usize> {
        loop {
            match self.parser.next_event()? {
                Ok((Event::DocumentStart(is_explicit, _), span)) => {
                    // Without `---` the parser returns the position of the first value, which a header may precede.
                    return Some(if is_explicit { self.range(span).end } else { self.end_of_last });
                }
                Ok(_) => {}
                Err(error) => {
                    let finding = self.explain(&error, None, None, problems);
                    problems.report(finding);
                    return None;
                }
            }
        }
    }

    fn compose(&mut self, composer: &mut Composer<'_>) -> Result<(), Stop> {
        loop {
            let (event, span) = match self.parser.next_event() {
                None => return Ok(()),
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    let finding =
                        self.explain(&error, composer.open_bracket(), composer.opening_quote(), composer.problems());
                    composer.problems().report(finding);
                    return Err(Stop);
                }
            };
            let range = self.range(span);
            match event {
                Event::Scalar(value, style, anchor, tag) => {
                    let properties = self.properties(anchor, tag, span, composer);
                    let style = style_of(style);
                    let value = if style == Style::Block { self.as_ended(&value, &range) } else { &value };
                    composer.scalar(value, style, range, properties)?;
                }
                Event::SequenceStart(style, anchor, tag) => {
                    let properties = self.properties(anchor, tag, span, composer);
                    composer.open(Collection::List, style == StructureStyle::Flow, range, properties)?;
                }
                Event::MappingStart(style, anchor, tag) => {
                    let properties = self.properties(anchor, tag, span, composer);
                    composer.open(Collection::Map, style == StructureStyle::Flow, range, properties)?;
                }
                Event::SequenceEnd | Event::MappingEnd => composer.close(range)?,
                Event::Alias(id) => composer.alias(id, range)?,
                Event::UnresolvedAlias(name) => composer.undefined_alias(&name, range)?,
                Event::DocumentEnd | Event::StreamEnd => {
                    self.end_of_last = range.end;
                    return Ok(());
                }
                // Comments are off, anchors are read with their value, and the start was handled before.
                _ => {}
            }
        }
    }

    /// A block scalar without the line break that the parser adds where the text ends in none.
    fn as_ended<'v>(&self, value: &'v str, range: &Range<usize>) -> &'v str {
        let piece = &self.text[..self.piece.end];
        let last = piece.rsplit(['\n', '\r']).next().unwrap_or_default();
        let is_last = !last.trim().is_empty() && range.end >= piece.trim_end_matches([' ', '\t']).len();
        if is_last { value.strip_suffix('\n').unwrap_or(value) } else { value }
    }

    /// Tag and anchor of a value; the parser emits the anchor's name in an event right after that of its value.
    fn properties(
        &mut self,
        anchor: usize,
        tag: Option<Cow<'_, granit_parser::Tag>>,
        span: granit_parser::Span,
        composer: &mut Composer<'_>,
    ) -> Properties {
        let tag = tag.map(|tag| (tag_of(&tag), span.tag_span().map_or_else(|| self.range(span), |at| self.range(at))));
        let mut properties = Properties { tag, anchor: None };
        if anchor != 0
            && let Some(Ok((Event::Anchor(id, name), span))) = self.parser.next_event()
        {
            properties.anchor = Some(composer.anchor(id, &name, self.range(span)));
        }
        properties
    }

    /// The byte range in the whole text of a parser's span.
    fn range(&self, span: granit_parser::Span) -> Range<usize> {
        let range = span.byte_range().expect("texts are parsed from a string, which has byte offsets");
        self.piece.start + range.start..self.piece.start + range.end
    }

    /// The finding about an error, with the open bracket and the opening quote of the scalar that it may be about.
    fn explain(&self, error: &ScanError, bracket: Option<usize>, quote: Option<usize>, problems: &Problems) -> Finding {
        let at = self.piece.end.min(self.piece.start + error.marker().byte_offset().unwrap_or(0));
        let piece = &self.text[self.piece.clone()];
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return problems.too_deep(self.character(at), self.limits);
        }
        if let Some(conflict) = conflict_marker(piece) {
            let start = self.piece.start + conflict;
            return problems
                .finding(&finding::DOCUMENT_SYNTAX, start..start + 7, "this file has an unresolved merge conflict")
                .labelled("one side starts here")
                .help("keep one side, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`");
        }
        let tab = self.indenting_tab(at, error.kind());
        let explanation = explanation(if tab.is_some() { &ErrorKind::TabInIndentation } else { error.kind() });
        let at = match error.kind() {
            ErrorKind::UnknownQuotedScalarEscape => self.unknown_escape(at),
            ErrorKind::InvalidQuotedScalarIndent => quote.unwrap_or(at),
            ErrorKind::UnexpectedCharacter { character } => {
                at + self.text[at..self.piece.end].find(*character).unwrap_or(0)
            }
            _ => tab.unwrap_or(at),
        };
        let message = explanation.message.unwrap_or_else(|| reworded(error.kind()));
        let mut finding = problems.finding(&finding::DOCUMENT_SYNTAX, self.character(at), message);
        finding.label = explanation.label.to_owned();
        finding.help = explanation.help.map(str::to_owned);
        match bracket.filter(|&bracket| bracket < at && explanation.is_about_brackets) {
            Some(bracket) => {
                let span = problems.span(bracket..bracket + 1);
                finding.related(span, "inside the bracket opened here")
            }
            None => finding,
        }
    }

    /// The range of the character at an offset; empty at the end of a line or of the text.
    fn character(&self, at: usize) -> Range<usize> {
        let rest = &self.text[at..self.piece.end];
        let length = rest.chars().next().filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
        at..at + length
    }

    /// The offset of the tab that caused an error: the parser points past it, at the value before it, or at what it displaced.
    fn indenting_tab(&self, at: usize, kind: &ErrorKind) -> Option<usize> {
        use ErrorKind as E;
        let lines = match kind {
            E::TabInPlainScalar => 100,
            E::TabInBlockIndentation | E::MappingValueNotAllowed | E::ExpectedBlockMappingKey => 1,
            E::ExpectedBlockSequenceEntry | E::InvalidIndentation | E::SimpleKeyExpected => 1,
            _ => return None,
        };
        let piece = &self.text[..self.piece.end];
        let first = piece[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let below = piece[first..].match_indices(['\n', '\r']).map(|(end, _)| first + end + 1);
        std::iter::once(first).chain(below).take(lines).find_map(|line| {
            let indent = piece[line..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
            indent.enumerate().find(|&(_, byte)| byte == b'\t').map(|(column, _)| line + column)
        })
    }

    /// The offset of the backslash of an unknown escape; the parser points at the opening quote.
    fn unknown_escape(&self, quote: usize) -> usize {
        let mut escapes = self.text[quote..self.piece.end].char_indices();
        while let Some((at, c)) = escapes.next() {
            let is_escape = c == '\\';
            if is_escape && escapes.next().is_none_or(|(_, c)| !"0abt\tnvfre \"/\\N_LPxuU\n\r".contains(c)) {
                return quote + at;
            }
        }
        quote
    }
}

fn style_of(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    }
}

/// The tag in normal form: `!name` if local, `!!name` in YAML's namespace, `!<uri>` otherwise, whatever handle was used.
fn tag_of(tag: &granit_parser::Tag) -> Tag {
    if let Some(core) = tag.core_suffix().and_then(Core::from_name) {
        return Tag::Core(core);
    }
    let (prefix, suffix) = tag.parts();
    let uri = [prefix, suffix].concat();
    match uri.strip_prefix("tag:yaml.org,2002:") {
        Some("merge") => Tag::Merge,
        Some(name) if !name.is_empty() => Tag::Other(SmolStr::from_iter(["!!", name])),
        _ if uri == "!" => Tag::Untyped,
        // A local name that starts with `!` must not look like one of YAML's namespace.
        _ if uri.starts_with('!') && !uri.starts_with("!!") => Tag::Other(uri.into()),
        _ => Tag::Other(SmolStr::from_iter(["!<", &uri, ">"])),
    }
}

/// The offset of the first line with a conflict marker of git.
fn conflict_marker(piece: &str) -> Option<usize> {
    let is_marker = |at: &usize| *at == 0 || piece.as_bytes()[at - 1] == b'\n';
    piece.match_indices("<<<<<<< ").map(|(at, _)| at).find(is_marker)
}

/// The explanation of a parser error.
#[derive(Default)]
struct Explanation {
    /// `None` for the parser's own message.
    message: Option<String>,
    label: &'static str,
    help: Option<&'static str>,
    is_about_brackets: bool,
}

impl Explanation {
    fn new(message: impl Into<String>, label: &'static str, help: &'static str) -> Self {
        Self { message: Some(message.into()), label, help: Some(help), is_about_brackets: false }
    }

    fn about_brackets(self) -> Self {
        Self { is_about_brackets: true, ..self }
    }
}

fn explanation(kind: &ErrorKind) -> Explanation {
    use ErrorKind as E;
    match kind {
        E::TabInBlockIndentation
        | E::TabInIndentation
        | E::TabNotAllowed
        | E::TabInPlainScalar
        | E::TabAtBlockScalarStart
        | E::InvalidBlockEntryWhitespace
        | E::InvalidMappingValueWhitespace => Explanation::new(
            "a tab is used for indentation",
            "tab",
            "indent with spaces: YAML does not allow tabs here",
        ),
        E::UnexpectedCharacter { character } => unexpected(*character),
        E::UnknownQuotedScalarEscape => Explanation::new(
            "unknown escape in a double-quoted string",
            "this escape",
            "write `\\\\` for a backslash, or put the text between single quotes",
        ),
        E::InvalidQuotedScalarHexEscape | E::InvalidUnicodeEscape => Explanation::new(
            "this escape is not a character",
            "in this string",
            "`\\x` takes 2, `\\u` takes 4 and `\\U` takes 8 hexadecimal digits",
        ),
        E::InvalidLowSurrogateHexEscape | E::InvalidLowSurrogate | E::MissingLowSurrogate | E::UnpairedLowSurrogate => {
            Explanation::new(
                "half of a surrogate pair is not a character",
                "in this string",
                "write both halves (`\\ud83d\\ude00`), or the character itself",
            )
        }
        E::UndeclaredTagHandle => Explanation::new(
            "the tag uses a handle that is not declared",
            "this tag",
            "declare it with `%TAG` before `---`, or quote the value if it is meant as text",
        ),
        E::MissingAnchorOrAliasName => Explanation::new(
            "an anchor or alias without a name",
            "a name must follow",
            "quote the value if it is meant as text",
        ),
        E::UnsupportedYamlMajorVersion => Explanation::new(
            "the file requires a YAML version other than 1",
            "this directive",
            "remove the `%YAML` line",
        ),
        E::ExpectedDocumentStart => Explanation::new(
            "the document must start with `---` here",
            "no `---` before this",
            "directives (`%…`) are followed by a line with `---`",
        ),
        E::MissingDocumentEndBeforeDirective => Explanation::new(
            "a directive in the middle of a document",
            "this directive",
            "end the document before it with a line of `...`",
        ),
        E::InvalidDocumentEnd => Explanation::new(
            "text after `...`, which ends the document",
            "this text",
            "start the next document with a line of `---`",
        ),
        E::BomInsideDocument => Explanation::new(
            "a byte order mark inside a document",
            "invisible character",
            "remove it; joining files often leaves one behind",
        ),
        _ => structural(kind),
    }
}

fn unexpected(character: char) -> Explanation {
    match character {
        '@' | '`' | '%' => Explanation::new(
            format!("a value cannot start with `{character}`"),
            "reserved character",
            "put the value between quotes",
        ),
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => Explanation::new(
            format!("the character U+{:04X} cannot be part of a YAML file", u32::from(c)),
            "invisible character",
            "remove it, or write it as an escape between double quotes",
        ),
        _ => Explanation { label: "this character", ..Explanation::default() },
    }
}

/// Errors of structure: brackets, quotes, keys, items, indentation.
fn structural(kind: &ErrorKind) -> Explanation {
    use ErrorKind as E;
    match kind {
        E::UnclosedFlowCollection { open } => Explanation::new(
            format!("`{open}` is not closed"),
            "opened here",
            "add the closing bracket, or quote the value if the bracket is part of it",
        ),
        E::MismatchedFlowCollectionEnd { open, close } => Explanation::new(
            format!("`{open}` is closed by `{close}`"),
            "opened here",
            "close brackets in the order they were opened",
        ),
        E::MisplacedFlowCollectionEnd => Explanation::new(
            "this closing bracket has no opening bracket",
            "this bracket",
            "remove it, or quote the value if the bracket is part of it",
        ),
        E::ExpectedFlowMappingSeparator
        | E::ExpectedFlowSequenceSeparator
        | E::InvalidColonPlacement
        | E::FlowMappingValueAdjacentCollection
        | E::UnexpectedEofFlowSequence
        | E::UnexpectedEofFlowMapping
        | E::UnexpectedEofImplicitFlowMapping => Explanation::new(
            "a comma or a closing bracket is missing before this",
            "not expected here",
            "inside brackets, entries are separated by commas and the bracket must be closed",
        )
        .about_brackets(),
        E::BlockEntryInFlowCollection | E::PlainScalarStartsWithDashFlowIndicator => Explanation::new(
            "a `-` item inside brackets",
            "this dash",
            "inside brackets, items are separated by commas",
        )
        .about_brackets(),
        E::UnclosedQuotedScalar | E::DocumentIndicatorInQuotedScalar | E::InvalidQuotedScalarIndent => {
            Explanation::new(
                "this quoted string is not closed",
                "opened here",
                "add the closing quote, or indent the lines in which the string continues",
            )
        }
        E::InvalidTrailingSingleQuotedScalar | E::InvalidTrailingDoubleQuotedScalar => Explanation::new(
            "text after a closing quote",
            "not part of the quoted string",
            "put the whole value between quotes; inside, write `''` for ' or `\\\"` for \"",
        ),
        _ => block(kind),
    }
}

fn block(kind: &ErrorKind) -> Explanation {
    use ErrorKind as E;
    match kind {
        E::MappingValueNotAllowed | E::MappingKeyNotAllowed => Explanation::new(
            "a key is not allowed here",
            "makes the text before it a key",
            "quote the value if the colon is part of it; otherwise check the indentation of this line and the one above",
        ),
        E::ExpectedBlockMappingKey | E::InvalidIndentation => Explanation::new(
            "this does not fit into the map around it",
            "expected a key of the map, or less indentation",
            "the keys of one map start in the same column",
        ),
        E::ExpectedBlockSequenceEntry => Explanation::new(
            "this does not fit into the list around it",
            "expected `-`, or less indentation",
            "the items of one list start with `-` in the same column",
        ),
        E::SimpleKeyExpected | E::InvalidSimpleKey => Explanation::new(
            "a key without `:`",
            "read as a key",
            "write `key: value`; a key of several lines or of more than 1024 characters needs `? ` before it",
        ),
        E::BlockSequenceEntryNotAllowed => Explanation::new(
            "a list cannot start here",
            "this dash",
            "start the list on a line of its own, or quote the value if the dash is part of it",
        ),
        E::InvalidBlockScalarHeader | E::ZeroBlockScalarIndent => Explanation::new(
            "only an indentation digit, `+` or `-` may follow `|` and `>`",
            "this line",
            "start the text on the next line, indented",
        ),
        E::InvalidBlockScalarIndent => Explanation::new(
            "a line is indented less than the first line of its text block",
            "this line",
            "indent all lines alike, or write the indentation after `|`, as in `|2`",
        ),
        E::CommentInterceptedScalar => Explanation::new(
            "a comment in the middle of a value",
            "this comment",
            "put the value between quotes, or move the comment",
        ),
        E::CommentNotSeparated => {
            Explanation::new("a comment without a space before `#`", "this comment", "put a space before `#`")
        }
        E::ExpectedNodeContent | E::UnexpectedEofBlockMapping | E::UnexpectedEofBlockSequence => Explanation::new(
            "a value is expected here",
            "cannot start a value",
            "put the value between quotes if it is meant as text",
        ),
        _ => Explanation { label: "here", ..Explanation::default() },
    }
}

/// The parser's own message in the style of ours.
fn reworded(kind: &ErrorKind) -> String {
    let words = kind.to_string().replace("<stream-start>", "start").replace("EOF", "end of file");
    words.trim_end_matches('.').replace(['\'', '"'], "`")
}
