//! Runs a template: the engine walks its blocks and loops, with fuel; values are looked up and written by us. A template without
//! blocks needs no engine.
//!
//! The translation has no expressions of the engine's own: every pipe is a call with a number. So nothing in a template can be
//! read as anything else, and every failure knows its place in the text.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard};

use minijinja::value::{Object, Value as Engine};
use minijinja::{Environment, Error, ErrorKind, State, context};

use super::evaluate::Sight;
use super::functions::{LONGEST_TEXT, is_true};
use super::print::scalar_text;
use super::syntax::{Part, Pipe, Slot};
use super::{Piece, Purpose, Rendered, Scope, Trouble, Use};
use crate::value::{Node, Number, Value};

/// Instructions of one rendering.
pub(super) const FUEL: u64 = 200_000;
/// Rounds that `range` makes over a number.
const MOST_ROUNDS: usize = 10_000;

/// A template, translated.
#[derive(Debug)]
pub(super) struct Engined {
    way: Way,
    source: Arc<str>,
}

/// How a template is carried out.
#[derive(Debug)]
enum Way {
    /// Texts and values one after the other, as in nearly every template: each takes one step.
    Straight(Vec<Part>),
    /// Through the engine.
    Engine(Box<Translated>),
}

#[derive(Debug)]
struct Translated {
    environment: Environment<'static>,
    texts: Vec<String>,
    pipes: Vec<Pipe>,
    slots: usize,
}

const NAME: &str = "template";

impl Engined {
    pub(super) fn new(parts: Vec<Part>, slots: usize, source: &str) -> Result<Self, Trouble> {
        let is_straight = parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Put(_)));
        let way = match is_straight {
            true => Way::Straight(parts),
            false => Way::Engine(Box::new(Translated::new(&parts, slots, source)?)),
        };
        Ok(Self { way, source: source.into() })
    }

    /// Gives also how many steps it took.
    pub(super) fn run(self: &Arc<Self>, scope: &Arc<Scope>, purpose: Purpose) -> (Result<Rendered, Trouble>, u64) {
        match &self.way {
            Way::Straight(parts) => self.straight(parts, scope, purpose),
            Way::Engine(translated) => self.engine(translated, scope, purpose),
        }
    }

    fn straight(&self, parts: &[Part], scope: &Scope, purpose: Purpose) -> (Result<Rendered, Trouble>, u64) {
        let (mut rendered, mut bytes) = (Rendered::default(), 0);
        let mut add = |part: &Part| {
            let piece = match part {
                Part::Put(pipe) => {
                    let (text, dot, uses) = (&*self.source, &scope.root, &mut rendered.uses);
                    let value = Sight { text, scope, dot, is_root: true, slots: &[], uses }.pipe(pipe)?;
                    self.piece(pipe, &value, purpose)?
                }
                Part::Text(text) => Piece { text: text.clone(), from: None },
                _ => return Err(self.whole("the template cannot be carried out")),
            };
            self.book(&piece, &mut bytes)?;
            rendered.pieces.push(piece);
            Ok(())
        };
        let result = parts.iter().try_for_each(&mut add);
        (result.map(|()| rendered), parts.len() as u64 + bytes as u64 / 32)
    }

    fn engine(
        self: &Arc<Self>,
        translated: &Translated,
        scope: &Arc<Scope>,
        purpose: Purpose,
    ) -> (Result<Rendered, Trouble>, u64) {
        let slots = vec![None; translated.slots];
        let progress = Progress { slots, pieces: Vec::new(), bytes: 0, uses: Vec::new(), trouble: None, steps: 0 };
        let run = Arc::new(Run {
            template: Arc::clone(self),
            scope: Arc::clone(scope),
            purpose,
            progress: Mutex::new(progress),
        });
        let root = Engine::from_object(Carried { node: scope.root.clone(), is_root: true });
        let values = context! { run => Engine::from_dyn_object(Arc::clone(&run)), d0 => root };
        let Ok(template) = translated.environment.get_template(NAME) else {
            return (Err(self.whole("the template is lost")), 0);
        };
        let rendered = template.render(values);
        let mut progress = run.progress();
        let steps = progress.steps + progress.bytes as u64 / 32;
        let result = match (rendered, progress.trouble.take()) {
            (_, Some(trouble)) => Err(trouble),
            (Err(error), None) if error.kind() == ErrorKind::OutOfFuel => {
                Err(Trouble::limit(0..self.source.len(), "the template takes too many steps"))
            }
            (Err(_), None) => Err(self.whole("the template cannot be carried out")),
            (Ok(_), None) => {
                let (pieces, uses) = (std::mem::take(&mut progress.pieces), std::mem::take(&mut progress.uses));
                Ok(Rendered { pieces, uses })
            }
        };
        (result, steps)
    }

    /// The text of a value; in a path it has to be something.
    fn piece(&self, pipe: &Pipe, value: &Node, purpose: Purpose) -> Result<Piece, Trouble> {
        let refuse = |reason: &str| {
            let shown = crate::sanitize::inline(&self.source[pipe.at.clone()]).into_owned();
            Trouble::value(pipe.at.clone(), format!("`{shown}` cannot be written here: {reason}"))
        };
        let text = scalar_text(value).map_err(|reason| refuse(&reason))?;
        if purpose == Purpose::Path && text.trim_matches(|c: char| c == '/' || c.is_whitespace()).is_empty() {
            let help = "a blank would turn a request of one resource into one of its collection";
            return Err(refuse("it is blank").help(help));
        }
        Ok(Piece { text, from: Some(pipe.at.clone()) })
    }

    /// Counts a piece before it is kept.
    fn book(&self, piece: &Piece, bytes: &mut usize) -> Result<(), Trouble> {
        *bytes += piece.text.len();
        if *bytes > LONGEST_TEXT {
            let at = piece.from.clone().unwrap_or(0..self.source.len());
            return Err(Trouble::limit(at, "the rendered text is too long"));
        }
        Ok(())
    }

    fn whole(&self, message: &str) -> Trouble {
        Trouble::value(0..self.source.len(), message)
    }
}

