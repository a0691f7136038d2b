//! Random early detection, in the three profiles that published results rest on.
//!
//! A profile is a [`Law`]: it is told of every arrival and answers with a verdict, and of the moments at which the queue is empty.

pub mod effective;
pub mod floyd_jacobson;
pub mod law;
pub mod linux;
pub mod ns2;
pub mod trace;

pub use super::aqm::{Arrival, EcnMode, Verdict};
pub use floyd_jacobson::FloydJacobson;
pub use law::{Law, Measure, Profiled, Red, damping_rate};
pub use linux::Linux;
pub use ns2::Ns2;
