//! What an expression reads: its variables, and how far into each of them it looks.

use std::collections::BTreeMap;

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use smol_str::SmolStr;

use super::receiver_macros::HELPERS;

/// How much of a value an expression can see. Only that much is handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of it.
    Whole,
    /// These keys.
    Fields(BTreeMap<SmolStr, Reach>),
}

/// The variables of an expression.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Each variable with its reach.
    pub(super) variables: BTreeMap<SmolStr, Reach>,
    /// The expression is nothing but this variable and these keys: its value can be taken as it is.
    pub(super) reference: Option<(SmolStr, Vec<SmolStr>)>,
}

/// Finds the variables of an expression whose macros are already expanded.
pub(super) fn of(expression: &IdedExpr) -> Uses {
    let mut uses = Uses::default();
    if is_reference(expression) {
        uses.reference = chain(expression).filter(|(root, _)| !is_ours(root));
    }
    uses.walk(expression, &mut Vec::new());
    uses
}

/// Names that an expression may use although they are no variables.
pub(super) fn is_type_name(name: &str) -> bool {
    const TYPES: [&str; 12] =
        ["bool", "bytes", "double", "duration", "google", "int", "list", "map", "null_type", "string", "type", "uint"];
    TYPES.contains(&name) || name == "optional_type" || name == "timestamp"
}

/// The first words of functions such as `math.greatest`.
const NAMESPACES: [&str; 6] = ["base64", "lists", "math", "optional", "sets", "strings"];

impl Uses {
    fn walk<'e>(&mut self, expression: &'e IdedExpr, bound: &mut Vec<&'e str>) {
        if let Some((root, keys)) = chain(expression) {
            if !is_ours(&root) && !bound.contains(&root.as_str()) {
                let root = root.strip_prefix('.').map_or(root.clone(), SmolStr::new);
                reach(&mut self.variables, root, &keys);
            }
            return;
        }
        match &expression.expr {
            Expr::Call(call) => {
                call.target.iter().filter(|target| !is_namespace(target)).for_each(|target| self.walk(target, bound));
                call.args.iter().for_each(|argument| self.walk(argument, bound));
            }
            Expr::Comprehension(loops) => {
                self.walk(&loops.iter_range, bound);
                self.walk(&loops.accu_init, bound);
                let outside = bound.len();
                bound.extend([loops.iter_var.as_str(), loops.accu_var.as_str()]);
                bound.extend(loops.iter_var2.as_deref());
                for inner in [&loops.loop_cond, &loops.loop_step, &loops.result] {
                    self.walk(inner, bound);
                }
                bound.truncate(outside);
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.walk(element, bound)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.entry(&entry.expr, bound)),
            Expr::Struct(made) => made.entries.iter().for_each(|entry| self.entry(&entry.expr, bound)),
            Expr::Select(select) => self.walk(&select.operand, bound),
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn entry<'e>(&mut self, entry: &'e EntryExpr, bound: &mut Vec<&'e str>) {
        match entry {
            EntryExpr::MapEntry(entry) => {
                self.walk(&entry.key, bound);
                self.walk(&entry.value, bound);
            }
            EntryExpr::StructField(field) => self.walk(&field.value, bound),
        }
    }
}

/// Names with `@` are made by macros and never by users. What helpers give is a variable like any other.
fn is_ours(name: &str) -> bool {
    name.starts_with('@') && name != HELPERS
}

fn is_namespace(target: &IdedExpr) -> bool {
    matches!(&target.expr, Expr::Ident(name) if NAMESPACES.contains(&name.as_str()))
}

/// Only plain keys, whose absence is an error and nothing else.
fn is_reference(expression: &IdedExpr) -> bool {
    match &expression.expr {
        Expr::Ident(name) => !name.starts_with('.'),
        Expr::Select(select) => !select.test && is_reference(&select.operand),
        _ => false,
    }
}

/// A variable and the keys that lead into it, if the expression is nothing else: `a.b`, `a.?b`, `a['b']`, `has(a.b)`.
fn chain(expression: &IdedExpr) -> Option<(SmolStr, Vec<SmolStr>)> {
    match &expression.expr {
        Expr::Ident(name) => Some((name.into(), Vec::new())),
        Expr::Select(select) => longer(&select.operand, &select.field),
        Expr::Call(CallExpr { func_name, target: None, args }) => {
            let by_key = [operators::INDEX, operators::OPT_INDEX, operators::OPT_SELECT].contains(&func_name.as_str());
            match args.as_slice() {
                [operand, IdedExpr { expr: Expr::Literal(LiteralValue::String(key)), .. }] if by_key => {
                    longer(operand, key.inner())
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn longer(operand: &IdedExpr, key: &str) -> Option<(SmolStr, Vec<SmolStr>)> {
    let (root, mut keys) = chain(operand)?;
    keys.push(key.into());
    Some((root, keys))
}

fn reach(variables: &mut BTreeMap<SmolStr, Reach>, root: SmolStr, keys: &[SmolStr]) {
    let mut slot = variables.entry(root).or_insert_with(|| Reach::Fields(BTreeMap::new()));
    for key in keys {
        let Reach::Fields(fields) = slot else { return };
        slot = fields.entry(key.clone()).or_insert_with(|| Reach::Fields(BTreeMap::new()));
    }
    *slot = Reach::Whole;
}
