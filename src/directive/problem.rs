//! Problems with directives, and their messages.

use std::sync::Arc;

use smol_str::SmolStr;

use super::arena::{DirectiveId, Occurrences};
use super::unfurl::Elsewhere;
use crate::finding::{self, Finding, Location, Rule};
use crate::path::RepoPath;
use crate::sanitize;
use crate::text::{Sources, Span};
use crate::value::Type;

/// A problem with a directive.
#[derive(Debug, Clone)]
pub(super) enum Problem {
    /// A `~` that is not followed by 0 or 1.
    BadEscape,
    /// The target does not exist; `at` is the first part of the path that is missing, or empty if unknown.
    Missing {
        at: SmolStr,
    },
    /// The target is not a map, and the map has other keys.
    Conflict {
        found: Type,
        at: Span,
    },
    /// The target has a map under this key that is marked `+%: error`.
    Forbidden {
        key: SmolStr,
        at: Span,
    },
    /// The directive depends on itself through these directives.
    Cycle(Chain),
    /// A file includes itself through these directives.
    FileCycle {
        path: RepoPath,
        chain: Vec<DirectiveId>,
    },
    /// The target depends on the directive itself, and resolving it does not converge.
    Unsettled,
    /// The value of the include is invalid.
    InvalidInclude(IncludeError),
    /// The file is not read; the text says why.
    Refused(&'static str),
    FileNotFound,
    /// The content is not in the repository; the name of the repository or file says where.
    Elsewhere(Elsewhere, SmolStr),
    /// A file that may be missing has errors.
    Ignored(Arc<[Finding]>),
    /// The file has several documents; `second` is the second one.
    Several {
        second: Span,
    },
    /// The file has errors.
    Foreign(Arc<[Finding]>),
    TooManyIncludes {
        limit: u32,
        what: &'static str,
    },
    TooDeep {
        limit: u32,
    },
    TooMany {
        limit: u64,
    },
    /// Reported at another directive.
    Reported,
}

/// Why the value of an include is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IncludeError {
    /// Neither a file name nor a map with `file`.
    LayerShape(&'static str),
    /// The fragment is not a valid pointer.
    Fragment,
    /// It has a condition, which would depend on something outside the commit.
    Condition,
}

/// A cycle of directives. Of a long chain only the part that is shown is kept.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    first: Vec<DirectiveId>,
    length: usize,
    /// The directive that closes the cycle.
    pub(super) last: Option<DirectiveId>,
}

impl Chain {
    const SHOWN: usize = 12;

    pub(super) fn new(links: impl Iterator<Item = DirectiveId>) -> Self {
        let mut chain = Self { first: Vec::new(), length: 0, last: None };
        for link in links {
            if chain.first.len() < Self::SHOWN {
                chain.first.push(link);
            }
            chain.length += 1;
            chain.last = Some(link);
        }
        chain
    }
}

impl Problem {
    /// The findings about this problem, at the directive's key.
    pub(super) fn into_findings(self, directive: DirectiveId, arena: &Occurrences) -> Vec<Finding> {
        let it = arena.directive(directive);
        let about = About { key: shown(&it.key.name), span: it.key.span };
        let finding = match self {
            // These are reported together, once for the file.
            Self::Reported | Self::Elsewhere(..) => return Vec::new(),
            Self::Ignored(findings) => {
                let name = include_name(directive, arena);
                let message = format!("{name} contributes nothing, because it cannot be read");
                let finding = about.finding(&finding::MERGE_OPTIONAL_BROKEN, message);
                let places = findings.iter().filter_map(Finding::span);
                return vec![places.take(1).fold(finding, |finding, at| finding.related(at, "this is wrong with it"))];
            }
            Self::Foreign(findings) => {
                let explain = |finding: &Finding| finding.clone().related(it.key.span, "the file is included here");
                return findings.iter().map(explain).collect();
            }
            Self::Cycle(chain) => about.cycle(&chain, arena),
            Self::FileCycle { path, chain } => about.file_cycle(&path, &chain, arena),
            Self::InvalidInclude(_) | Self::Refused(_) | Self::FileNotFound | Self::Several { .. } => {
                self.about_include(&about, &include_name(directive, arena))
            }
            Self::Missing { at } => about.missing(&at, &whole_of(directive, arena)),
            other => other.about_target(&about),
        };
        vec![finding]
    }