impl Translated {
    fn new(parts: &[Part], slots: usize, source: &str) -> Result<Self, Trouble> {
        let mut translation = Translation::default();
        translation.parts(parts, 0);
        let mut environment = Environment::empty();
        environment.set_fuel(Some(FUEL));
        environment
            .add_template_owned(NAME, translation.out)
            .map_err(|_| Trouble::syntax(0..source.len(), "the template is too large"))?;
        let (texts, pipes) = (translation.texts, translation.pipes);
        Ok(Self { environment, texts, pipes, slots })
    }
}

/// The template in the engine's words.
#[derive(Default)]
struct Translation {
    out: String,
    texts: Vec<String>,
    pipes: Vec<Pipe>,
    dots: usize,
}

impl Translation {
    fn parts(&mut self, parts: &[Part], dot: usize) {
        for part in parts {
            self.part(part, dot);
        }
    }

    fn part(&mut self, part: &Part, dot: usize) {
        match part {
            Part::Text(text) => {
                self.texts.push(text.clone());
                self.write(format_args!("{{{{run.text({})}}}}", self.texts.len() - 1));
            }
            Part::Put(pipe) => {
                let pipe = self.pipe(pipe);
                self.write(format_args!("{{{{run.put({pipe},d{dot})}}}}"));
            }
            Part::Keep(slot, pipe) => {
                let pipe = self.pipe(pipe);
                self.write(format_args!("{{{{run.keep({slot},{pipe},d{dot})}}}}"));
            }
            Part::If(branches, otherwise) => {
                for (at, (pipe, body)) in branches.iter().enumerate() {
                    let pipe = self.pipe(pipe);
                    let word = if at == 0 { "if" } else { "elif" };
                    self.write(format_args!("{{% {word} run.truth({pipe},d{dot}) %}}"));
                    self.parts(body, dot);
                }
                self.write(format_args!("{{% else %}}"));
                self.parts(otherwise, dot);
                self.write(format_args!("{{% endif %}}"));
            }
            Part::With(slot, pipe, body, otherwise) => {
                let (pipe, inner) = (self.pipe(pipe), self.next_dot());
                let slot = slot_number(*slot);
                self.write(format_args!("{{% with d{inner}=run.value({slot},{pipe},d{dot}) %}}"));
                self.write(format_args!("{{% if run.is_true(d{inner}) %}}"));
                self.parts(body, inner);
                self.write(format_args!("{{% else %}}"));
                self.parts(otherwise, dot);
                self.write(format_args!("{{% endif %}}{{% endwith %}}"));
            }
            Part::Range([key, value], pipe, body, otherwise) => {
                let (pipe, inner) = (self.pipe(pipe), self.next_dot());
                let (key, value) = (slot_number(*key), slot_number(*value));
                self.write(format_args!("{{% for p{inner} in run.each({pipe},d{dot}) %}}"));
                self.write(format_args!("{{% with d{inner}=run.enter({key},{value},p{inner}) %}}"));
                self.parts(body, inner);
                self.write(format_args!("{{% endwith %}}{{% else %}}"));
                self.parts(otherwise, dot);
                self.write(format_args!("{{% endfor %}}"));
            }
        }
    }

