//! What can be wrong with a directive, in words.

use std::sync::Arc;

use smol_str::SmolStr;

use super::ground::{DirectiveId, Ground};
use super::include::{BadRequest, shown};
use crate::finding::{self, Finding, Location, Rule};
use crate::path::RepoPath;
use crate::sanitize;
use crate::text::{Sources, Span};
use crate::value::Type;

/// What is wrong with a directive.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// A `~` without a digit.
    BadEscape,
    /// The target does not exist; the part of the way that is missing, if that is known.
    Missing {
        at: SmolStr,
    },
    /// The target is not a map, and the map has other keys.
    Conflict {
        found: Type,
        at: Span,
    },
    /// The target has a map under this key that refuses to be merged with.
    Forbidden {
        key: SmolStr,
        at: Span,
    },
    /// It leads back to itself through these.
    Cycle(Chain),
    /// A file that includes itself through these.
    FileCycle {
        path: RepoPath,
        chain: Vec<DirectiveId>,
    },
    /// Its value depends on itself and comes to no rest.
    Unsettled,
    /// The include asks for nothing.
    BadRequest(BadRequest),
    /// The file is never read, and why.
    Refused(&'static str),
    FileNotFound,
    /// The file has several documents.
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
    /// Already told elsewhere.
    Reported,
}

/// Directives that lead from one to the next and back to the first; a long chain is kept only as far as it is shown.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    first: Vec<DirectiveId>,
    length: usize,
    /// The one that closes it.
    pub(super) last: Option<DirectiveId>,
}

impl Chain {
    const SHOWN: usize = 12;

    pub(super) fn of(links: impl Iterator<Item = DirectiveId>) -> Self {
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

impl Trouble {
    /// In words, at the directive's key.
    pub(super) fn into_findings(self, directive: DirectiveId, ground: &Ground) -> Vec<Finding> {
        let it = ground.directive(directive);
        let about = About { key: shown(&it.key.name), span: it.key.span };
        let finding = match self {
            Self::Reported => return Vec::new(),
            Self::Foreign(findings) => {
                let explain = |finding: &Finding| finding.clone().related(it.key.span, "the file is included here");
                return findings.iter().map(explain).collect();
            }
            Self::Cycle(chain) => about.cycle(&chain, ground),
            Self::FileCycle { path, chain } => about.file_cycle(&path, &chain, ground),
            Self::BadRequest(_) | Self::Refused(_) | Self::FileNotFound | Self::Several { .. } => {
                self.about_include(&about, &include_name(directive, ground))
            }
            Self::Missing { at } => about.missing(&at, &whole_of(directive, ground)),
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
                    format!("{key} brings {}, which does not allow anything to be merged with it", shown(&member)),
                )
                .related(at, "marked `+%: error`")
                .help("write `+%: merge` in the overriding map if it is meant nevertheless"),
            Self::TooManyIncludes { limit, what } => about
                .finding(&finding::LIMIT_INCLUDES, format!("{key} would exceed the limit of {limit} {what}"))
                .help("raise `limits.include_depth` or `limits.includes` in outcrop.yaml if this is meant"),
            Self::TooDeep { limit } => about
                .finding(&finding::LIMIT_DEPTH, format!("with {key} the document is nested deeper than {limit} levels"))
                .help("raise `limits.depth` in outcrop.yaml if this is meant"),
            Self::TooMany { limit } => about
                .finding(&finding::LIMIT_NODES, format!("with {key} the document is larger than {limit} values"))
                .help("raise `limits.nodes` in outcrop.yaml if this is meant"),
            _ => about
                .finding(&finding::MERGE_RECURSIVE_INCLUDE, format!("the target of {key} depends on what {key} brings"))
                .help("refer to something that stands outside this map"),
        }
    }

    fn about_include(self, about: &About, name: &str) -> Finding {
        let key = &about.key;
        match self {
            Self::BadRequest(BadRequest::Shape(what)) => about
                .finding(
                    &finding::MERGE_INVALID_INCLUDE,
                    format!("{key} takes a file name or a map with `file`, not {what}"),
                )
                .help("write `name.yaml`, `name.yaml#/part` or `{file: name.yaml}`"),
            Self::BadRequest(BadRequest::Fragment) => about
                .finding(
                    &finding::MERGE_INVALID_POINTER,
                    format!("the part after `#` in {name} has a `~` that is followed by neither 0 nor 1"),
                )
                .help("write `~0` for `~` and `~1` for `/` inside a path"),
            Self::BadRequest(BadRequest::Condition) => about
                .finding(
                    &finding::MERGE_INCLUDE_REFUSED,
                    format!("{key} of {name} has a condition `when`, which asks for the environment"),
                )
                .help("the result may depend on nothing but the commit; remove `when`, or use `+?include`"),
            Self::Refused(reason) => about
                .finding(&finding::MERGE_INCLUDE_REFUSED, format!("{name} is not read: {reason}"))
                .help("name a file of this repository, relative to the file in which the name is written"),
            Self::Several { second } => about
                .finding(
                    &finding::MERGE_MULTIPLE_DOCUMENTS,
                    format!("{name} has several documents, and only a single one can be included"),
                )
                .related(second, "the second document")
                .help("put each document into a file of its own"),
            _ => about.finding(&finding::MERGE_INCLUDE_NOT_FOUND, format!("the file {name} does not exist")).help(
                "the name is relative to the file in which it is written; `+?include` allows the file to be missing",
            ),
        }
    }
}

/// The directive that is spoken of.
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
            "" => "what it refers to is not there in the end".to_owned(),
            anchor if anchor.starts_with('*') => format!("{whole} has no anchor {}", shown(&anchor[1..])),
            way => format!("{whole} has no {}", shown(way)),
        };
        self.finding(&finding::MERGE_MISSING_REFERENCE, format!("{} finds nothing: {missing}", self.key))
            .help("correct the path, or write `+?` if the target may be missing")
    }

    fn cycle(&self, chain: &Chain, ground: &Ground) -> Finding {
        let place = |id: &DirectiveId| shown(&ground.describe(ground.directive(*id).place));
        let mut way: Vec<String> = chain.first.iter().map(place).collect();
        if chain.length > chain.first.len() {
            way.push(format!("… {} more …", chain.length - chain.first.len()));
        }
        way.extend(chain.first.first().map(place));
        let message = match chain.length {
            1 => format!("{} in {} refers to a value that it is itself a part of", self.key, way[0]),
            _ => format!("{} leads back to itself: {}", self.key, way.join(" → ")),
        };
        let finding = self.finding(&finding::MERGE_RECURSIVE_INCLUDE, message);
        with_links(finding, &chain.first, ground, self.span)
            .help("one of the directives must go, or refer to something smaller")
    }

    fn file_cycle(&self, path: &RepoPath, chain: &[DirectiveId], ground: &Ground) -> Finding {
        let file = |id: &DirectiveId| format!("{}", ground.file(ground.place(ground.directive(*id).place).file).path);
        let mut way: Vec<String> = chain.iter().map(file).collect();
        way.push(path.to_string());
        let start = way.iter().position(|file| *file == path.to_string()).unwrap_or(0);
        let way = way[start..].join(" → ");
        let message = format!("{} includes a file in itself: {}", self.key, sanitize::inline(&way));
        let finding = self.finding(&finding::MERGE_RECURSIVE_INCLUDE, message);
        with_links(finding, chain, ground, self.span).help("include a third file from both instead")
    }
}

