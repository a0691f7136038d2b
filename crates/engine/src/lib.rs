//! The event loop of simulator and emulator: stages between hosts, packets on their way, and what is due next.
//!
//! | module | holds |
//! |---|---|
//! | [`events`] | the loop, in one function |
//! | [`ends`] | who stands at the ends of the network, and why the loop returns |
//! | [`calendar`] | who is woken next: [`agenda`] for stages, [`deliveries`] for packets that were forwarded before their time |
//! | [`relay`] | the way of a packet from stage to stage; [`boundaries`] on it |
//! | [`tick`] | how many events, and how many at one instant |
//! | [`view`] | what part of a run is served at once |
//! | [`shuffle`] | simultaneous arrivals in an order that a seed decides |

pub mod agenda;
mod boundaries;
mod calendar;
mod deliveries;
mod ends;
mod events;
mod relay;
mod shuffle;
mod tick;
mod view;

pub use boundaries::Boundaries;
pub use ends::{Ends, Stop};
pub use events::Engine;
pub use shuffle::Shuffle;
pub use view::View;