    fn pipe(&mut self, pipe: &Pipe) -> usize {
        self.pipes.push(pipe.clone());
        self.pipes.len() - 1
    }

    fn next_dot(&mut self) -> usize {
        self.dots += 1;
        self.dots
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.out.write_fmt(text);
    }
}

/// No slot is the number after the largest.
fn slot_number(slot: Option<Slot>) -> usize {
    slot.unwrap_or(usize::MAX >> 1)
}

/// One rendering: what the engine calls.
#[derive(Debug)]
struct Run {
    template: Arc<Engined>,
    scope: Arc<Scope>,
    purpose: Purpose,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
struct Progress {
    slots: Vec<Option<Node>>,
    pieces: Vec<Piece>,
    bytes: usize,
    uses: Vec<Use>,
    trouble: Option<Trouble>,
    steps: u64,
}

/// A value of ours on its way through the engine.
#[derive(Debug)]
struct Carried {
    node: Node,
    is_root: bool,
}

/// A key or position and what stands there.
#[derive(Debug)]
struct Pair {
    key: Node,
    value: Node,
}

impl Object for Carried {}
impl Object for Pair {}

impl Object for Run {
    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        arguments: &[Engine],
    ) -> Result<Engine, Error> {
        self.progress().steps += 1;
        self.answer(method, arguments).map_err(|trouble| {
            self.progress().trouble = trouble;
            Error::from(ErrorKind::InvalidOperation)
        })
    }
}

