//! What a user may set on a TFRC flow, and the profiles: values of this type under a name.

use crate::tcp::choices::{Switch, choice};
use crosswind_base::units::Size;
use crosswind_base::{BitRate, ConfigError, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// The throughput equation.
    Equation {
        /// As the RFCs write it.
        Rfc,
        /// The factor of the timeout term is at most 1, and the inverse is found within 5 %.
        #[serde(rename = "ns-2")]
        Ns2,
    }
);
choice!(
    /// The retransmission timeout in the equation.
    TimeoutTerm {
        /// Four round-trip times (RFC 5348 section 3.1).
        FourRtts,
        /// That of a TCP whose clock has coarse ticks (`rto_tick`).
        #[serde(rename = "ns-2")]
        Ns2,
    }
);
choice!(
    /// The rate after the first feedback.
    InitialWindow {
        /// The initial window of TCP per round-trip time (RFC 3390).
        Rfc3390,
        /// One packet per round-trip time (RFC 3448).
        OnePacket,
    }
);
choice!(
    /// Which rule turns feedback into the allowed rate.
    RateLaw {
        /// RFC 5348: at most twice the highest receive rate of two round-trip times; exempt while the application limits.
        Rfc5348,
        /// RFC 3448: at most twice the receive rate that was reported last.
        Rfc3448,
        /// ns-2's sender: slow start by steps per feedback, then increase and decrease as two cases.
        #[serde(rename = "ns-2")]
        Ns2,
        /// ns-2's sender before October 2004: a slow start of its own, which an expiry ends. `initial_window` and
        /// `slow_start` do not matter to it.
        #[serde(rename = "ns-2-old")]
        OldNs2,
    }
);

impl RateLaw {
    /// ns-2 does not plan the next packet anew when the rate changes, and sends when its timer expires.
    pub fn is_ns2(self) -> bool {
        matches!(self, RateLaw::Ns2 | RateLaw::OldNs2)
    }
}

choice!(
    /// What a report tells of the round-trip time.
    RttSample {
        /// That of the path: without the time for which the receiver held the report (RFC 5348 section 4.3).
        Path,
        /// All of the time since the packet was sent (ns-2 before October 2004).
        Whole,
    }
);
choice!(
    /// How the rate rises to what the equation allows.
    Increase {
        /// At once.
        Jump,
        /// By a packet per round-trip time for each round-trip time since the last change, at most by two (ns-2).
        PacketPerRtt,
    }
);
choice!(
    /// How the doubled rate of slow start is taken up.
    SlowStart {
        /// At once.
        Step,
        /// Packet by packet over one round-trip time (ns-2's `slow_increase_`).
        Ramp,
    }
);
choice!(
    /// What an expiry of the no-feedback timer halves.
    NoFeedback {
        /// The remembered receive rate or the rate of the equation, whichever limits (RFC 5348 section 4.4).
        Limit,
        /// The allowed rate itself (ns-2).
        Rate,
    }
);
choice!(
    /// The rate below which no congestion brings a sender.
    MinimumRate {
        /// One packet in `max_backoff`.
        PacketPerBackoff,
        /// One packet per round-trip time: the user-level TFRC of the testbed.
        PacketPerRtt,
    }
);
choice!(
    /// Which intervals stand beside the open one while there are fewer than `loss_intervals`.
    PartialHistory {
        /// All but the oldest (RFC 5348 section 5.4).
        DropOldest,
        /// All (ns-2).
        KeepAll,
    }
);
choice!(
    /// The interval before the first loss.
    FirstInterval {
        /// The one for which the equation gives the rate at which packets arrived (RFC 5348 section 6.3.1).
        Equation,
        /// The same, cut to whole packets (ns-2).
        EquationCut,
        /// The packets that came.
        Counted,
    }
);
choice!(
    /// The times that decide whether two losses belong to one loss event.
    EventClock {
        /// Of arrival.
        Arrival,
        /// Of sending (ns-2).
        Sent,
    }
);
choice!(
    /// When the receiver reports.
    FeedbackClock {
        /// When a timer expires (RFC 5348 section 6.2).
        Timer,
        /// When a packet comes a round-trip time after the last report; or one and a half after it, without (ns-2).
        Arrivals,
    }
);

/// What the receiver is told about a new link (explicit handover notification).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// When the receiver learns of it: time since the start of the run.
    pub at: Dur,
    /// Capacity of the new link.
    pub rate: BitRate,
    /// Round-trip time over the new link.
    pub rtt: Dur,
    /// For how many of these round-trip times it reports the new link instead of what it measures.
    #[serde(default = "three")]
    pub for_rtts: u32,
    /// Whether it then forgets the loss intervals and the receive rate of the old link.
    #[serde(default = "on")]
    pub reset: Switch,
}

fn three() -> u32 {
    3
}
fn on() -> Switch {
    Switch::On
}