    fn about_target(self, about: &About) -> Finding {
        let key = &about.key;
        match self {
            Self::BadEscape => about
                .finding(
                    &finding::MERGE_INVALID_POINTER,
                    format!("{key} has a `~` that is followed by neither 0 nor 1"),
                )
                .help("write `~0` for `~` and `~1` for `/` inside a path"),
            Self::Conflict { found, at } => about
                .finding(
                    &finding::MERGE_CONFLICT,
                    format!("{key} refers to a {found}, which cannot be merged into a map with other keys"),
                )
                .related(at, format!("this {found}"))
                .help("leave the directive alone in its map, or give the value a key of its own"),
            Self::Forbidden { key: member, at } => about
                .finding(
                    &finding::MERGE_FORBIDDEN,
                    format!("{key} brings in {}, which must not be merged with anything", shown(&member)),
                )
                .related(at, "marked `+%: error`")
                .help("write `+%: merge` in the overriding map to merge anyway"),
            Self::TooManyIncludes { limit, what } => about
                .finding(&finding::LIMIT_INCLUDES, format!("{key} would exceed the limit of {limit} {what}"))
                .help("raise `limits.include_depth` or `limits.includes` in outcrop.yaml if this is intended"),
            Self::TooDeep { limit } => about
                .finding(&finding::LIMIT_DEPTH, format!("with {key} the document is nested deeper than {limit} levels"))
                .help("raise `limits.depth` in outcrop.yaml if this is intended"),
            Self::TooMany { limit } => about
                .finding(&finding::LIMIT_NODES, format!("with {key} the document is larger than {limit} values"))
                .help("raise `limits.nodes` in outcrop.yaml if this is intended"),
            _ => about
                .finding(
                    &finding::MERGE_RECURSIVE_INCLUDE,
                    format!("the target of {key} depends on the value of {key} itself"),
                )
                .help("refer to a value outside this map"),
        }
    }

    fn about_include(self, about: &About, name: &str) -> Finding {
        let key = &about.key;
        match self {
            Self::InvalidInclude(IncludeError::LayerShape(what)) => about
                .finding(
                    &finding::MERGE_INVALID_INCLUDE,
                    format!("{key} takes a file name or a map with `file`, not {what}"),
                )
                .help("write `name.yaml`, `name.yaml#/part` or `{file: name.yaml}`"),
            Self::InvalidInclude(IncludeError::Fragment) => about
                .finding(
                    &finding::MERGE_INVALID_POINTER,
                    format!("the part after `#` in {name} has a `~` that is followed by neither 0 nor 1"),
                )
                .help("write `~0` for `~` and `~1` for `/` inside a path"),
            Self::InvalidInclude(IncludeError::Condition) => about
                .finding(
                    &finding::MERGE_INCLUDE_REFUSED,
                    format!("{key} of {name} has a condition `when`, which depends on the environment"),
                )
                .help("remove `when` or use `+?include`: the result may depend only on the commit"),
            Self::Refused(reason) => about
                .finding(&finding::MERGE_INCLUDE_REFUSED, format!("{name} is not read: {reason}"))
                .help("name a file of this repository, relative to the file that contains the name"),
            Self::Several { second } => about
                .finding(
                    &finding::MERGE_MULTIPLE_DOCUMENTS,
                    format!("{name} has several documents, and only a single one can be included"),
                )
                .related(second, "the second document")
                .help("put each document into a file of its own"),
            _ => about
                .finding(&finding::MERGE_INCLUDE_NOT_FOUND, format!("the file {name} does not exist"))
                .help("the name is relative to the file that contains it; `+?include` allows the file to be missing"),
        }
    }
}

/// The directive that a message is about.
struct About {
    key: String,
    span: Span,
}

impl About {
    fn finding(&self, rule: &'static Rule, message: String) -> Finding {
        Finding::new(rule, Location::Span(self.span), message).labelled("this directive")
    }

    fn missing(&self, at: &str, whole: &str) -> Finding {
        let missing = match at {
            "" => "its target is not in the expanded document".to_owned(),
            anchor if anchor.starts_with('*') => format!("{whole} has no anchor {}", shown(&anchor[1..])),
            path => format!("{whole} has no {}", shown(path)),
        };
        self.finding(&finding::MERGE_MISSING_REFERENCE, format!("{} finds nothing: {missing}", self.key))
            .help("correct the path, or write `+?` if the target may be missing")
    }

