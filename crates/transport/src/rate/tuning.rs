//! Parameters of the rate-based transports that may change while a flow lives: those that they read anew whenever they need
//! them. The others are in what was made from them when the flow began.

use crate::tfrc::TfrcParams;
use crate::udt::UdtParams;
use std::sync::Arc;

/// Parameters of one of the transports.
#[derive(Clone, Debug, PartialEq)]
pub enum Tuning {
    Tfrc(Arc<TfrcParams>),
    Udt(Arc<UdtParams>),
}

/// Keys of `tfrc` that may change.
pub const TFRC_KEYS: &[&str] = &[
    "feedback_size",
    "ecn",
    "equation",
    "segments_per_ack",
    "timeout_term",
    "rto_tick",
    "rtt_memory",
    "initial_window",
    "increase",
    "slow_start",
    "conservative",
    "conservative_gain",
    "interpacket_correction",
    "no_feedback_rtts",
    "no_feedback",
    "minimum_rate",
    "max_backoff",
    "discounting",
    "discount_floor",
    "event_clock",
    "event_per_round",
    "feedback_per_rtt",
    "headercast",
];

/// Keys of `udt` that may change.
pub const UDT_KEYS: &[&str] =
    &["control_interval", "pair_every_packets", "window_control", "window_limit_packets", "expiry"];
