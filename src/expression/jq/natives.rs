//! The functions that programs may call, and what those need that are written in Rust. Everything else does not exist.
//!
//! Nothing here reads the environment, the clock, further inputs or files, and nothing prints or ends the process.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jaq_core::load::parse::{BinaryOp, Def, Term};
use jaq_core::native::{Fun, bome, run, unary, v};
use jaq_core::{Exn, RunPtr};

use super::Machine;
use super::arithmetic::{integer, negate, of_float, to_float};
use super::budget::{spend, spend_bytes};
use super::operators::Error;
use super::value::{Kind, Val, made_at};
use super::write;
use crate::document::{self, Format};
use crate::limits::Limits;
use crate::sanitize;

/// The functions of the evaluator and of its library that programs may call.
const ALLOWED: &str = "
    !empty abs acos acosh add all any arrays ascii_downcase ascii_upcase asin asinh atan atan2 atanh booleans capture
    capture_of_match cbrt ceil combinations contains copysign cos cosh decode_base64 decode_uri drem empty encode_base64
    encode_uri endswith error error_empty escape_html escape_sh exp exp10 exp2 explode expm1 fabs false fdim finites first
    flatten floor fma fmax fmin fmod frexp fromdate fromdateiso8601 gamma getpath gmtime group_by gsub has hypot ilogb
    implode isarray isboolean isempty isfinite isinfinite isnormal isnumber isobject isstring iterables key_values keys
    keys_unsorted last ldexp lgamma limit log log10 log1p log2 logb ltrim map map_values match max max_by max_by_or_empty
    min min_by min_by_or_empty mktime modf nearbyint nextafter nexttoward normals not nth null nulls numbers objects path
    path_value paths pick pow pow10 range recurse remainder repeat reverse rint round rtrim scalars scalb scalbln scan scan_
    select setpath significand sin sinh skip sort sort_by split splits sqrt startswith strings sub tan tanh test tgamma
    to_entries todate todateiso8601 tostring trim true trunc type unescape_html unique unique_by until utf8bytelength values
    walk while @base64 @base64d @html @htmld @sh @text @uri @urid
";

static ALLOWED_NAMES: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| ALLOWED.split_whitespace().collect());

/// What jq has and the library lacks, or does otherwise.
const PRELUDE: &str = r#"
def totype(p; e): if p then . else fromjson | if p then . else e end end;
def tonumber: totype(isnumber; error("cannot parse as number"));
def toboolean: totype(isboolean; error("cannot parse as boolean"));
def transpose: [range([.[] | length] | max) as $i | [.[][$i]]];
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def index($i): indices($i)[0];
def rindex($i): indices($i)[-1];
def @json: tojson;
def delpaths($paths): drop_paths($paths);
def del(f): drop_paths([path(f)]);
def from_entries: reduce .[] as $entry ({}; . + {
    ($entry | .key // .k // .name // .Name // .K // .Key | if type == "string" then . else tojson end):
    ($entry | if has("value") then .value elif has("v") then .v else .Value end) });
def with_entries(f): to_entries | map(f) | from_entries;
def ltrimstr($fix): if type == "string" and ($fix | type) == "string" and startswith($fix) then .[($fix | length):] end;
def rtrimstr($fix): if type == "string" and ($fix | type) == "string" and endswith($fix) then .[:length - ($fix | length)] end;
def trimstr($fix): ltrimstr($fix) | rtrimstr($fix);
def join($between): [.[] | if . == null then "" elif type == "string" then . else tojson end]
  | [.[:-1][] + $between, .[-1:][]] | add // "";
def leaf_paths: paths(scalars);
def INDEX(stream; f): reduce stream as $item ({}; .[$item | f | tostring] = $item);
def INDEX(f): INDEX(.[]; f);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def toarray: if type == "array" then . end | if type == "array" then . else [.] end;
def have_literal_numbers: true;
def ascii: [.] | implode;
def tostream: path(..) as $path | getpath($path) | if (type == "array" or type == "object") and length > 0 then empty else [$path, .] end;
def @csv: [.[] | if type == "string" then "\"" + gsub("\""; "\"\"") + "\"" elif . == null then "" else tostring end] | join(",");
def @tsv: [.[] | if . == null then "" else tostring end | gsub("\t"; "\\t") | gsub("\n"; "\\n")] | join("\t");
"#;

/// Regular expressions see at most this much text: a search can take the square of its length.
const LONGEST_SEARCHED: usize = 32 << 10;

/// Natives that are reached only through a definition that checks first; programs cannot spell these names.
const GUARDED: [(&str, &str); 3] =
    [("matches", "!matches"), ("split_matches", "!split_matches"), ("split_", "!split_")];

/// The definitions, parsed once.
static DEFINITIONS: LazyLock<Vec<Def<&'static str>>> = LazyLock::new(|| {
    let foreign = jaq_core::defs().chain(jaq_std::defs());
    let own: Vec<Def<&'static str>> =
        jaq_core::load::parse(PRELUDE, |parser| parser.defs()).expect("the prelude is written by us");
    let is_own = |def: &Def<&str>| own.iter().any(|mine| (mine.name, mine.args.len()) == (def.name, def.args.len()));
    let foreign = foreign.filter(|def| ALLOWED_NAMES.contains(def.name) && !is_own(def));
    // The library's definitions use ours and ours use the library's: a name is looked up in the definitions before it.
    let (late, early): (Vec<_>, Vec<_>) = foreign.partition(|def| USES_PRELUDE.contains(&def.name));
    guarded().chain(early).chain(own.iter().cloned()).chain(late).collect()
});

