//! What one run of a program may use: everything it does costs steps, and when they are spent the run ends.
//!
//! The evaluator offers no way to stop it from inside but to unwind. An abort unwinds without a panic: no hook runs, so nothing is
//! printed, and it is caught where the run began.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use smol_str::SmolStr;

use crate::limits::Allowance;

/// Steps of one run; a pass over ten thousand values takes about a hundred thousand.
pub(super) const STEPS: u64 = 1_000_000;
/// Values in one value, counted as often as they occur.
const NODES: u64 = 2_000_000;
/// Levels of nesting of one value.
const HEIGHT: u32 = 2_000;
/// The stack on which programs are compiled and run; address space, not memory.
const STACK: usize = 512 << 20;
/// What the callers of several programs that share a stack may take of it.
const CALLER_STACK: usize = 32 << 20;
/// What must be left of it: dropping what the evaluator has built takes stack as well.
const STACK_RESERVE: usize = 320 << 20;

/// Why a run ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Abort {
    /// It took too many steps.
    Steps,
    /// It and the programs before it took too many steps together.
    Allowance,
    /// It called itself too deeply.
    Stack,
    /// It made a value that is too large or too deep.
    Size,
    /// It calculated with a number that the calculation would have rounded.
    Inexact(SmolStr),
    /// It looked into a value that is hidden.
    Secret,
    /// The evaluator failed on its own account.
    Broken,
}

thread_local! {
    static STEPS_LEFT: Cell<u64> = const { Cell::new(0) };
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs something with a budget and a stack of its own; it may end early, but it ends.
pub(super) fn within_budget<T>(run: impl FnOnce() -> T) -> Result<T, Abort> {
    within_steps(STEPS, run).0
}

/// Like `within_budget`, with as many steps as the allowance still has; unused steps are given back.
pub(super) fn within_allowance<T>(allowance: &Allowance, run: impl FnOnce() -> T) -> Result<T, Abort> {
    let steps = allowance.take(STEPS);
    let (result, left) = within_steps(steps, run);
    allowance.give_back(left);
    match result {
        Err(Abort::Steps) if steps < STEPS => Err(Abort::Allowance),
        result => result,
    }
}

/// Runs several programs on one stack: a stack for each would cost more than most programs do.
pub fn on_one_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK, STACK + CALLER_STACK, run)
}

/// Gives also how many steps are left.
fn within_steps<T>(steps: u64, run: impl FnOnce() -> T) -> (Result<T, Abort>, u64) {
    silence_panics();
    // A program can look up a resource whose own programs run meanwhile: each has its own account.
    let (outer_steps, was_guarded) = (STEPS_LEFT.replace(steps), IS_GUARDED.replace(true));
    let result = catch_unwind(AssertUnwindSafe(|| stacker::maybe_grow(STACK, STACK, run)));
    let left = STEPS_LEFT.replace(outer_steps);
    IS_GUARDED.set(was_guarded);
    let result = result.map_err(why);
    let is_spent = result.as_ref().is_err_and(|abort| *abort == Abort::Steps);
    (result, if is_spent { 0 } else { left })
}

fn why(payload: Box<dyn Any + Send>) -> Abort {
    payload.downcast::<Abort>().map_or(Abort::Broken, |abort| *abort)
}

/// Ends the run.
pub(super) fn abort(why: Abort) -> ! {
    resume_unwind(Box::new(why))
}

/// Takes one step; the evaluator comes here for every term.
pub(super) fn tick() {
    spend(1);
    if stacker::remaining_stack().is_some_and(|left| left < STACK_RESERVE) {
        abort(Abort::Stack);
    }
}

/// Takes many steps at once, before the work that they pay for is done.
pub(super) fn spend(steps: u64) {
    STEPS_LEFT.with(|left| match left.get().checked_sub(steps) {
        Some(rest) => left.set(rest),
        None => abort(Abort::Steps),
    });
}

/// Pays for a text of that many bytes, before it is made.
pub(super) fn spend_bytes(bytes: usize) {
    spend(bytes as u64 / 32 + 1);
}

/// Refuses a value that is too large or too deep.
pub(super) fn check_weight(size: u64, height: u32) {
    if size > NODES || height > HEIGHT {
        abort(Abort::Size);
    }
}

/// Should the evaluator panic on its own account, that is a finding like any other failure, and nothing for the terminal.
fn silence_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_when_its_steps_are_spent() {
        let endless = || loop {
            tick();
        };
        assert_eq!(within_budget(endless), Err::<(), _>(Abort::Steps));
        assert_eq!(within_budget(|| spend(5)), Ok(()));
    }

    #[test]
    fn a_run_within_a_run_has_its_own_account() {
        let inner = || within_budget(|| spend(STEPS));
        assert_eq!(within_budget(|| (spend(10), inner(), spend(STEPS - 20)).1), Ok(Ok(())));
    }

    #[test]
    fn runs_share_an_allowance() {
        let allowance = Allowance::new(STEPS + 10);
        assert_eq!(within_allowance(&allowance, || spend(4)), Ok(()));
        assert_eq!(within_allowance(&allowance, || spend(STEPS + 1)), Err(Abort::Steps));
        assert_eq!(within_allowance(&allowance, || spend(7)), Err(Abort::Allowance));
        assert_eq!(within_allowance(&allowance, tick), Err(Abort::Allowance));
    }

    #[test]
    fn a_panic_of_the_evaluator_is_an_abort() {
        assert_eq!(within_budget(|| panic!("not for the terminal")), Err::<(), _>(Abort::Broken));
    }
}
