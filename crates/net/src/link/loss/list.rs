//! # Listed losses
//!
//! **Source**: ns-2.35 (ErrorModel/List, `drop-packet`).
//!
//! **Idea**: the n-th packets that reach the model are lost, counted from 1 in order of arrival. So are the n-th SYN, SYN-ACK, bare
//! ACK and FIN, each kind with a count of its own, and the n-th packets of `marks` are marked (CE) if they are ECN-capable:
//! these numbers are among the same packets as those of `packets`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `packets` | ordinals | [] | ours: nothing is lost until listed |
//! | `syn` | ordinals | [] | ours: nothing is lost until listed |
//! | `syn_ack` | ordinals | [] | the same |
//! | `ack` | ordinals | [] | the same; the third segment of a handshake is the first bare ACK |
//! | `fin` | ordinals | [] | the same |
//! | `marks` | ordinals | [] | ours: nothing is marked until listed |
//! | `counts` | - | data | ours: retransmissions count, acknowledgements do not |
//! | `at` | - | exit | ours: the packet has used queue and link |
//!
//! **Deviations**: 1. Numbers start at 1. (ns-2's list starts at 0.)
//!
//! **Checked by**: conformance suite; unit tests below.

use super::{Counts, LossModel, LossPoint};
use crate::params::{self, Params};
use crosswind_base::packet::Proto;
use crosswind_base::{ConfigError, DropReason, Ecn, Packet, Setting, TcpFlags, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of listed losses.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    /// Which packets are lost, counted from 1 in order of arrival at the model.
    pub packets: Vec<u64>,
    /// Which SYNs are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syn: Vec<u64>,
    /// Which SYN-ACKs are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syn_ack: Vec<u64>,
    /// Which ACKs without data are lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ack: Vec<u64>,
    /// Which FINs are lost, with or without data.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fin: Vec<u64>,
    /// Which packets are marked (CE) if they are ECN-capable, counted as `packets`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<u64>,
    /// What is counted: packets with payload, or all.
    pub counts: Counts,
    /// Before the queue (entry) or at the far end of the link (exit).
    pub at: LossPoint,
}

impl ListParams {
    /// The lists by their keys.
    fn lists(&self) -> [(&'static str, &[u64]); 6] {
        let ListParams { packets, syn, syn_ack, ack, fin, marks, .. } = self;
        [("packets", packets), ("syn", syn), ("syn_ack", syn_ack), ("ack", ack), ("fin", fin), ("marks", marks)]
    }
}

impl Params for ListParams {
    fn check(&self) -> Result<(), ConfigError> {
        for (key, list) in self.lists() {
            if let Some(i) = list.iter().position(|n| *n == 0) {
                let expected = "a number from 1: the first packet is 1";
                return Err(ConfigError::new(format!("{key}[{i}]"), "0", expected));
            }
        }
        Ok(())
    }
}

/// One list and how far it has come.
#[derive(Default)]
struct Ordinals {
    /// Sorted, without repetition; `next` is the first that has not come yet.
    listed: Vec<u64>,
    next: usize,
    seen: u64,
}

impl Ordinals {
    fn new(listed: &[u64], seen: u64) -> Ordinals {
        let mut listed = listed.to_vec();
        listed.sort_unstable();
        listed.dedup();
        let next = listed.partition_point(|n| *n <= seen);
        Ordinals { listed, next, seen }
    }

