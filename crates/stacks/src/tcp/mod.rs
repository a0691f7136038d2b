//! TCP in real bytes: the codec between segments and packets, and Crosswind's own TCP behind it.

pub mod own;
pub mod wire;

pub use own::OwnTcp;
pub use wire::{Line, Place, Refused, Segment};
