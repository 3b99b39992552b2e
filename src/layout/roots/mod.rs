//! Kustomize roots as units: kustomizations that no other one refers to, and directories that applications name.

mod flux;
mod index;
mod leaf;
mod units;

pub use flux::{Flux, flux_unit};
pub use units::Kustomize;
