//! What the tests of several crates share: drivers for single components, oracles (plain copies of published
//! algorithms to compare with), and the conformance suite that every registered element passes.

pub mod alone;
pub mod bench;
pub mod conformance;
pub mod kept;
pub mod oracle;
pub mod tcp;
