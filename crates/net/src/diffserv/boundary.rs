//! The boundary of a domain: every packet of a flow with a contract passes it where it enters the domain.

use super::conditioner::{Conditioner, Fate};
use crosswind_base::{Colour, Cx, Histogram, Packet, PacketId, Stage, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Which packets of a flow a contract covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Number of the flow.
    pub flow: u32,
    /// One bit for each code point that is covered.
    pub dscps: u64,
    /// Number of the conditioner.
    pub conditioner: u32,
}

/// Packets by colour, and those without one.
pub type ByColour = [u64; 4];

/// How tables call packets by the colour that they came with, and went on with.
pub const ARRIVED: [&str; 4] =
    ["arrived_green_packets", "arrived_yellow_packets", "arrived_red_packets", "arrived_other_packets"];
pub const LEFT: [&str; 4] = ["left_green_packets", "left_yellow_packets", "left_red_packets", "left_other_packets"];
const _: () = assert!(ARRIVED.len() == Colour::ALL.len() + 1 && LEFT.len() == ARRIVED.len());

/// What a boundary has seen of one flow.
#[derive(Clone, Copy, Default, Debug)]
pub struct Passed {
    pub flow: u32,
    /// As they came, and as they went on.
    pub arrived: ByColour,
    pub left: ByColour,
    /// Packets that came with a colour and left with a worse one.
    pub remarked_packets: u64,
    pub policed_packets: u64,
}

/// A packet that has been counted before it came: when it will come, its flow's row, and how it came and goes on.
#[derive(Clone, Copy, Debug)]
struct Early {
    at: Time,
    row: u32,
    came: u8,
    goes: u8,
}

impl Passed {
    fn count(&mut self, came: usize, goes: usize) {
        self.arrived[came] += 1;
        self.left[goes] += 1;
        self.remarked_packets += u64::from(is_worse(came, goes));
    }

    fn take_back(&mut self, e: &Early) {
        let (came, goes) = (usize::from(e.came), usize::from(e.goes));
        self.arrived[came] -= 1;
        self.left[goes] -= 1;
        self.remarked_packets -= u64::from(is_worse(came, goes));
    }
}

/// Whether a packet left with a colour that is worse than the one it came with.
fn is_worse(came: usize, goes: usize) -> bool {
    came < goes && goes < 3
}

/// All contracts of a domain, where its traffic comes in.
pub struct Boundary {
    conditioners: Vec<Conditioner>,
    /// Sorted by flow.
    rules: Vec<Rule>,
    /// For each flow where its rules begin, and its row in `passed`.
    places: Vec<(u32, u32)>,
    passed: Vec<Passed>,
    /// What `passed` counts already although somebody may look before it comes.
    early: VecDeque<Early>,
    wake_at: Time,
    is_timeless: bool,
    /// For each hop of the table of routes the flow that goes this way; empty where packets have the flow's number themselves.
    ways: Vec<u32>,
}

/// What becomes of a packet that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Gone,
    /// No contract covers it.
    Uncovered,
    /// That of this conditioner does.
    Covered(usize),
}

fn colour_index(p: &Packet) -> usize {
    p.dscp().colour().map_or(3, |c| c as usize)
}

impl Boundary {
    /// `flows` is the number of all flows of the scenario.
    pub fn new(conditioners: Vec<Conditioner>, mut rules: Vec<Rule>, flows: usize) -> Boundary {
        rules.sort_by_key(|r| (r.flow, r.conditioner));
        let mut places = vec![(0, u32::MAX); flows];
        let mut passed: Vec<Passed> = Vec::new();
        for (i, r) in rules.iter().enumerate() {
            let place = &mut places[r.flow as usize];
            if place.1 == u32::MAX {
                *place = (i as u32, passed.len() as u32);
                passed.push(Passed { flow: r.flow, ..Passed::default() });
            }
        }
        let is_timeless = conditioners.iter().all(Conditioner::is_timeless);
        Boundary {
            conditioners,
            rules,
            places,
            passed,
            early: VecDeque::new(),
            wake_at: Time::NEVER,
            is_timeless,
            ways: Vec::new(),
        }
    }

