//! The boundaries of DiffServ domains as the driver knows them.

use crosswind_net::diffserv::boundary::Boundary;

/// All boundaries of a run. Their numbers follow those of the ends.
pub struct Boundaries {
    pub list: Vec<Boundary>,
    /// Number of the first.
    pub from: usize,
}

impl Boundaries {
    /// The boundary of that number, if it is one that can deal with a packet before its time.
    #[inline]
    pub fn timeless(&mut self, stage: u32) -> Option<&mut Boundary> {
        self.list.get_mut((stage as usize).wrapping_sub(self.from)).filter(|e| e.is_timeless())
    }
}
