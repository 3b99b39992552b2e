//! Stage 7, patches: path expansion, operations, patch specifications and layered patches.
