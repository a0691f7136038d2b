//! Tests of a transport stack in virtual time: your stack, unchanged, on a simulated network beside TCP, with a verdict that the same
//! seed repeats bit for bit.
//!
//! A stack is bytes in, bytes out, and told the time: [`Stack`]. A [`Lab`] is a scenario, a seed and the stacks that it names; a
//! [`Run`] holds every datagram that they sent, every reduction of their windows, and the tables of Crosswind.
//!
//! ```no_run
//! use crosswind_lab::{Error, Lab, Rng, Role, Stack};
//!
//! fn shares_a_bottleneck(mine: fn(Role, Rng) -> Box<dyn Stack>) -> Result<(), Error> {
//!     let lab = Lab::toml(include_str!("../tests/share.toml"))?.seed(1).stack("mine", move |_, role, rng| mine(role, rng));
//!     let run = lab.assert_repeatable(3);
//!     run.flow("mine").goodput_mbit().assert_within(3.0..=7.0);
//!     run.flow("mine").longest_burst(std::time::Duration::from_micros(100)).assert_at_most(10.0);
//!     Ok(())
//! }
//! ```
//!
//! Which keys a scenario has is told by Crosswind's reference; `transport = { type = "mine", .. }` gives a flow to the stack of that
//! name, and its other keys to whatever makes it.

mod figure;
mod lab;
mod run;
mod watched;

pub use crosswind_base::{ConfigError as Error, Ecn, Rng, Time};
pub use crosswind_transport::stack::{
    Cut, CutBecause, Pattern, Probe, Reading, Role, Stack, State, StreamId, Streams, pattern,
};
pub use figure::Figure;
pub use lab::Lab;
pub use run::{OfFlow, Run};
pub use watched::Sent;
