//! Profiles of TFRC: a standard, a program or a testbed is a row.

use super::params::*;
use crate::tcp::choices::Switch;
use crosswind_base::registry::Preset;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Dur};
use serde_json::Value;

/// Every profile; the first is the default.
pub const PRESETS: &[Preset<TfrcParams>] = &[
    Preset { name: "rfc5348", title: "TFRC: the standard", source: "rfc5348", make: rfc5348 },
    Preset { name: "rfc3448", title: "TFRC: the first standard", source: "rfc3448", make: rfc3448 },
    Preset { name: "ns2-tfrc", title: "TFRC: ns-2 Agent/TFRC and Agent/TFRCSink", source: "ns-2.35", make: ns2 },
    Preset {
        name: "ns2-tfrc-2003",
        title: "TFRC: ns-2 before October 2004, one packet in the first round-trip time",
        source: "ns-2.35 (`rate_init_option_` 1)",
        make: ns2_2003,
    },
    Preset {
        name: "ns2-tfrc-old",
        title: "TFRC: ns-2 before October 2004, all of its sender",
        source: "an older `tcp/tfrc.cc` of ns-2 (`conservative_`, no `slow_increase_`)",
        make: ns2_old,
    },
    Preset {
        name: "testbed-tfrc",
        title: "TFRC: a user-level program that never sends less than one packet per round-trip time",
        source: "gurtov-2004 section 6.3",
        make: testbed,
    },
];

fn rfc5348() -> TfrcParams {
    TfrcParams {
        packet_size: Size(1000),
        feedback_size: Size(u64::from(super::FEEDBACK_BYTES)),
        ecn: Switch::Off,
        send_queue_packets: 100,
        equation: Equation::Rfc,
        segments_per_ack: 1,
        timeout_term: TimeoutTerm::FourRtts,
        rto_tick: Dur::from_millis(100),
        rtt_sample: RttSample::Path,
        rtt_memory: 0.9,
        first_interval: Dur::from_secs(1),
        initial_window: InitialWindow::Rfc3390,
        law: RateLaw::Rfc5348,
        increase: Increase::Jump,
        slow_start: SlowStart::Step,
        conservative: Switch::Off,
        conservative_gain: 1.5,
        interpacket_correction: Switch::Off,
        no_feedback_rtts: 4,
        no_feedback_initial: Dur::from_secs(2),
        no_feedback: NoFeedback::Limit,
        minimum_rate: MinimumRate::PacketPerBackoff,
        max_backoff: Dur::from_secs(64),
        loss_intervals: 8,
        partial_history: PartialHistory::DropOldest,
        discounting: Switch::On,
        discount_floor: 0.25,
        seed: FirstInterval::Equation,
        dupthresh: 3,
        early_losses: Switch::On,
        event_clock: EventClock::Arrival,
        event_per_round: Switch::Off,
        feedback_per_rtt: 1,
        feedback_clock: FeedbackClock::Timer,
        headercast: Switch::Off,
        notify: Vec::new(),
    }
}

fn rfc3448() -> TfrcParams {
    TfrcParams {
        initial_window: InitialWindow::OnePacket,
        law: RateLaw::Rfc3448,
        interpacket_correction: Switch::On,
        discount_floor: 0.5,
        ..rfc5348()
    }
}

fn ns2() -> TfrcParams {
    TfrcParams {
        feedback_size: Size(40),
        equation: Equation::Ns2,
        timeout_term: TimeoutTerm::Ns2,
        rtt_memory: 0.95,
        // 300 B/s with packets of 1000 B.
        first_interval: Dur::from_micros(3_333_333),
        law: RateLaw::Ns2,
        increase: Increase::PacketPerRtt,
        slow_start: SlowStart::Ramp,
        interpacket_correction: Switch::On,
        no_feedback_rtts: 2,
        no_feedback_initial: Dur::from_micros(6_666_667),
        no_feedback: NoFeedback::Rate,
        partial_history: PartialHistory::KeepAll,
        discount_floor: 0.5,
        seed: FirstInterval::EquationCut,
        dupthresh: 1,
        early_losses: Switch::Off,
        event_clock: EventClock::Sent,
        event_per_round: Switch::On,
        feedback_clock: FeedbackClock::Arrivals,
        ..rfc5348()
    }
}

/// The releases before `rate_init_option_ 2` became the default; `rate_init_` is 1.
fn ns2_2003() -> TfrcParams {
    TfrcParams { initial_window: InitialWindow::OnePacket, ..ns2() }
}

/// Without `slow_increase_` and `ss_changes_` too; the receiver is that of later releases.
fn ns2_old() -> TfrcParams {
    TfrcParams { law: RateLaw::OldNs2, rtt_sample: RttSample::Whole, ..ns2_2003() }
}

fn testbed() -> TfrcParams {
    TfrcParams { minimum_rate: MinimumRate::PacketPerRtt, ..rfc3448() }
}

/// Names of all profiles.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|p| p.name).collect()
}

/// The parameters of a profile.
pub fn preset(name: &str) -> Option<TfrcParams> {
    PRESETS.iter().find(|p| p.name == name).map(|p| (p.make)())
}

/// Reads the `tfrc` table of a flow: `preset` with everything else as overrides.
pub fn read(value: &Value, path: &str) -> Result<TfrcParams, ConfigError> {
    let params: TfrcParams = crate::bundle::read(value, path, &names(), preset)?;
    params.check(path)?;
    Ok(params)
}