impl Run {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().expect("nothing panics while it holds this lock")
    }

    /// Nothing as trouble means that the engine called in a way that we never translate to.
    fn answer(&self, method: &str, arguments: &[Engine]) -> Result<Engine, Option<Trouble>> {
        let number = |at: usize| arguments.get(at).and_then(Engine::as_usize).ok_or(None);
        let carried = |at: usize| arguments.get(at).and_then(Engine::downcast_object_ref::<Carried>).ok_or(None);
        match method {
            "text" => {
                let text = self.translated()?.texts.get(number(0)?).ok_or(None)?;
                self.push(Piece { text: text.clone(), from: None })?;
            }
            "put" => {
                let pipe = self.pipe(number(0)?)?;
                let value = self.value(pipe, carried(1)?)?;
                self.push(self.template.piece(pipe, &value, self.purpose)?)?;
            }
            "keep" => {
                let value = self.value(self.pipe(number(1)?)?, carried(2)?)?;
                self.keep(number(0)?, value);
            }
            "truth" => return Ok(Engine::from(is_true(&self.value(self.pipe(number(0)?)?, carried(1)?)?))),
            "value" => {
                let value = self.value(self.pipe(number(1)?)?, carried(2)?)?;
                self.keep(number(0)?, value.clone());
                return Ok(Engine::from_object(Carried { node: value, is_root: false }));
            }
            "is_true" => return Ok(Engine::from(is_true(&carried(0)?.node))),
            "each" => return self.each(self.pipe(number(0)?)?, carried(1)?),
            "enter" => {
                let pair = arguments.get(2).and_then(Engine::downcast_object_ref::<Pair>).ok_or(None)?;
                self.keep(number(0)?, pair.key.clone());
                self.keep(number(1)?, pair.value.clone());
                return Ok(Engine::from_object(Carried { node: pair.value.clone(), is_root: false }));
            }
            _ => return Err(None),
        }
        Ok(Engine::from(""))
    }

    fn translated(&self) -> Result<&Translated, Option<Trouble>> {
        match &self.template.way {
            Way::Engine(translated) => Ok(translated),
            Way::Straight(_) => Err(None),
        }
    }

    fn pipe(&self, at: usize) -> Result<&Pipe, Option<Trouble>> {
        self.translated()?.pipes.get(at).ok_or(None)
    }

    fn value(&self, pipe: &Pipe, dot: &Carried) -> Result<Node, Trouble> {
        let progress = &mut *self.progress();
        let mut sight = Sight {
            text: &self.template.source,
            scope: &self.scope,
            dot: &dot.node,
            is_root: dot.is_root,
            slots: &progress.slots,
            uses: &mut progress.uses,
        };
        sight.pipe(pipe)
    }

    fn keep(&self, slot: Slot, value: Node) {
        if let Some(kept) = self.progress().slots.get_mut(slot) {
            *kept = Some(value);
        }
    }

    fn push(&self, piece: Piece) -> Result<(), Trouble> {
        let progress = &mut *self.progress();
        self.template.book(&piece, &mut progress.bytes)?;
        progress.pieces.push(piece);
        Ok(())
    }

    /// What `range` goes over: items, members in the order of their names, or the numbers below a number.
    fn each(&self, pipe: &Pipe, dot: &Carried) -> Result<Engine, Option<Trouble>> {
        let value = self.value(pipe, dot)?;
        let place = value.span.start_only();
        let number = |at: usize| {
            let number = Number::from_json(&at.to_string()).expect("a position is a number");
            Node::new(Value::Number(number), place)
        };
        let pairs: Vec<Pair> = match &value.value {
            Value::Null => Vec::new(),
            Value::List(list) => {
                let items = list.items().iter().take(MOST_ROUNDS + 1).enumerate();
                items.map(|(at, item)| Pair { key: number(at), value: item.clone() }).collect()
            }
            Value::Map(map) => {
                let mut entries: Vec<_> = map.entries().iter().collect();
                entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
                let pair = |entry: &&crate::value::Entry| Pair {
                    key: Node::text(entry.key.name.clone(), entry.key.span),
                    value: entry.value.clone(),
                };
                entries.iter().map(pair).collect()
            }
            Value::Number(count) => {
                let count = count.to_json().and_then(|text| text.parse::<usize>().ok()).unwrap_or(usize::MAX);
                (0..count.min(MOST_ROUNDS + 1)).map(|at| Pair { key: number(at), value: number(at) }).collect()
            }
            _ => {
                let message = format!("`range` cannot go over a {}", value.type_of());
                return Err(Some(Trouble::value(pipe.at.clone(), message)));
            }
        };
        if pairs.len() > MOST_ROUNDS {
            return Err(Some(Trouble::limit(pipe.at.clone(), "`range` goes over too much")));
        }
        Ok(Engine::from(pairs.into_iter().map(Engine::from_object).collect::<Vec<Engine>>()))
    }
}
