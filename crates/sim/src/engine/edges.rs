//! The edges of DiffServ domains as the driver knows them.

use crosswind_net::diffserv::edge::Edge;

/// All edges of a run. Their numbers follow those of the ends.
pub struct Edges {
    pub list: Vec<Edge>,
    /// Number of the first.
    pub from: usize,
}

impl Edges {
    /// The edge of that number, if it is one that can deal with a packet before its time.
    #[inline]
    pub fn timeless(&mut self, stage: u32) -> Option<&mut Edge> {
        self.list.get_mut((stage as usize).wrapping_sub(self.from)).filter(|e| e.is_timeless())
    }
}
