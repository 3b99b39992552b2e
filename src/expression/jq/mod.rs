//! jq, the language of transforms and assertions: programs from files that need not be trusted.
//!
//! The evaluator is foreign; its values, its budget and the list of what may be called are ours. A program reads its input and
//! what `resource("…")` gives it, and nothing else; it ends, whatever it says.

mod arithmetic;
mod budget;
mod natives;
mod operators;
mod protocol;
mod value;
mod write;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jaq_core::data::HasLut;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, DataT, Filter, Lut, Vars, compile};

pub use budget::on_one_stack;
use budget::{Abort, tick, within_allowance, within_budget};
use operators::Error;
use value::{Kind, Val, making_at};

use crate::finding::{self, Refusal};
use crate::limits::Allowance;
use crate::sanitize;
use crate::text::Span;
use crate::value::Node;

/// Bytes of a program; parsing takes stack for every bracket.
const LONGEST_PROGRAM: usize = 64 << 10;
/// Characters of what a program says about its own failure.
const LONGEST_MESSAGE: usize = 300;
/// Results of one run.
const MOST_RESULTS: usize = 100_000;
/// Levels of nesting in a result; what documents may have.
const DEEPEST_RESULT: u32 = 128;

/// A program, compiled once and run on many inputs.
pub struct Program {
    filter: Filter<Machine>,
}

/// Gives the payload that `resource("…")` asks for, or says why there is none.
pub type Resolver<'a> = &'a dyn Fn(&str) -> Result<Node, String>;

/// Charges the running program for work that a resolver does for it; ends the program if its budget is used up.
pub fn pay(steps: usize) {
    budget::spend(steps as u64);
}

impl Program {
    /// Compiles a program.
    pub fn compile(text: &str) -> Result<Self, Refusal> {
        if text.len() > LONGEST_PROGRAM {
            let message = format!("a jq program of {} bytes is too long", text.len());
            return Err(Refusal::new(&finding::LIMIT_EXPRESSION, message));
        }
        within_budget(|| compiled(text)).unwrap_or_else(|abort| Err(abort.into()))
    }

    /// Runs the program on a value and gives all its results, as one of many runs that share an allowance of steps. Values that
    /// the program makes have `span`.
    pub fn run(
        &self,
        allowance: &Allowance,
        input: &Node,
        span: Span,
        resolver: Option<Resolver<'_>>,
    ) -> Result<Vec<Node>, Refusal> {
        let run = || making_at(span, || self.results(input, resolver));
        within_allowance(allowance, run).unwrap_or_else(|abort| Err(abort.into()))
    }

    fn results(&self, input: &Node, resolver: Option<Resolver<'_>>) -> Result<Vec<Node>, Refusal> {
        let data = Data { lut: &self.filter.lut, resolver };
        let context = Ctx::<Machine>::new(data, Vars::new([]));
        let mut results = Vec::new();
        for result in self.filter.id.run((context, Val::Node(input.clone()))) {
            let value = result.map_err(|exception| match exception.get_err() {
                Ok(error) => refuse(&thrown(error)),
                Err(_) => refuse("the program left through a `break` without a `label`"),
            })?;
            if results.len() == MOST_RESULTS || value.height() > DEEPEST_RESULT {
                return Err(Abort::Size.into());
            }
            results.push(value.into_node());
        }
        Ok(results)
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Program")
    }
}

fn compiled(text: &str) -> Result<Program, Refusal> {
    let arena = Arena::default();
    let loader = Loader::new(natives::definitions());
    let modules = loader.load(&arena, File { code: text, path: () }).map_err(|errors| not_loaded(text, &errors))?;
    // A module is refused where it is loaded; data is not, and would be missing when it is used.
    load::import(&modules, |_| Err(String::new())).map_err(|errors| not_loaded(text, &errors))?;
    let compiler = Compiler::<_, Machine>::default().with_funs(natives::functions());
    let filter = compiler.compile(modules).map_err(|errors| undefined(text, &errors))?;
    Ok(Program { filter })
}

