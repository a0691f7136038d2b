//! How a reduction is spread over the round trip that follows it.

pub mod bound;
pub mod halving;
#[cfg(test)]
mod halving_oracle;
pub mod prr;
#[cfg(test)]
mod prr_oracle;
