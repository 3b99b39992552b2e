//! Templates in the style of Go, as metadata uses them.
