//! Under construction.
pub mod scenario;
