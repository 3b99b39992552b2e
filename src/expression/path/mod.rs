//! The eval language: paths over the resource tree, and the function form.
