//! Who lost what, and where: the counters behind `Cx::drop` and `Cx::mark`.

use crosswind_base::{DropReason, Ledger, Packet};

/// Losses of one flow.
#[derive(Clone, Copy, Default, Debug)]
pub struct FlowLosses {
    pub drops_packets: u64,
    pub lost_packets: u64,
    pub marks_packets: u64,
}

/// Losses at one stage.
#[derive(Clone, Copy, Default, Debug)]
pub struct StageLosses {
    pub by_reason: [u64; DropReason::COUNT],
    pub marks_packets: u64,
}

/// All losses of a run.
pub struct Losses {
    pub flows: Vec<FlowLosses>,
    pub stages: Vec<StageLosses>,
}

impl Losses {
    pub fn new(flows: usize, stages: usize) -> Losses {
        Losses { flows: vec![FlowLosses::default(); flows], stages: vec![StageLosses::default(); stages] }
    }
}

impl Ledger for Losses {
    fn dropped(&mut self, stage: u32, p: &Packet, why: DropReason) {
        let flow = &mut self.flows[p.flow.0 as usize];
        match why {
            DropReason::LinkError | DropReason::Listed => flow.lost_packets += 1,
            DropReason::NoEndpoint => {}
            _ => flow.drops_packets += 1,
        }
        if let Some(s) = self.stages.get_mut(stage as usize) {
            s.by_reason[why as usize] += 1;
        }
    }
    fn marked(&mut self, stage: u32, p: &Packet) {
        self.flows[p.flow.0 as usize].marks_packets += 1;
        if let Some(s) = self.stages.get_mut(stage as usize) {
            s.marks_packets += 1;
        }
    }
}