/// Definitions of the library that call something of the prelude.
const USES_PRELUDE: &[&str] = &["@sh"];

/// Every definition that programs may call.
pub(super) fn definitions() -> impl Iterator<Item = Def<&'static str>> {
    DEFINITIONS.iter().cloned()
}

/// `def matches($re; $flags): !guard($re; $flags) | !matches($re; $flags);`, and the like.
fn guarded() -> impl Iterator<Item = Def<&'static str>> {
    GUARDED.into_iter().map(|(name, hidden)| {
        let call = |name| Box::new(Term::Call(name, vec![Term::Var("$re"), Term::Var("$flags")]));
        let body = Term::BinOp(call("!guard"), BinaryOp::Pipe(None), call(hidden));
        Def { name, args: vec!["$re", "$flags"], body }
    })
}

/// Every native function that programs may call.
pub(super) fn functions() -> impl Iterator<Item = Fun<Machine>> {
    let foreign =
        jaq_core::funs::<Machine>().chain(jaq_std::funs::<Machine>()).filter_map(|(name, arguments, native)| {
            let hidden = GUARDED.iter().find(|(known, _)| *known == name).map(|(_, hidden)| *hidden);
            let name = hidden.or_else(|| ALLOWED_NAMES.contains(name).then_some(name))?;
            Some((name, arguments, native))
        });
    let own: [(&'static str, usize, RunPtr<Machine>); 12] = [
        ("tojson", 0, |cv| bome(Ok(write::to_json(&cv.1)))),
        ("fromjson", 0, |cv| bome(from_json(&cv.1))),
        ("length", 0, |cv| bome(length(cv.1))),
        ("contains", 1, |cv| unary(cv, |value, part| Ok(Val::from(contains(&value, &part))))),
        ("has", 1, |cv| unary(cv, |value, key| has(&value, &key))),
        ("indices", 1, |cv| unary(cv, |value, wanted| value.indices(&wanted))),
        ("drop_paths", 1, |cv| unary(cv, drop_paths)),
        ("nan", 0, |_| bome(Ok(Val::number(of_float(f64::NAN))))),
        ("isnan", 0, |cv| bome(Ok(Val::from(cv.1.as_number().is_some_and(|number| number.as_str() == ".nan"))))),
        ("infinite", 0, |_| bome(Ok(Val::number(of_float(f64::INFINITY))))),
        ("resource", 1, |mut cv| {
            let path = cv.0.pop_var();
            let looked_up = cv.0.data().look_up(&path);
            bome(looked_up)
        }),
        ("!guard", 2, |mut cv| {
            let (_flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
            Box::new(std::iter::once(guard(&cv.1, &pattern).map(|()| cv.1).map_err(Exn::from)))
        }),
    ];
    foreign.chain(own.into_iter().map(|(name, count, native)| run::<Machine>((name, v(count), native))))
}

fn from_json(value: &Val) -> Result<Val, Error> {
    let Some(text) = value.as_text() else { return Err(Error::typ(value.clone(), "string")) };
    spend_bytes(text.len().saturating_mul(4));
    let place = made_at();
    let parsed = document::parse(text, place.source, Format::Json, &Limits::default());
    match (parsed.value.into_iter().next(), parsed.findings.first()) {
        (Some(document), None) => Ok(Val::Node(document.root.written_at(place))),
        (_, Some(finding)) => Err(Error::str(format_args!("{value} is not JSON: {}", finding.message))),
        (None, None) => Err(Error::str("an empty text is not JSON")),
    }
}

fn length(value: Val) -> Result<Val, Error> {
    match value.kind() {
        Kind::Null => Ok(Val::from(0_usize)),
        Kind::Bool => Err(Error::str(format_args!("{value} has no length"))),
        Kind::Number => match value.as_number() {
            Some(number) if number.as_str().starts_with('-') => Ok(Val::number(negate(number))),
            _ => Ok(value),
        },
        Kind::Text => {
            let text = value.as_text().unwrap_or_default();
            spend_bytes(text.len());
            Ok(Val::from(text.chars().count()))
        }
        Kind::List | Kind::Map => Ok(Val::from(value.len())),
    }
}

fn has(value: &Val, key: &Val) -> Result<Val, Error> {
    match (value.kind(), key.kind()) {
        (Kind::Map, Kind::Text) => Ok(Val::from(value.member(key.as_text().unwrap_or_default()).is_some())),
        (Kind::List, Kind::Number) => {
            let at = key.as_number().map(|number| integer(number).unwrap_or_else(|| to_float(number).floor() as i128));
            let is_there = at.and_then(|at| usize::try_from(at).ok()).is_some_and(|at| at < value.len());
            Ok(Val::from(is_there))
        }
        _ => Err(Error::str(format_args!("{value} cannot have {key}"))),
    }
}

fn contains(whole: &Val, part: &Val) -> bool {
    spend(1);
    match (whole.kind(), part.kind()) {
        (Kind::Text, Kind::Text) => {
            let (whole, part) = (whole.as_text().unwrap_or_default(), part.as_text().unwrap_or_default());
            spend_bytes(whole.len());
            whole.contains(part)
        }
        (Kind::List, Kind::List) => {
            let items = |of: &Val| (0..of.len()).filter_map(|at| of.item(at)).collect::<Vec<_>>();
            let (whole, part) = (items(whole), items(part));
            part.iter().all(|wanted| whole.iter().any(|item| contains(item, wanted)))
        }
        (Kind::Map, Kind::Map) => part.names().iter().all(|name| {
            let pair = whole.member(name).zip(part.member(name));
            pair.is_some_and(|(item, wanted)| contains(&item, &wanted))
        }),
        _ => whole == part,
    }
}

/// Removes the values at all the paths; what is not there is no fault. The longest and last go first, so that positions hold.
fn drop_paths(value: Val, paths: Val) -> Result<Val, Error> {
    let mut paths = paths.into_items().map_err(|paths| Error::typ(paths, "list of paths"))?;
    paths.sort();
    paths.iter().rev().try_fold(value, |value, path| {
        let keys = path.clone().into_items().map_err(|path| Error::typ(path, "path"))?;
        dropped(value, &keys)
    })
}

fn dropped(value: Val, path: &[Val]) -> Result<Val, Error> {
    let Some((key, rest)) = path.split_first() else { return Ok(Val::null()) };
    spend(1);
    let child = value.at(key)?;
    match (value.kind(), key.kind()) {
        (Kind::Null, _) => Ok(value),
        (Kind::Map, Kind::Text) => {
            let (Some(child), name) = (child, key.as_text().unwrap_or_default()) else { return Ok(value) };
            let mut members = value.into_members().unwrap_or_default();
            match rest {
                [] => drop(members.remove(name)),
                _ => {
                    members.take(name);
                    let changed = dropped(child, rest)?;
                    members.insert(name.into(), changed);
                }
            }
            Ok(Val::map(members))
        }
        (Kind::List, Kind::Number) => {
            let (Some(child), Some(number)) = (child, key.as_number()) else { return Ok(value) };
            let at = integer(number).unwrap_or_else(|| to_float(number).floor() as i128);
            let mut items = value.into_items().unwrap_or_default();
            let at = if at < 0 { at + items.len() as i128 } else { at };
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            match (rest, items.get_mut(at)) {
                ([], Some(_)) => drop(items.remove(at)),
                (_, Some(slot)) => *slot = dropped(child, rest)?,
                _ => {}
            }
            Ok(Val::list(items))
        }
        (Kind::List, Kind::Map) if rest.is_empty() => {
            let nothing = |_| std::iter::once(Ok::<_, Exn<'_, Val>>(Val::list(Vec::new())));
            let changed = jaq_core::ValT::map_index(value, key, jaq_core::path::Opt::Essential, nothing);
            changed.map_err(|error| error.get_err().unwrap_or_else(|_| Error::str("cannot be removed")))
        }
        _ => Err(Error::index(value, key.clone())),
    }
}

/// Pays for a search before it runs, and refuses what could take too long.
fn guard(value: &Val, pattern: &Val) -> Result<(), Error> {
    let text = value.as_text().ok_or_else(|| Error::typ(value.clone(), "string"))?;
    let pattern = pattern.as_text().ok_or_else(|| Error::typ(pattern.clone(), "string"))?;
    if text.len() > LONGEST_SEARCHED {
        return Err(Error::str(format_args!(
            "a text of {} bytes is too long to be searched with a pattern",
            text.len()
        )));
    }
    // `(a{100}){100}` has ten thousand states.
    let counts = pattern.split('{').skip(1).filter_map(|rest| {
        let numbers = rest.split('}').next()?.split(',').filter_map(|number| number.trim().parse::<u64>().ok());
        numbers.max()
    });
    let repeats = counts.fold(1_u64, |product, count| product.saturating_mul(count.max(1)));
    let states = repeats.saturating_mul(pattern.len() as u64 + 1);
    if states > 1 << 16 {
        let shown = sanitize::inline(pattern).chars().take(60).collect::<String>();
        return Err(Error::str(format_args!("the pattern `{shown}` is too large")));
    }
    spend(50 + states.saturating_mul(4) + (text.len() as u64 + 1).saturating_mul(states.min(64)) / 64);
    Ok(())
}
