//! Who lost what, and where: the counters behind `Cx::drop` and `Cx::mark`.

use crate::flows::DroppedRetransmission;
use crosswind_base::{DropReason, End, FlowId, Ledger, Packet, TcpFlags, Vantage};

/// Losses of one flow.
#[derive(Clone, Copy, Default, Debug)]
pub struct FlowLosses {
    pub drops_packets: u64,
    pub lost_packets: u64,
    pub marks_packets: u64,
    /// Of the dropped and lost, those that went to the sender of the data.
    pub reverse_packets: u64,
    /// Retransmitted segments of the data sender, among the dropped and lost.
    pub retransmissions: u64,
    /// Of a stream of datagrams that has ended: how many are still on their way. Zero before, and for connections.
    pub awaited_packets: u64,
    /// It is over; a connection may have two ends that say so.
    pub is_over: bool,
}

/// Losses at one stage.
#[derive(Clone, Copy, Default, Debug)]
pub struct StageLosses {
    pub by_reason: [u64; DropReason::COUNT],
    pub marks_packets: u64,
}

/// A packet that was too large for a link.
#[derive(Clone, Copy, Debug)]
pub struct TooBig {
    pub stage: u32,
    pub flow: FlowId,
    /// Which end had sent it.
    pub seen: Vantage,
    pub seq: u64,
    pub len: u16,
    pub mtu: u32,
}

/// All losses of a run.
pub struct Losses {
    pub flows: Vec<FlowLosses>,
    pub stages: Vec<StageLosses>,
    /// For each boundary and flow the packets that the shaper of a contract dropped.
    pub shaped: Vec<Vec<u64>>,
    /// Number of the first boundary.
    boundaries_from: usize,
    /// For each flow the packets dropped by a limit of one wait and by a budget of all waits; empty before the first.
    pub discards: Vec<[u64; 2]>,
    /// Awaited flows that are not over: a connection until it is closed, a stream until its last packet has arrived or is lost.
    pub open: usize,
    /// Retransmissions dropped since the driver looked last: their flow, the direction, and what they held.
    pub retransmissions: Vec<(u32, Vantage, DroppedRetransmission)>,
    /// Resets that have passed a router with Fast Reset: which egress they crossed, their flow and direction.
    pub resets: Vec<(u32, u32, Vantage)>,
    /// Packets that were too large for a link: which egress, their flow and direction, their first byte, and what fits.
    pub too_big: Vec<TooBig>,
    /// The driver is to call `process_notifications`: nothing is open, or a list here is not empty.
    pub has_notifications: bool,
}

impl Losses {
    /// `awaited` tells of each flow whether the run goes on until it is over.
    pub fn new(awaited: impl ExactSizeIterator<Item = bool>, stages: usize) -> Losses {
        let flows = awaited.len();
        let open = awaited.filter(|is_awaited| *is_awaited).count();
        Losses {
            flows: vec![FlowLosses::default(); flows],
            stages: vec![StageLosses::default(); stages],
            shaped: Vec::new(),
            boundaries_from: usize::MAX,
            discards: Vec::new(),
            open,
            retransmissions: Vec::new(),
            resets: Vec::new(),
            too_big: Vec::new(),
            has_notifications: false,
        }
    }

    /// Counts what so many boundaries drop, too; `from` is the number of the first.
    pub fn count_boundaries(&mut self, from: usize, boundaries: usize) {
        self.boundaries_from = from;
        self.shaped = vec![vec![0; self.flows.len()]; boundaries];
    }

    /// An awaited flow is over.
    pub fn close(&mut self) {
        self.open -= 1;
        self.has_notifications |= self.open == 0;
    }

    /// One of the packets that an ended stream still had on its way is accounted for.
    #[inline]
    pub fn settle(&mut self, flow: usize) {
        let f = &mut self.flows[flow];
        if f.awaited_packets > 0 {
            f.awaited_packets -= 1;
            if f.awaited_packets == 0 {
                self.close();
            }
        }
    }
}

impl Ledger for Losses {
    fn dropped(&mut self, stage: u32, p: &Packet, why: DropReason) {
        let flows = self.flows.len();
        let flow = &mut self.flows[p.flow.0 as usize];
        match why {
            _ if why.is_loss() => flow.lost_packets += 1,
            DropReason::NoEndpoint => {}
            _ => flow.drops_packets += 1,
        }
        let is_loss = why != DropReason::NoEndpoint;
        flow.reverse_packets += u64::from(is_loss && p.meta.is_reverse());
        if let DropReason::LocalDelay | DropReason::DelayBudget = why {
            let i = usize::from(why == DropReason::DelayBudget);
            self.discards.resize(flows, [0; 2]);
            self.discards[p.flow.0 as usize][i] += 1;
        }
        if p.meta.is_rexmit() && !p.flags.has(TcpFlags::SYN) {
            let seen = End::source_of(p).seen;
            flow.retransmissions += u64::from(seen == Vantage::Sender);
            let lost = DroppedRetransmission { seq: p.seq, end: p.seq + u64::from(p.payload), sent_at: p.sent_at };
            if p.payload > 0 {
                self.retransmissions.push((p.flow.0, seen, lost));
                self.has_notifications = true;
            }
        } else if flow.awaited_packets > 0 && !p.meta.is_reverse() {
            self.settle(p.flow.0 as usize);
        }
        if let Some(s) = self.stages.get_mut(stage as usize) {
            s.by_reason[why as usize] += 1;
        } else if why != DropReason::Policed
            && let Some(flows) = self.shaped.get_mut((stage as usize).wrapping_sub(self.boundaries_from))
        {
            flows[p.flow.0 as usize] += 1;
        }
    }
    fn arrived(&mut self, flow: FlowId) -> bool {
        self.settle(flow.0 as usize);
        self.has_notifications
    }
    fn reset_passed(&mut self, stage: u32, p: &Packet) {
        self.resets.push((stage, p.flow.0, End::source_of(p).seen));
        self.has_notifications = true;
    }
    fn too_big(&mut self, stage: u32, p: &Packet, mtu: u32) {
        self.too_big.push(TooBig { stage, flow: p.flow, seen: End::source_of(p).seen, seq: p.seq, len: p.len, mtu });
        self.has_notifications = true;
    }
    fn marked(&mut self, stage: u32, p: &Packet) {
        self.flows[p.flow.0 as usize].marks_packets += 1;
        if let Some(s) = self.stages.get_mut(stage as usize) {
            s.marks_packets += 1;
        }
    }
}
