//! Works on many items with all cores, and on few items without starting threads.

use std::sync::{Once, OnceLock};
use std::thread::{self, ThreadId};

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// With fewer items than this, threads cost more than they save, unless an item is much work.
pub const FEW: usize = 64;

/// Calls a function with each item and returns the results in the order of the items. Fewer than `few` items are handled on this
/// thread, more on all cores.
pub fn few_or_many<I, E, T, R>(items: I, few: usize, work: impl Fn(T) -> R + Send + Sync) -> Vec<R>
where
    I: AsRef<[E]> + IntoIterator<Item = T> + IntoParallelIterator<Item = T>,
    T: Send,
    R: Send,
{
    if items.as_ref().len() < few {
        items.into_iter().map(work).collect()
    } else {
        start();
        items.into_par_iter().map(work).collect()
    }
}

/// Adds each item to a list, and the lists of all cores to each other, in the order of the items.
pub fn add_up<T: Send, L: Default + Send>(
    items: Vec<T>,
    with: impl Fn(L, T) -> L + Send + Sync,
    and: impl Fn(L, L) -> L + Send + Sync,
) -> L {
    start();
    items.into_par_iter().fold(L::default, with).reduce(L::default, and)
}

/// The thread that works on many items too, instead of waiting for others.
static TAKES_PART: OnceLock<ThreadId> = OnceLock::new();

/// From now on this thread works on its many items itself, with one thread less for them. What a thread has freed is used again by it
/// alone, so that memory for one of them is saved. The thread has to live as long as the process.
pub fn take_part() {
    let _ = TAKES_PART.set(thread::current().id());
}

/// Starts the threads, if they were not.
fn start() {
    static IS_STARTED: Once = Once::new();
    IS_STARTED.call_once(|| {
        if TAKES_PART.get() == Some(&thread::current().id()) {
            // If this fails, there is one thread more.
            let _ = ThreadPoolBuilder::new().use_current_thread().build_global();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
        assert_eq!(few_or_many(&items, FEW, |item| item * 2), doubled);
        assert_eq!(few_or_many(items.as_slice(), 10_000, |item| item * 2), doubled);
        assert_eq!(few_or_many(items.clone(), FEW, |item| item * 2), doubled);
        let with = |mut list: Vec<u32>, item| {
            list.push(item);
            list
        };
        assert_eq!(add_up(items.clone(), with, |a, b| [a, b].concat()), items);
    }
}
