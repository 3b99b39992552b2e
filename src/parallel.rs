//! Works on many items with all cores, and on few items without starting threads.

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
        items.into_par_iter().map(work).collect()
    }
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
        assert_eq!(few_or_many(items, FEW, |item| item * 2), doubled);
    }
}