fn with_links(finding: Finding, chain: &[DirectiveId], ground: &Ground, except: Span) -> Finding {
    let links = chain.iter().take(Chain::SHOWN).map(|&id| ground.directive(id)).filter(|link| link.key.span != except);
    links.fold(finding, |finding, link| finding.related(link.key.span, format!("by way of {}", shown(&link.key.name))))
}

/// What a path of the directive leads into.
fn whole_of(directive: DirectiveId, ground: &Ground) -> String {
    match &ground.directive(directive).reference {
        Some(reference) if reference.is_include => {
            let name = include_name(directive, ground);
            name.split_once("#/").map_or(name.clone(), |(file, _)| format!("{file}`"))
        }
        _ => "the expanded document".to_owned(),
    }
}

fn include_name(directive: DirectiveId, ground: &Ground) -> String {
    let value = &ground.directive(directive).value;
    let name = value.as_str().or_else(|| value.get("file").and_then(|file| file.as_str()));
    shown(name.unwrap_or_default())
}

/// Findings in the order of their places, each told once: a directive can occur at several places of the document.
pub(super) fn in_order(mut findings: Vec<Finding>, sources: &Sources) -> Vec<Finding> {
    // Ids of texts depend on which thread was first; paths do not.
    let place = |finding: &Finding| (finding.path(sources), finding.span().map(|span| (span.start, span.end)));
    findings.sort_by_cached_key(|finding| (place(finding), finding.rule.id, finding.message.clone()));
    findings.dedup_by(|a, b| a.rule.id == b.rule.id && a.message == b.message && place(a) == place(b));
    findings
}