    fn cycle(&self, chain: &Chain, arena: &Occurrences) -> Finding {
        let place = |id: &DirectiveId| shown(&arena.describe(arena.directive(*id).occurrence));
        let mut path: Vec<String> = chain.first.iter().map(place).collect();
        if chain.length > chain.first.len() {
            path.push(format!("… {} more …", chain.length - chain.first.len()));
        }
        path.extend(chain.first.first().map(place));
        let message = match chain.length {
            1 => format!("{} in {} refers to a value that contains it", self.key, path[0]),
            _ => format!("{} depends on itself: {}", self.key, path.join(" → ")),
        };
        let finding = self.finding(&finding::MERGE_RECURSIVE_INCLUDE, message);
        with_links(finding, &chain.first, arena, self.span)
            .help("remove one of the directives, or let it refer to a smaller part")
    }

    fn file_cycle(&self, path: &RepoPath, chain: &[DirectiveId], arena: &Occurrences) -> Finding {
        let file = |id: &DirectiveId| format!("{}", arena.file(arena.get(arena.directive(*id).occurrence).file).path);
        let mut files: Vec<String> = chain.iter().map(file).collect();
        files.push(path.to_string());
        let start = files.iter().position(|file| *file == path.to_string()).unwrap_or(0);
        let files = files[start..].join(" → ");
        let message = format!("{} includes a file in itself: {}", self.key, sanitize::inline(&files));
        let finding = self.finding(&finding::MERGE_RECURSIVE_INCLUDE, message);
        with_links(finding, chain, arena, self.span).help("include a third file from both instead")
    }
}

fn with_links(finding: Finding, chain: &[DirectiveId], arena: &Occurrences, except: Span) -> Finding {
    let links = chain.iter().take(Chain::SHOWN).map(|&id| arena.directive(id)).filter(|link| link.key.span != except);
    links.fold(finding, |finding, link| finding.related(link.key.span, format!("through {}", shown(&link.key.name))))
}

/// What the path of a directive is resolved in, as messages name it.
fn whole_of(directive: DirectiveId, arena: &Occurrences) -> String {
    match &arena.directive(directive).reference {
        Some(reference) if reference.is_include => {
            let name = include_name(directive, arena);
            name.split_once("#/").map_or(name.clone(), |(file, _)| format!("{file}`"))
        }
        _ => "the expanded document".to_owned(),
    }
}

fn include_name(directive: DirectiveId, arena: &Occurrences) -> String {
    let value = &arena.directive(directive).value;
    let name = value.as_str().or_else(|| value.get("file").and_then(|file| file.as_str()));
    shown(name.unwrap_or_default())
}

/// One note for each reason why the content of includes is not in the repository.
pub(super) fn elsewhere(found: &[(Elsewhere, SmolStr, Span)]) -> Vec<Finding> {
    let mut notes = Vec::new();
    for (reason, rule) in [
        (Elsewhere::Repository, &finding::INCLUDE_ELSEWHERE),
        (Elsewhere::Python, &finding::INCLUDE_PYTHON),
        (Elsewhere::Environment, &finding::INCLUDE_ENVIRONMENT),
    ] {
        let own: Vec<&(Elsewhere, SmolStr, Span)> = found.iter().filter(|(known, ..)| *known == reason).collect();
        let Some((_, _, at)) = own.first() else { continue };
        let mut names: Vec<String> = own.iter().map(|(_, name, _)| sanitize::inline(name).into_owned()).collect();
        names.sort_unstable();
        names.dedup();
        let (count, names) = (own.len(), names.join(", "));
        let includes = if count == 1 { "1 include".to_owned() } else { format!("{count} includes") };
        let verb = if count == 1 { "leads" } else { "lead" };
        let message = match reason {
            Elsewhere::Repository => format!("{includes} {verb} to other repositories ({names})"),
            Elsewhere::Python => format!("{includes} {verb} to programs, which are not run ({names})"),
            Elsewhere::Environment => format!("{includes} {verb} to what only a run knows ({names})"),
        };
        notes.push(Finding::new(rule, Location::Span(*at), message).labelled("stays as it is written"));
    }
    notes
}

/// The findings sorted by file and position, without duplicates: a directive can occur several times in a document.
pub(super) fn in_order(mut findings: Vec<Finding>, sources: &Sources) -> Vec<Finding> {
    // Unlike source ids, paths do not depend on thread scheduling.
    let place = |finding: &Finding| (finding.path(sources), finding.span().map(|span| (span.start, span.end)));
    findings.sort_by_cached_key(|finding| (place(finding), finding.rule.id, finding.message.clone()));
    findings.dedup_by(|a, b| a.rule.id == b.rule.id && a.message == b.message && place(a) == place(b));
    findings
}

/// A name as messages show it: sanitized, between backquotes.
pub(super) fn shown(name: &str) -> String {
    format!("`{}`", sanitize::inline(name))
}
