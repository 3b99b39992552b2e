//! Makes an expression safe to run: whatever can grow or take long books its work before it is done.
//!
//! The foreign crate has no budget, so the expression is rewritten. Names with `@` cannot be written by users.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};

use super::failure::{Failure, FailureKind};

/// Levels of an expression; a chain of operators has one per operator.
const DEEPEST: usize = 200;

/// Refuses what is nested too deeply, without recursing.
pub(super) fn check_depth(expression: &IdedExpr) -> Result<(), Failure> {
    let mut left = vec![(expression, 1)];
    while let Some((expression, depth)) = left.pop() {
        if depth > DEEPEST {
            let message = format!("it is nested or chained more than {DEEPEST} levels deep");
            return Err(Failure::new(FailureKind::Limit, message));
        }
        children(expression, &mut |child| left.push((child, depth + 1)));
    }
    Ok(())
}

/// The expression with every loop, copy and growing function on the account.
pub(super) fn guarded(mut expression: IdedExpr) -> Result<IdedExpr, Failure> {
    expression.expr = match expression.expr {
        Expr::Call(call) => guarded_call(call)?,
        Expr::Comprehension(mut loops) => {
            for part in [
                &mut loops.accu_init,
                &mut loops.loop_cond,
                &mut loops.loop_step,
                &mut loops.result,
                &mut loops.iter_range,
            ] {
                *part = guarded(std::mem::take(part))?;
            }
            let cost = nodes(&loops.loop_cond) + nodes(&loops.loop_step);
            let cost = unnumbered(Expr::Literal(LiteralValue::Int(cost.into())));
            loops.iter_range = unnumbered(call("@range", vec![loops.iter_range, cost]));
            Expr::Comprehension(loops)
        }
        Expr::List(mut list) => {
            for element in &mut list.elements {
                *element = kept(guarded(std::mem::take(element))?);
            }
            Expr::List(list)
        }
        Expr::Map(mut map) => {
            map.entries.iter_mut().try_for_each(|entry| guard_entry(&mut entry.expr))?;
            Expr::Map(map)
        }
        Expr::Struct(mut made) => {
            made.entries.iter_mut().try_for_each(|entry| guard_entry(&mut entry.expr))?;
            Expr::Struct(made)
        }
        Expr::Select(mut select) => {
            *select.operand = guarded(std::mem::take(&mut select.operand))?;
            Expr::Select(select)
        }
        leaf @ (Expr::Ident(_) | Expr::Literal(_)) => leaf,
        Expr::Unspecified => return Err(Failure::new(FailureKind::Syntax, "a part of it is missing")),
    };
    Ok(expression)
}

fn guard_entry(entry: &mut EntryExpr) -> Result<(), Failure> {
    match entry {
        EntryExpr::MapEntry(entry) => {
            entry.key = guarded(std::mem::take(&mut entry.key))?;
            entry.value = kept(guarded(std::mem::take(&mut entry.value))?);
        }
        EntryExpr::StructField(field) => field.value = guarded(std::mem::take(&mut field.value))?,
    }
    Ok(())
}

