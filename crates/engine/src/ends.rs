//! Who stands at the ends of the network, and why the event loop returns to whoever drives it.

use crosswind_base::{Clock, Cx, PacketId, Time};

/// What stands at the ends of the network, transports or hosts, and the clock that they go by. Each answer is when the end
/// wants to be woken next, or [`Time::NEVER`], and what it has to say.
pub trait Ends: Clock {
    /// What an end may say to the driver.
    type Told;
    fn accept(&mut self, end: usize, id: PacketId, cx: &mut Cx<'_>) -> (Time, Option<Self::Told>);
    fn wake(&mut self, end: usize, cx: &mut Cx<'_>) -> (Time, Option<Self::Told>);
    /// A packet is in front of an egress. Whether it goes on as it is: otherwise it is gone, and others may have been emitted
    /// in its place.
    #[inline(always)]
    fn enters(&mut self, _egress: usize, _id: PacketId, _cx: &mut Cx<'_>) -> bool {
        true
    }
    /// There are more ends than a processor's caches hold.
    #[inline(always)]
    fn is_crowd(&self) -> bool {
        false
    }
    /// This end will be called soon; the second time (`is_near`) it has come, and what it leads to is wanted.
    #[inline(always)]
    fn prefetch(&self, _end: usize, _is_near: bool) {}
}

/// Why the loop returns.
pub enum Stop<T> {
    /// What is due next is due later.
    LaterDue,
    /// The clock had something to see to before its deadline.
    Interrupted,
    /// A drop, or another entry of the ledger.
    Notification,
    /// It is time to ask whether the run is still wanted.
    Poll,
    /// An end has said something.
    Told { end: usize, what: T },
    /// Too many events at one instant; the last was one of this stage.
    Stuck { stage: usize },
}
