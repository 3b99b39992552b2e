//! Macros with two variables: index and item of a list, or key and value of a map. The foreign crate has only those with one.
//!
//! `range.exists(k, v, p)` becomes a loop over pairs, in which `k` and `v` are the parts of a pair.

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, ListExpr, LiteralValue, operators};
use cel::parser::{Macro, MacroExprHelper, ParseError};

/// All of them.
pub(super) fn macros() -> Vec<Macro> {
    let folds = [("all", Fold::All), ("exists", Fold::Exists), ("exists_one", Fold::One), ("existsOne", Fold::One)];
    let folds = folds.map(|(name, fold)| {
        Macro::receiver(name, 3, move |helper, target, args| {
            let Loop { range, pair, filter: _, body } = Loop::take(helper, target, args)?;
            Ok(Some(fold.build(helper, range, pair, body)))
        })
    });
    let transforms =
        [("transformList", None), ("transformMap", Some("@map_of")), ("transformMapEntry", Some("@union"))];
    let transforms = transforms.into_iter().flat_map(|(name, finish)| {
        [3, 4].map(|arity| {
            Macro::receiver(name, arity, move |helper, target, args| {
                let mut parts = Loop::take(helper, target, args)?;
                if finish == Some("@map_of") {
                    let key = part_of(&parts.pair, 0);
                    let key = helper.next_expr(key);
                    parts.body = helper.next_expr(Expr::List(ListExpr::new(vec![key, parts.body])));
                }
                let list = collect(helper, parts);
                Ok(Some(match finish {
                    Some(finish) => helper.next_expr(call(finish, vec![list])),
                    None => list,
                }))
            })
        })
    });
    folds.into_iter().chain(transforms).collect()
}

/// The parts of such a macro, with both variables already replaced.
struct Loop {
    range: IdedExpr,
    pair: String,
    filter: Option<IdedExpr>,
    body: IdedExpr,
}

impl Loop {
    fn take(
        helper: &mut MacroExprHelper<'_>,
        target: &mut Option<IdedExpr>,
        args: &mut Vec<IdedExpr>,
    ) -> Result<Self, ParseError> {
        let mut names = Vec::new();
        for argument in &args[..2] {
            match &argument.expr {
                Expr::Ident(name) if !name.starts_with('.') => names.push(name.clone()),
                _ => return Err(helper.new_error(argument.id, "argument must be a simple name")),
            }
        }
        if names[0] == names[1] {
            return Err(helper.new_error(args[1].id, "the two variables need different names"));
        }
        let range = target.take().unwrap_or_default();
        let range = helper.next_expr(call("@entries", vec![range]));
        // Each loop has a name of its own, so that an inner one cannot hide the pair of an outer one.
        let pair = format!("@pair{}", range.id);
        let mut body = args.pop().unwrap_or_default();
        let mut filter = if args.len() > 2 { args.pop() } else { None };
        for (at, name) in names.iter().enumerate() {
            let part = part_of(&pair, at as i64);
            for expression in filter.iter_mut().chain([&mut body]) {
                substitute(expression, name, &part);
            }
        }
        Ok(Self { range, pair, filter, body })
    }
}

#[derive(Clone, Copy)]
enum Fold {
    All,
    Exists,
    One,
}

const RESULT: &str = "@result";

impl Fold {
    fn build(self, helper: &mut MacroExprHelper<'_>, range: IdedExpr, pair: String, body: IdedExpr) -> IdedExpr {
        let accu = |helper: &mut MacroExprHelper<'_>| helper.next_expr(Expr::Ident(RESULT.to_owned()));
        let literal = |helper: &mut MacroExprHelper<'_>, value| helper.next_expr(Expr::Literal(value));
        let int = |value: i64| LiteralValue::Int(value.into());
        let init = match self {
            Self::All => LiteralValue::Boolean(true.into()),
            Self::Exists => LiteralValue::Boolean(false.into()),
            Self::One => int(0),
        };
        let accu_init = literal(helper, init);
        let mut loop_cond = accu(helper);
        if matches!(self, Self::Exists) {
            loop_cond = helper.next_expr(call(operators::LOGICAL_NOT, vec![loop_cond]));
        }
        loop_cond = match self {
            Self::One => literal(helper, LiteralValue::Boolean(true.into())),
            _ => helper.next_expr(call(operators::NOT_STRICTLY_FALSE, vec![loop_cond])),
        };
        let (before, mut result) = (accu(helper), accu(helper));
        let loop_step = match self {
            Self::All => call(operators::LOGICAL_AND, vec![before, body]),
            Self::Exists => call(operators::LOGICAL_OR, vec![before, body]),
            Self::One => {
                let one = literal(helper, int(1));
                let more = accu(helper);
                let more = helper.next_expr(call(operators::ADD, vec![more, one]));
                call(operators::CONDITIONAL, vec![body, more, before])
            }
        };
        let loop_step = helper.next_expr(loop_step);
        if matches!(self, Self::One) {
            let one = literal(helper, int(1));
            result = helper.next_expr(call(operators::EQUALS, vec![result, one]));
        }
        comprehension(helper, [range, accu_init, loop_cond, loop_step, result], pair)
    }
}