fn not_loaded(text: &str, errors: &load::Errors<&str, ()>) -> Refusal {
    let place = |part: &str| range_of(text, part);
    let first = errors.iter().find_map(|(_, error)| match error {
        load::Error::Lex(errors) => {
            errors.first().map(|(expected, at)| (place(at), format!("{} is expected here", expected.as_str())))
        }
        load::Error::Parse(errors) => {
            errors.first().map(|(expected, at)| (place(at), format!("{} is expected here", expected.as_str())))
        }
        load::Error::Io(errors) => errors.first().map(|(at, _)| (place(at), "other files cannot be loaded".to_owned())),
    });
    let (range, message) = first.unwrap_or((None, "it cannot be read".to_owned()));
    Refusal { range, ..refuse(&format!("not a jq program: {message}")) }
}

fn undefined(text: &str, errors: &compile::Errors<&str, ()>) -> Refusal {
    let first = errors.iter().flat_map(|(_, errors)| errors).next();
    let Some((name, what)) = first else { return refuse("not a jq program") };
    let shown = sanitize::inline(name);
    let message = match what {
        compile::Undefined::Filter(0) => format!("there is no function `{shown}`"),
        compile::Undefined::Filter(1) => format!("there is no function `{shown}` with 1 argument"),
        compile::Undefined::Filter(count) => format!("there is no function `{shown}` with {count} arguments"),
        other => format!("there is no {} `{shown}`", other.as_str()),
    };
    let help = "environment, clock, further inputs and output are out of reach on purpose";
    Refusal { range: range_of(text, name), ..refuse(&message) }.help(help)
}

/// The range of a part in the text; none for errors in our own prelude.
fn range_of(text: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (start + part.len() <= text.len()).then(|| start..start + part.len())
}

fn refuse(message: &str) -> Refusal {
    Refusal::new(&finding::EXPRESSION_JQ, message)
}

/// The message of an error that the program threw.
fn thrown(error: Error) -> String {
    let value = error.into_val();
    let text = if value.as_secret().is_none() { value.as_text().map(str::to_owned) } else { None };
    let message = text.unwrap_or_else(|| value.to_string());
    let short: String = message.chars().take(LONGEST_MESSAGE).collect();
    sanitize::inline(&short).into_owned()
}

impl From<Abort> for Refusal {
    fn from(abort: Abort) -> Self {
        let limit = |message: &str, help| Self::new(&finding::LIMIT_EXPRESSION, message).help(help);
        match abort {
            Abort::Steps => limit("the jq program takes too many steps", "look for a loop that never ends"),
            Abort::Allowance => limit(
                "the templates and jq programs of this run take too many steps together",
                "look for a loop that never ends, or raise `limits.request_steps` in outcrop.yaml",
            ),
            Abort::Stack => limit("the jq program calls itself too deeply", "look for a recursion that never ends"),
            Abort::Size => limit("the jq program makes a value that is too large", "look for a loop that never ends"),
            Abort::Broken => refuse("the jq program cannot be run"),
            Abort::Secret => Self::new(&finding::EXPRESSION_SECRET, "the jq program looks into a secret")
                .help("secrets can be moved, joined with texts and compared, but not looked into"),
            Abort::Inexact(number) => {
                let message = format!("jq cannot hold the number {} exactly", sanitize::inline(&number));
                Self::new(&finding::EXPRESSION_NUMBER, message)
                    .help("quote the number in the payload if it is a text, or leave it out of the calculation")
            }
        }
    }
}

/// What the evaluator works on.
pub(crate) struct Machine;

/// What a run can reach.
#[derive(Clone, Copy)]
pub(crate) struct Data<'a> {
    lut: &'a Lut<Machine>,
    resolver: Option<Resolver<'a>>,
}

impl DataT for Machine {
    type V<'a> = Val;
    type Data<'a> = Data<'a>;
}

impl<'a> HasLut<'a, Machine> for Data<'a> {
    /// The evaluator comes here for every term it evaluates.
    fn lut(&self) -> &'a Lut<Machine> {
        tick();
        self.lut
    }
}

impl Data<'_> {
    fn look_up(&self, path: &Val) -> Result<Val, Error> {
        let text = (path.kind() == Kind::Text).then(|| path.as_text()).flatten();
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Err(Error::str(format_args!("resource() takes a logical path, not {path}")));
        };
        let Some(resolver) = self.resolver else {
            return Err(Error::str("resource() works only in the jq of a list"));
        };
        resolver(text).map(Val::Node).map_err(|reason| Error::str(format_args!("resource(\"{text}\"): {reason}")))
    }
}
