//! The elements of TCP that have a reference page: one row each. The name is the one used in scenario files.

use crosswind_base::registry::Row;

macro_rules! rows {
    ($($kind:literal $name:literal $file:literal;)*) => {
        &[$(Row::page($kind, $name, include_str!($file))),*]
    };
}

const OTHERS: &[Row] = rows! {
    "signal" "ecn" "signal/ecn.rs";
    "signal" "ecn-negotiation" "ecn/negotiation.rs";
    "signal" "ecn-feedback" "ecn/feedback.rs";
    "signal" "accecn" "ecn/counting.rs";
    "signal" "pert" "signal/gentle.rs";
    "signal" "pert-rem" "signal/rem.rs";
    "signal" "pert-pi" "signal/pi.rs";
    "undo" "last-reduction" "undo/last_reduction.rs";
    "detector" "tail-probe" "detect/tlp.rs";
    "reduction" "prr" "reduction/prr.rs";
    "reduction" "linux-2.4" "reduction/halving.rs";
    "reduction" "flight-bound" "reduction/bound.rs";
    "law" "hystart" "law/hystart.rs";
    "law" "hystart++" "law/hystart_plus.rs";
    "law" "search" "law/search.rs";
    "law" "limited-slow-start" "law/limited_slow_start.rs";
    "pace" "pacing" "pace/mod.rs";
    "pace" "delivery-rate" "conn/ledger.rs";
    "share" "ssthresh" "share/mod.rs";
    "share" "host-queue" "share/queue.rs";
    "timer" "rto" "conn/rtt.rs";
    "receiver" "receiver" "conn/receiver.rs";
    "receiver" "ack-habit" "conn/habit.rs";
    "receiver" "sack-compression" "conn/sack_compression.rs";
    "receiver" "slow-reader" "conn/reading.rs";
    "connection" "acceptance" "conn/accept.rs";
    "connection" "ending" "conn/ending.rs";
    "connection" "keepalive" "conn/keepalive.rs";
    "connection" "window-probes" "sender/persist.rs";
};

/// Every element of TCP. Laws and detectors, of losses and of spurious timeouts, stand in the tables of their own folders.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    super::law::ROWS.iter().chain(super::detect::ROWS).chain(super::undo::ROWS).chain(OTHERS)
}