fn guarded_call(mut made: CallExpr) -> Result<Expr, Failure> {
    for argument in &mut made.args {
        *argument = guarded(std::mem::take(argument))?;
    }
    if let Some(target) = &mut made.target {
        **target = guarded(std::mem::take(target))?;
    }
    let name = made.func_name.as_str();
    match (&made.target, name, made.args.len()) {
        // What a macro adds to its own result is booked when it is made; the crate has a fast way for exactly this form.
        (None, operators::ADD, 2) if is_accumulator(&made.args[0]) => Ok(Expr::Call(made)),
        (None, operators::ADD, 2) => Ok(call("@add", made.args)),
        (None, operators::SUBSTRACT, 2) => Ok(call("@subtract", made.args)),
        (None, operators::MULTIPLY, 2) => Ok(call("@multiply", made.args)),
        (None, operators::DIVIDE, 2) => Ok(call("@divide", made.args)),
        (None, operators::MODULO, 2) => Ok(call("@remainder", made.args)),
        (None, operators::EQUALS, 2) => Ok(call("@equal", made.args)),
        (None, operators::NOT_EQUALS, 2) => Ok(call("@unequal", made.args)),
        (None, operators::IN, 2) => Ok(call("@within", made.args)),
        (None, operators::OPT_SELECT | operators::OPT_INDEX, _) => Ok(kept_call(made)),
        (None, _, _) if is_operator(name) => Ok(Expr::Call(made)),
        (Some(_), "replace", 2 | 3) | (Some(_), "split", 1 | 2) | (Some(_), "join", 0 | 1) | (Some(_), "format", 1) => {
            let function = format!("@{name}");
            let target = made.target.take().map(|target| *target);
            Ok(call(&function, target.into_iter().chain(made.args).collect()))
        }
        (Some(_), "distinct", 0) => {
            made.target = made.target.map(|list| Box::new(unnumbered(call("@square", vec![*list]))));
            Ok(kept_call(made))
        }
        (_, "matches", 1 | 2) => {
            let pattern = made.args.pop().into_iter().collect();
            made.args.push(unnumbered(call("@pattern", pattern)));
            Ok(Expr::Call(made))
        }
        (None, "oc_merge" | "merge", parts) if parts < 2 => {
            Err(Failure::new(FailureKind::Syntax, format!("`{name}` takes two or more maps")))
        }
        (None, "oc_merge" | "merge", _) => Ok(kept_call(variadic("@merge", made.args))),
        (None, "oc_generate_name" | "oc_dns_label" | "sanitizeK8sResourceName", 0) => {
            Err(Failure::new(FailureKind::Syntax, format!("`{name}` takes at least one part of a name")))
        }
        (None, "oc_generate_name" | "sanitizeK8sResourceName", _) => Ok(Expr::Call(variadic("@name", made.args))),
        (None, "oc_dns_label", _) => Ok(Expr::Call(variadic("@label", made.args))),
        _ => Ok(kept_call(made)),
    }
}

fn variadic(function: &str, parts: Vec<IdedExpr>) -> CallExpr {
    let list = cel::common::ast::ListExpr::new(parts.into_iter().map(kept).collect());
    CallExpr { func_name: function.to_owned(), target: None, args: vec![unnumbered(Expr::List(list))] }
}

fn is_operator(name: &str) -> bool {
    name.starts_with(['_', '!', '-', '@'])
}

fn is_accumulator(expression: &IdedExpr) -> bool {
    matches!(&expression.expr, Expr::Ident(name) if name.starts_with('@'))
}

/// A value that is copied from here on.
fn kept(expression: IdedExpr) -> IdedExpr {
    match &expression.expr {
        Expr::Literal(_) => expression,
        Expr::Call(made) if made.func_name == "@keep" => expression,
        _ => unnumbered(call("@keep", vec![expression])),
    }
}

fn kept_call(made: CallExpr) -> Expr {
    call("@keep", vec![unnumbered(Expr::Call(made))])
}

fn call(function: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args })
}

fn unnumbered(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

/// How many steps evaluating this takes once; a loop inside counts its own rounds when it runs.
fn nodes(expression: &IdedExpr) -> i64 {
    let mut count = 1;
    match &expression.expr {
        Expr::Comprehension(loops) => {
            for part in [&loops.iter_range, &loops.accu_init, &loops.result] {
                count += nodes(part);
            }
        }
        _ => children(expression, &mut |child| count += nodes(child)),
    }
    count
}

fn children<'e>(expression: &'e IdedExpr, visit: &mut dyn FnMut(&'e IdedExpr)) {
    match &expression.expr {
        Expr::Call(call) => call.target.iter().map(AsRef::as_ref).chain(&call.args).for_each(visit),
        Expr::Comprehension(loops) => {
            let parts = [&loops.iter_range, &loops.accu_init, &loops.loop_cond, &loops.loop_step, &loops.result];
            parts.into_iter().for_each(visit);
        }
        Expr::List(list) => list.elements.iter().for_each(visit),
        Expr::Map(map) => map.entries.iter().for_each(|entry| entry_children(&entry.expr, visit)),
        Expr::Struct(made) => made.entries.iter().for_each(|entry| entry_children(&entry.expr, visit)),
        Expr::Select(select) => visit(&select.operand),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
    }
}

fn entry_children<'e>(entry: &'e EntryExpr, visit: &mut dyn FnMut(&'e IdedExpr)) {
    match entry {
        EntryExpr::MapEntry(entry) => [&entry.key, &entry.value].into_iter().for_each(visit),
        EntryExpr::StructField(field) => visit(&field.value),
    }
}