/// Parameters of TFRC, of both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TfrcParams {
    /// Bytes of a packet on the wire, IP header included: `s` of the equation. A `cbr` or `on-off` application decides it
    /// by its `payload`.
    pub packet_size: Size,
    /// Bytes of a feedback packet on the wire.
    pub feedback_size: Size,
    /// Data packets are ECN-capable, and a mark counts as a loss.
    pub ecn: Switch,
    /// Datagrams that wait when the application is faster than the allowed rate; the newest is refused.
    pub send_queue_packets: u32,
    /// The throughput equation.
    pub equation: Equation,
    /// `b` of the equation.
    pub segments_per_ack: u32,
    /// `t_RTO` of the equation.
    pub timeout_term: TimeoutTerm,
    /// Tick of the clock with which `timeout_term = "ns-2"` measures.
    pub rto_tick: Dur,
    /// What a report tells of the round-trip time.
    pub rtt_sample: RttSample,
    /// Weight of the old value in the mean round-trip time (`q`).
    pub rtt_memory: f64,
    /// Time between the first packets, until the first feedback.
    pub first_interval: Dur,
    /// The rate after the first feedback.
    pub initial_window: InitialWindow,
    /// Which rule turns feedback into the allowed rate.
    pub law: RateLaw,
    /// How the rate rises to what the equation allows.
    pub increase: Increase,
    /// How the doubled rate of slow start is taken up.
    pub slow_start: SlowStart,
    /// Self-clocking: the receive rate itself is the limit after a report of losses, and `conservative_gain` times it
    /// otherwise.
    pub conservative: Switch,
    /// See `conservative`.
    pub conservative_gain: f64,
    /// The time between packets follows the last round-trip time, against oscillation.
    pub interpacket_correction: Switch,
    /// Round-trip times without feedback after which the rate is reduced (never less than two packets take).
    pub no_feedback_rtts: u32,
    /// The same before the first feedback, as a time.
    pub no_feedback_initial: Dur,
    /// What that expiry halves.
    pub no_feedback: NoFeedback,
    /// The rate below which no congestion brings the sender.
    pub minimum_rate: MinimumRate,
    /// Longest time between two packets (`t_mbi`).
    pub max_backoff: Dur,
    /// Loss intervals that are averaged (`n`).
    pub loss_intervals: u32,
    /// Which of them stand beside the open one while there are fewer.
    pub partial_history: PartialHistory,
    /// History discounting.
    pub discounting: Switch,
    /// Smallest weight that it leaves.
    pub discount_floor: f64,
    /// The interval before the first loss.
    pub seed: FirstInterval,
    /// Later packets that prove a loss.
    pub dupthresh: u32,
    /// Packets that are missing before the first one that arrives are losses.
    pub early_losses: Switch,
    /// The times that decide whether two losses belong to one loss event.
    pub event_clock: EventClock,
    /// A further loss event needs a packet that was sent after the sender had answered to the last one (ns-2's
    /// `PreciseLoss_`).
    pub event_per_round: Switch,
    /// Reports per round-trip time.
    pub feedback_per_rtt: u32,
    /// When the receiver reports.
    pub feedback_clock: FeedbackClock,
    /// The first feedback after a silence undoes what the no-feedback timer did to the rate (headercasting).
    pub headercast: Switch,
    /// What the receiver is told about new links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<Notice>,
}

impl TfrcParams {
    /// Refuses combinations that make no sense. `path` is where the parameters stand in the scenario.
    pub fn check(&self, path: &str) -> Result<(), ConfigError> {
        let wrong = |key: &str, found: String, expected: &str| {
            Err(ConfigError::new(format!("{path}.{key}"), found, expected.to_string()))
        };
        let headers = u64::from(super::packet::DATA_HEADERS_BYTES);
        if !(headers + 1..=65_535).contains(&self.packet_size.0) {
            let found = format!("{} B", self.packet_size.0);
            return wrong("packet_size", found, &format!("from {} B (headers and a byte) to 65535 B", headers + 1));
        }
        if !(28..=65_535).contains(&self.feedback_size.0) {
            return wrong("feedback_size", format!("{} B", self.feedback_size.0), "from 28 B to 65535 B");
        }
        for (key, value, least) in [
            ("send_queue_packets", self.send_queue_packets, 1),
            ("segments_per_ack", self.segments_per_ack, 1),
            ("no_feedback_rtts", self.no_feedback_rtts, 1),
            ("loss_intervals", self.loss_intervals, 2),
            ("dupthresh", self.dupthresh, 1),
            ("feedback_per_rtt", self.feedback_per_rtt, 1),
        ] {
            if !(least..=1_000_000).contains(&value) {
                return wrong(key, value.to_string(), &format!("from {least} to 1000000"));
            }
        }
        for (key, value, range) in [
            ("rtt_memory", self.rtt_memory, 0.0..1.0),
            ("discount_floor", self.discount_floor, 0.001..1.000_001),
            ("conservative_gain", self.conservative_gain, 1.0..1000.0),
        ] {
            if !range.contains(&value) {
                return wrong(key, value.to_string(), &format!("at least {} and below {}", range.start, range.end));
            }
        }
        for (key, value) in [
            ("rto_tick", self.rto_tick),
            ("first_interval", self.first_interval),
            ("no_feedback_initial", self.no_feedback_initial),
            ("max_backoff", self.max_backoff),
        ] {
            if value == Dur::ZERO || value > Dur::from_secs(3600) {
                return wrong(key, crosswind_base::units::show_dur(value), "more than zero, at most an hour");
            }
        }
        if let Some(i) = self.notify.windows(2).position(|pair| pair[0].at > pair[1].at) {
            return wrong(&format!("notify[{}].at", i + 1), "an earlier time".into(), "notices in the order of time");
        }
        if let Some(i) = self.notify.iter().position(|n| n.rtt == Dur::ZERO || n.for_rtts == 0) {
            return wrong(&format!("notify[{i}]"), "no time".into(), "an rtt and for_rtts above zero");
        }
        Ok(())
    }
}
