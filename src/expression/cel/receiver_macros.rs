//! The helpers of OpenChoreo: calls such as `configurations.toVolumes()` mean lists that are worked out before an expression runs.

use cel::common::ast::{CallExpr, Expr, IdedExpr, SelectExpr, operators};
use cel::parser::{Macro, MacroExprHelper};

/// The variable that holds what helpers give. Users cannot write its name.
pub const HELPERS: &str = "@openchoreo";

/// A receiver, a method with so many arguments, and the member of [`HELPERS`] that the call means.
type Helper = (&'static str, &'static str, usize, &'static str);

const ALL: [Helper; 15] = [
    ("configurations", "toConfigFileList", 0, "configFileList"),
    ("configurations", "toSecretFileList", 0, "secretFileList"),
    ("configurations", "toContainerEnvFrom", 0, "containerEnvFrom"),
    ("configurations", "toContainerEnvFrom", 1, "containerEnvFromOf"),
    ("configurations", "toContainerVolumeMounts", 0, "configVolumeMounts"),
    ("configurations", "toContainerVolumeMounts", 1, "configVolumeMountsOf"),
    ("configurations", "toVolumes", 0, "configVolumes"),
    ("configurations", "toConfigEnvsByContainer", 0, "configEnvs"),
    ("configurations", "toSecretEnvsByContainer", 0, "secretEnvs"),
    ("dependencies", "toContainerEnvs", 0, "dependencyEnvVars"),
    // What it was called in March 2026.
    ("connections", "toContainerEnv", 0, "dependencyEnvVars"),
    ("dependencies", "toContainerVolumeMounts", 0, "dependencyVolumeMounts"),
    ("dependencies", "toVolumes", 0, "dependencyVolumes"),
    ("workload", "toServicePorts", 0, "servicePorts"),
    ("workload", "toEndpointResources", 1, "endpointResources"),
];

/// A macro for each method and number of arguments. Other receivers than those above keep their calls as they are.
pub(super) fn macros() -> Vec<Macro> {
    let mut methods: Vec<(&str, usize)> = ALL.iter().map(|(_, method, count, _)| (*method, *count)).collect();
    methods.sort_unstable();
    methods.dedup();
    let expand = |(method, count): (&'static str, usize)| {
        Macro::receiver(method, count, move |helper, target, args| {
            let is_meant =
                |known: &&Helper| (known.1, known.2) == (method, count) && is_named(target.as_ref(), known.0);
            let member = ALL.iter().find(is_meant).map(|known| known.3);
            Ok(member.map(|member| expanded(helper, member, args)))
        })
    };
    methods.into_iter().map(expand).collect()
}

/// The call that a member of [`HELPERS`] is made of, as people write it.
pub(super) fn call_of(member: &str) -> Option<String> {
    let found = ALL.iter().find(|(.., known)| *known == member);
    found.map(|(receiver, method, count, _)| {
        let arguments = if *count == 0 { "" } else { "…" };
        format!("{receiver}.{method}({arguments})")
    })
}

fn is_named(target: Option<&IdedExpr>, name: &str) -> bool {
    matches!(target.map(|target| &target.expr), Some(Expr::Ident(ident)) if ident == name)
}

fn expanded(helper: &mut MacroExprHelper<'_>, member: &str, args: &mut Vec<IdedExpr>) -> IdedExpr {
    let operand = Box::new(helper.next_expr(Expr::Ident(HELPERS.to_owned())));
    let all = helper.next_expr(Expr::Select(SelectExpr { operand, field: member.to_owned(), test: false }));
    let Some(argument) = args.pop() else { return all };
    // Not every endpoint has resources, but every container has mounts.
    let operator = if member == "endpointResources" { operators::OPT_INDEX } else { operators::INDEX };
    let call = CallExpr { func_name: operator.to_owned(), target: None, args: vec![all, argument] };
    helper.next_expr(Expr::Call(call))
}