    /// One more packet of this kind: whether it is listed.
    #[inline]
    fn is_next(&mut self) -> bool {
        self.seen += 1;
        let is_listed = self.listed.get(self.next) == Some(&self.seen);
        self.next += usize::from(is_listed);
        is_listed
    }
}

/// The kind of a TCP segment, as a place in [`ListParams::lists`].
fn kind(p: &Packet) -> Option<usize> {
    let has = |f| p.flags.has(f);
    match (has(TcpFlags::SYN), has(TcpFlags::ACK)) {
        _ if p.proto != Proto::Tcp || has(TcpFlags::RST) => None,
        (true, false) => Some(1),
        (true, true) => Some(2),
        _ if has(TcpFlags::FIN) => Some(4),
        (false, true) if p.payload == 0 => Some(3),
        _ => None,
    }
}

/// Loses the packets of a list.
pub struct List {
    params: ListParams,
    /// In the order of [`ListParams::lists`].
    lists: [Ordinals; 6],
    marks: bool,
}

impl List {
    pub fn new(params: ListParams) -> List {
        let lists = params.lists().map(|(_, list)| Ordinals::new(list, 0));
        List { params, lists, marks: false }
    }
}

impl LossModel for List {
    fn point(&self) -> LossPoint {
        self.params.at
    }
    fn lose(&mut self, p: &Packet, _now: Time) -> Option<DropReason> {
        let covers = self.params.counts.covers(p);
        let mut is_lost = covers && self.lists[0].is_next();
        self.marks = covers && self.lists[5].is_next();
        if let Some(of_kind) = kind(p) {
            is_lost |= self.lists[of_kind].is_next();
        }
        is_lost.then_some(DropReason::Listed)
    }
    fn rewrites(&self) -> Option<Ecn> {
        self.marks.then_some(Ecn::Ce)
    }
    /// Numbers go on counting from the start of the run.
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        let params: ListParams = new.get();
        for (own, (_, listed)) in self.lists.iter_mut().zip(params.lists()) {
            *own = Ordinals::new(listed, own.seen);
        }
        self.params = params;
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::loss::packet_with_payload as packet;

    fn lost(params: ListParams, payloads: &[u16]) -> Vec<usize> {
        let mut m = List::new(params);
        let one = |(i, payload): (usize, &u16)| m.lose(&packet(*payload), Time::ZERO).map(|_| i);
        payloads.iter().enumerate().filter_map(one).collect()
    }

    #[test]
    fn data_packets_are_counted_from_one_and_acknowledgements_are_not() {
        let params = ListParams { packets: vec![3, 1, 3], ..ListParams::default() };
        assert_eq!(lost(params, &[0, 536, 0, 536, 536, 536]), [1, 4]);
    }

    #[test]
    fn all_packets_are_counted_when_asked() {
        let params = ListParams { packets: vec![1, 3], counts: Counts::All, ..ListParams::default() };
        assert_eq!(lost(params, &[0, 536, 0, 536]), [0, 2]);
    }

    #[test]
    fn segments_of_each_kind_have_numbers_of_their_own() {
        let params = ListParams { syn: vec![2], syn_ack: vec![1], ack: vec![2], fin: vec![1], ..ListParams::default() };
        let mut m = List::new(params);
        let mut lost = |flags: TcpFlags, payload| m.lose(&Packet { flags, ..packet(payload) }, Time::ZERO).is_some();
        let (syn, ack) = (TcpFlags::SYN, TcpFlags::ACK);
        assert!(!lost(syn, 0) && lost(syn, 0) && !lost(syn, 0));
        assert!(lost(syn.with(ack), 0));
        assert!(!lost(ack, 0) && !lost(ack, 500) && lost(ack, 0));
        assert!(lost(ack.with(TcpFlags::FIN), 100) && !lost(ack.with(TcpFlags::FIN), 0));
        assert!(!lost(TcpFlags::RST.with(ack), 0));
        let mut change = |v: Value| m.read_and_change(v.as_object().expect("a table"), Time::ZERO);
        change(serde_json::json!({"syn": [1, 4]})).expect("a list");
        assert!(m.lose(&Packet { flags: syn, ..packet(0) }, Time::ZERO).is_some(), "numbers go on");
    }

    #[test]
    fn what_is_to_be_marked_is_not_lost() {
        let mut m = List::new(ListParams { marks: vec![2], ..ListParams::default() });
        let marked = [500, 0, 500, 500].map(|payload| {
            assert!(m.lose(&packet(payload), Time::ZERO).is_none());
            m.rewrites().is_some()
        });
        assert_eq!(marked, [false, false, true, false]);
    }
}
