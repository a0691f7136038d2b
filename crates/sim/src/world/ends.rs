//! The ends of all flows, as the event loop calls them, in virtual time.

use crate::flows::{FlowEnd, Milestone};
use crosswind_base::{Clock, Cx, PacketId, Sync, Time, VirtualClock, prefetch};
use crosswind_engine::Ends;
use crosswind_transport::tcp::share::Cache;
use std::ops::{Deref, DerefMut};

/// Both ends of every flow: the sender of the data, then its receiver. `caches` are the hosts' shared control blocks.
pub struct FlowEnds {
    pub list: Vec<FlowEnd>,
    pub caches: Vec<Cache>,
}

/// More ends than a processor's caches hold.
const CROWD: usize = 400;

impl Deref for FlowEnds {
    type Target = [FlowEnd];
    fn deref(&self) -> &[FlowEnd] {
        &self.list
    }
}

impl DerefMut for FlowEnds {
    fn deref_mut(&mut self) -> &mut [FlowEnd] {
        &mut self.list
    }
}

impl Clock for FlowEnds {
    #[inline(always)]
    fn sync(&mut self, deadline: Time) -> Sync {
        VirtualClock.sync(deadline)
    }
}

impl Ends for FlowEnds {
    type Told = Milestone;

    #[inline]
    fn accept(&mut self, end: usize, id: PacketId, cx: &mut Cx<'_>) -> (Time, Option<Milestone>) {
        let e = &mut self.list[end];
        let told = e.accept(id, cx, &mut self.caches);
        (e.next_wake().unwrap_or(Time::NEVER), told)
    }

    #[inline]
    fn wake(&mut self, end: usize, cx: &mut Cx<'_>) -> (Time, Option<Milestone>) {
        let e = &mut self.list[end];
        let told = e.wake(cx, &mut self.caches);
        (e.next_wake().unwrap_or(Time::NEVER), told)
    }

    #[inline]
    fn is_crowd(&self) -> bool {
        self.list.len() > CROWD
    }

    #[inline]
    fn prefetch(&self, end: usize, is_near: bool) {
        let Some(e) = self.list.get(end) else { return };
        match e {
            _ if !is_near => prefetch(e),
            FlowEnd::Tcp(e) => {
                if let Some(tx) = e.conn.tx.get() {
                    prefetch(tx);
                }
            }
            FlowEnd::Other(d) => {
                if let Some(rx) = d.arrivals.data() {
                    prefetch(rx);
                }
            }
        }
    }
}
