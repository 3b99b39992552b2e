//! What one evaluation may use up. The functions of the foreign crate carry no state, so the account belongs to the thread.

use std::cell::Cell;

use cel::ExecutionError;

/// Steps and copied values that are left.
#[derive(Clone, Copy, Default)]
struct Account {
    steps: u64,
    values: u64,
    is_exhausted: bool,
}

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(Account { steps: 0, values: 0, is_exhausted: false }) };
}

/// What a metered evaluation used, beside its result.
pub(super) struct Spent<T> {
    pub(super) result: T,
    /// Steps and values together.
    pub(super) used: u64,
    /// Whether it ran out; then the result means nothing, even if it looks well.
    pub(super) is_exhausted: bool,
}

/// Runs something that may take so many steps and copy so many values.
pub(super) fn metered<T>(steps: u64, values: u64, run: impl FnOnce() -> T) -> Spent<T> {
    let outer = ACCOUNT.replace(Account { steps, values, is_exhausted: false });
    let result = run();
    let left = ACCOUNT.replace(outer);
    let used = (steps - left.steps) + (values - left.values);
    Spent { result, used, is_exhausted: left.is_exhausted }
}

/// Books steps before they are taken.
pub(super) fn take_steps(steps: u64) -> Result<(), ExecutionError> {
    take(steps, 0)
}

/// Books values before they are copied.
pub(super) fn take_values(values: u64) -> Result<(), ExecutionError> {
    take(0, values)
}

fn take(steps: u64, values: u64) -> Result<(), ExecutionError> {
    let mut account = ACCOUNT.get();
    let enough = account.steps >= steps && account.values >= values && !account.is_exhausted;
    account.steps = account.steps.saturating_sub(steps);
    account.values = account.values.saturating_sub(values);
    account.is_exhausted |= !enough;
    ACCOUNT.set(account);
    if enough { Ok(()) } else { Err(ExecutionError::function_error("budget", "too much work")) }
}
