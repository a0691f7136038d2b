//! Congestion signals that are not losses. One file per signal; each answers "does this ACK tell of congestion?".

pub mod ecn;
