//! Which flow a packet belongs to: declared ones by their port, all others in the order in which they appear.

use crate::frame::{Addresses, Header};
use crate::spec::FlowPorts;
use crosswind_base::FlowId;
use std::collections::BTreeMap;

/// Addresses, ports and protocol, the same for both directions.
type Tuple = (Addresses, Option<[u16; 2]>, u8);

/// More flows than this share one number.
const FLOWS_MAX: u32 = 1 << 20;

/// The numbers given so far.
pub struct Flows {
    ports: FlowPorts,
    known: BTreeMap<Tuple, u32>,
    /// Most packets belong to a flow that was seen just before.
    recent: [Option<(Tuple, u32)>; 8],
}

impl Flows {
    pub fn new(ports: FlowPorts) -> Flows {
        Flows { ports, known: BTreeMap::new(), recent: [None; 8] }
    }

    /// The flow of a packet; new ones get the next number.
    pub fn of(&mut self, h: &Header) -> FlowId {
        if let Some(declared) = h.ports.and_then(|p| self.declared(p)) {
            return FlowId(declared);
        }
        let tuple = canonical(h);
        let slot = h.ports.map_or(0, |[a, b]| usize::from(a ^ b) % self.recent.len());
        if let Some((t, n)) = self.recent[slot]
            && t == tuple
        {
            return FlowId(n);
        }
        let next = self.ports.flows + (self.known.len() as u32).min(FLOWS_MAX);
        let n = if self.known.len() < FLOWS_MAX as usize {
            *self.known.entry(tuple).or_insert(next)
        } else {
            self.known.get(&tuple).copied().unwrap_or(next)
        };
        self.recent[slot] = Some((tuple, n));
        FlowId(n)
    }

    fn declared(&self, ports: [u16; 2]) -> Option<u32> {
        let number = |p: u16| p.checked_sub(self.ports.first).map(u32::from).filter(|n| *n < self.ports.flows);
        number(ports[1]).or_else(|| number(ports[0]))
    }
}

fn canonical(h: &Header) -> Tuple {
    let (forward, addresses) = match h.addresses {
        Addresses::V4([a, b]) => ((a, h.ports.map(|p| p[0])) <= (b, h.ports.map(|p| p[1])), Addresses::V4([b, a])),
        Addresses::V6([a, b]) => ((a, h.ports.map(|p| p[0])) <= (b, h.ports.map(|p| p[1])), Addresses::V6([b, a])),
    };
    if forward { (h.addresses, h.ports, h.protocol) } else { (addresses, h.ports.map(|[a, b]| [b, a]), h.protocol) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::TcpFlags;

    fn header(from: u8, to: u8, ports: [u16; 2]) -> Header {
        let addresses = Addresses::V4([[198, 18, 0, from], [198, 18, 0, to]]);
        Header { addresses, len: 40, ds: 0, protocol: 6, ports: Some(ports), payload: 0, tcp_flags: TcpFlags(0) }
    }

    #[test]
    fn both_directions_of_a_connection_are_one_flow_and_others_are_others() {
        let mut f = Flows::new(FlowPorts::default());
        let a = f.of(&header(1, 2, [4000, 80]));
        assert_eq!(f.of(&header(2, 1, [80, 4000])), a);
        assert_ne!(f.of(&header(1, 2, [4001, 80])), a);
        assert_ne!(f.of(&header(1, 3, [4000, 80])), a);
        assert_eq!(f.of(&header(1, 2, [4000, 80])), a);
    }

    #[test]
    fn declared_flows_have_the_numbers_of_the_scenario() {
        let mut f = Flows::new(FlowPorts { first: 20000, flows: 3 });
        assert_eq!(f.of(&header(1, 2, [4000, 20002])), FlowId(2));
        assert_eq!(f.of(&header(2, 1, [20000, 4000])), FlowId(0));
        assert_eq!(f.of(&header(2, 1, [20003, 4000])), FlowId(3), "the first number behind those of the scenario");
    }
}
