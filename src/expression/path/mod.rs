//! The eval language: paths over the resource tree, and the function form.

/// Whether a text can hold an expression; yes where in doubt.
pub fn may_have_expressions(text: &[u8]) -> bool {
    text.windows(4).any(|word| word == b"eval")
}
