//! The one environment in which all expressions are read and run.

use std::sync::{Arc, LazyLock};

use cel::common::functions::Function;
use cel::common::types::{DYN_TYPE, LIST_TYPE, STRING_TYPE};
use cel::{DeclarationError, Env, extensions};

use super::{functions, metered, receiver_macros, two_variables};

/// CEL with its usual extensions and our functions; made once.
pub(super) fn environment() -> &'static Arc<Env> {
    static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(make().expect("no function is declared twice")));
    &ENVIRONMENT
}

fn make() -> Result<Env, DeclarationError> {
    let mut env = Env::stdlib();
    env.add_extension(extensions::strings)?;
    env.add_extension(extensions::lists)?;
    env.add_extension(extensions::math)?;
    env.add_extension(extensions::encoders)?;
    let macros = two_variables::macros().into_iter().chain(receiver_macros::macros());
    macros.into_iter().try_for_each(|it| env.add_macro(it))?;
    // What a guarded expression calls instead of operators and functions.
    let any = |count: usize| std::iter::repeat_with(|| DYN_TYPE).take(count).collect();
    let internal: [(&str, usize, Function); 25] = [
        ("@range", 2, metered::range),
        ("@entries", 1, metered::entries),
        ("@keep", 1, metered::keep),
        ("@add", 2, metered::add),
        ("@subtract", 2, metered::subtract),
        ("@multiply", 2, metered::multiply),
        ("@divide", 2, metered::divide),
        ("@remainder", 2, metered::remainder),
        ("@equal", 2, metered::equal),
        ("@unequal", 2, metered::unequal),
        ("@within", 2, metered::within),
        ("@square", 1, metered::square),
        ("@pattern", 1, metered::pattern),
        ("@replace", 3, metered::replace),
        ("@replace", 4, metered::replace),
        ("@split", 2, metered::split),
        ("@split", 3, metered::split),
        ("@join", 1, metered::join),
        ("@join", 2, metered::join),
        ("@format", 2, metered::format),
        ("@merge", 1, functions::merge),
        ("@map_of", 1, functions::map_of),
        ("@union", 1, functions::union),
        ("@name", 1, functions::name),
        ("@label", 1, functions::label),
    ];
    for (name, count, function) in internal {
        env.add_overload(name, &format!("{name}/{count}"), any(count), function)?;
    }
    let sets: [(&str, Function); 3] = [
        ("sets.contains", functions::contains),
        ("sets.equivalent", functions::equivalent),
        ("sets.intersects", functions::intersects),
    ];
    for (name, function) in sets {
        env.add_overload(name, name, vec![LIST_TYPE, LIST_TYPE], function)?;
    }
    env.add_member_overload("first", "list.first()", LIST_TYPE, Vec::new(), functions::first)?;
    env.add_member_overload("last", "list.last()", LIST_TYPE, Vec::new(), functions::last)?;
    env.add_overload("oc_omit", "oc_omit", Vec::new(), functions::omit)?;
    env.add_overload("omit", "omit", Vec::new(), functions::omit)?;
    env.add_overload("oc_hash", "oc_hash", vec![STRING_TYPE], functions::hash)?;
    Ok(env)
}