    /// For packets that do not have the numbers of flows that its rules have: who goes which way, by the place of this boundary in
    /// the table of hops.
    pub fn with_ways(mut self, ways: Vec<u32>) -> Boundary {
        self.ways = ways;
        self
    }

    #[inline]
    fn flow_of(&self, p: &Packet) -> u32 {
        if self.ways.is_empty() { p.flow.0 } else { self.ways[p.hop as usize - 1] }
    }

    /// What it has seen of each flow up to now, in the order of flows.
    pub fn passed(&self, now: Time) -> Vec<Passed> {
        let mut passed = self.passed.clone();
        self.early.iter().filter(|e| e.at > now).for_each(|e| passed[e.row as usize].take_back(e));
        passed
    }

    /// Times between the green packets of one contract, in the order of contracts.
    pub fn green_intervals(&self) -> impl Iterator<Item = &Histogram> {
        self.conditioners.iter().map(|c| &c.green_interval_ns)
    }

    fn rule_of(&self, p: &Packet, first: u32) -> Option<usize> {
        let flow = self.flow_of(p);
        let of_flow = self.rules[first as usize..].iter().take_while(|r| r.flow == flow);
        of_flow.into_iter().find(|r| r.dscps >> p.dscp().bits() & 1 == 1).map(|r| r.conditioner as usize)
    }

    /// Whether it does the same to a packet at any time, and lets every packet go at once: a driver may have it done before
    /// the packet arrives ([`Boundary::pass`]).
    pub fn is_timeless(&self) -> bool {
        self.is_timeless
    }

    /// Does to a packet what its contract says, perhaps before it comes, at `cx.now`. The boundary is timeless.
    pub fn pass(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        let came = colour_index(cx.packet(id));
        let verdict = self.condition(id, cx);
        debug_assert!(self.is_timeless && verdict != Verdict::Gone, "nothing is dropped or held back here");
        if cx.now > cx.ahead.report_horizon {
            let (_, row) = self.places[self.flow_of(cx.packet(id)) as usize];
            self.remember(
                Early { at: cx.now, row, came: came as u8, goes: colour_index(cx.packet(id)) as u8 },
                cx.ahead.reached,
            );
        }
    }

    fn remember(&mut self, early: Early, reached: Time) {
        while self.early.front().is_some_and(|e| e.at <= reached) {
            self.early.pop_front();
        }
        self.early.push_back(early);
    }

    fn condition(&mut self, id: PacketId, cx: &mut Cx<'_>) -> Verdict {
        let p = cx.packet(id);
        let (first, row) = self.places[self.flow_of(p) as usize];
        debug_assert!(row != u32::MAX, "only flows with a contract pass a boundary");
        let came = colour_index(p);
        let Some(c) = self.rule_of(p, first) else {
            self.passed[row as usize].count(came, came);
            return Verdict::Uncovered;
        };
        if self.conditioners[c].condition(id, cx) == Fate::Policed {
            let passed = &mut self.passed[row as usize];
            passed.arrived[came] += 1;
            passed.policed_packets += 1;
            return Verdict::Gone;
        }
        let goes = colour_index(cx.packet(id));
        self.passed[row as usize].count(came, goes);
        Verdict::Covered(c)
    }

    fn settle(&mut self) {
        self.wake_at = self.conditioners.iter().filter_map(Conditioner::next_wake).min().unwrap_or(Time::NEVER);
    }
}

impl Stage for Boundary {
    fn accept(&mut self, id: PacketId, cx: &mut Cx<'_>) {
        match self.condition(id, cx) {
            Verdict::Gone => {}
            Verdict::Uncovered => cx.forward(id),
            Verdict::Covered(c) => {
                let conditioner = &mut self.conditioners[c];
                conditioner.send(id, cx);
                if conditioner.next_wake().is_some() {
                    self.settle();
                }
            }
        }
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        for c in &mut self.conditioners {
            if c.next_wake().is_some_and(|at| at <= cx.now) {
                c.release(cx);
            }
        }
        self.settle();
    }

    fn next_wake(&self) -> Option<Time> {
        (self.wake_at != Time::NEVER).then_some(self.wake_at)
    }
}
