//! Every rule of the language, one by one.