/// A list of what the body gives for each pair that the filter lets through.
fn collect(helper: &mut MacroExprHelper<'_>, parts: Loop) -> IdedExpr {
    let accu = |helper: &mut MacroExprHelper<'_>| helper.next_expr(Expr::Ident(RESULT.to_owned()));
    let accu_init = helper.next_expr(Expr::List(ListExpr::new(Vec::new())));
    let loop_cond = helper.next_expr(Expr::Literal(LiteralValue::Boolean(true.into())));
    let item = helper.next_expr(Expr::List(ListExpr::new(vec![parts.body])));
    let before = accu(helper);
    let mut loop_step = helper.next_expr(call(operators::ADD, vec![before, item]));
    if let Some(filter) = parts.filter {
        let unchanged = accu(helper);
        loop_step = helper.next_expr(call(operators::CONDITIONAL, vec![filter, loop_step, unchanged]));
    }
    let result = accu(helper);
    comprehension(helper, [parts.range, accu_init, loop_cond, loop_step, result], parts.pair)
}

fn comprehension(helper: &mut MacroExprHelper<'_>, parts: [IdedExpr; 5], iter_var: String) -> IdedExpr {
    let [iter_range, accu_init, loop_cond, loop_step, result] = parts;
    let accu_var = RESULT.to_owned();
    let loops =
        ComprehensionExpr { iter_range, iter_var, iter_var2: None, accu_var, accu_init, loop_cond, loop_step, result };
    helper.next_expr(Expr::Comprehension(Box::new(loops)))
}

fn call(function: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args })
}

fn part_of(pair: &str, at: i64) -> Expr {
    let unnumbered = |expr| IdedExpr { id: 0, expr };
    let pair = unnumbered(Expr::Ident(pair.to_owned()));
    let at = unnumbered(Expr::Literal(LiteralValue::Int(at.into())));
    call(operators::INDEX, vec![pair, at])
}

/// Puts an expression in place of a variable, except where a loop inside has a variable of the same name.
fn substitute(expression: &mut IdedExpr, name: &str, part: &Expr) {
    match &mut expression.expr {
        Expr::Ident(ident) if ident == name => expression.expr = part.clone(),
        Expr::Call(call) => {
            call.target.iter_mut().for_each(|target| substitute(target, name, part));
            call.args.iter_mut().for_each(|argument| substitute(argument, name, part));
        }
        Expr::Comprehension(loops) => {
            substitute(&mut loops.iter_range, name, part);
            substitute(&mut loops.accu_init, name, part);
            if loops.iter_var != name && loops.accu_var != name {
                for inner in [&mut loops.loop_cond, &mut loops.loop_step, &mut loops.result] {
                    substitute(inner, name, part);
                }
            }
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|element| substitute(element, name, part)),
        Expr::Map(map) => map.entries.iter_mut().for_each(|entry| substitute_entry(&mut entry.expr, name, part)),
        Expr::Struct(made) => made.entries.iter_mut().for_each(|entry| substitute_entry(&mut entry.expr, name, part)),
        Expr::Select(select) => substitute(&mut select.operand, name, part),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn substitute_entry(entry: &mut EntryExpr, name: &str, part: &Expr) {
    match entry {
        EntryExpr::MapEntry(entry) => {
            substitute(&mut entry.key, name, part);
            substitute(&mut entry.value, name, part);
        }
        EntryExpr::StructField(field) => substitute(&mut field.value, name, part),
    }
}
