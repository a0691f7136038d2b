//! Congestion signals that are not losses. One file per signal; each answers "does this ACK tell of congestion?".

pub mod curve;
pub mod early;
#[cfg(test)]
mod early_oracle;
pub mod ecn;
pub mod gentle;
pub mod pi;
pub mod rem;
