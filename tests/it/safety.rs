//! Hostile input, crashes, and writes that are interrupted: what `docs/threats.md` promises.

mod account;
mod crashes;
mod pipes;
mod threats;
mod writes;
