//! Named bundles of parameters: a paper or an operating system is a row, not a class.

use super::detect::delayed_response::Wait;
use super::ecn::Capable;
use super::law::cubic::CubicVersion;
use super::law::ltcp::Decrease;
use super::params::*;
use super::signal::early::{Cost, CurveName, Falls};
use crosswind_base::registry::Preset;
use crosswind_base::units::Size;
use crosswind_base::{ConfigError, Dur};
use serde_json::{Map, Value};

/// Every preset, in the order of `crosswind list presets`.
pub const PRESETS: &[Preset<TcpParams>] = &[
    Preset { name: "rfc", title: "What the RFCs recommend", source: "rfc5681, rfc6675, rfc6298, rfc3042", make: rfc },
    Preset {
        name: "baseline-linux-2.4",
        title: "Baseline TCP: patched Linux 2.4.22",
        source: "jarvinen-2006 section 2.5",
        make: baseline,
    },
    Preset {
        name: "enhanced-linux-2.4",
        title: "Enhanced TCP: baseline + initial window 4, shared ssthresh, F-RTO",
        source: "jarvinen-2006 section 2.6",
        make: enhanced,
    },
    Preset {
        name: "linux-2.4.17",
        title: "Linux 2.4.17 as [Riva 2003] ran it: full segments, timestamps, an ACK for each",
        source: "riva-2003 sections 2.7 and 3.5",
        make: linux_2_4_17,
    },
    Preset {
        name: "linux-2.4-highspeed",
        title: "Linux 2.4.20 on fast long paths: large buffers, timestamps, growth by ACKs",
        source: "igarashi sections 2.10, 3.1 and 3.2",
        make: linux_2_4_highspeed,
    },
    Preset {
        name: "sack-2006",
        title: "TCP-SACK as the comparisons of a thesis have it",
        source: BHANDARKAR,
        make: sack_2006,
    },
    Preset { name: "sack-dcr", title: "SACK with a delayed response (TCP-DCR)", source: BHANDARKAR, make: sack_dcr },
    Preset { name: "ltcp", title: "Layered TCP, fixed decrease", source: BHANDARKAR, make: ltcp },
    Preset { name: "ltcp-variable", title: "Layered TCP, variable decrease", source: BHANDARKAR, make: ltcp_variable },
    Preset { name: "ltcp-dcr", title: "Layered TCP with a delayed response", source: BHANDARKAR, make: ltcp_dcr },
    Preset { name: "pert", title: "SACK with an early response (PERT)", source: BHANDARKAR, make: pert },
    Preset { name: "pert-rem", title: "PERT with the price of REM", source: BHANDARKAR, make: pert_rem },
    Preset { name: "pert-pi", title: "PERT with a PI controller", source: BHANDARKAR, make: pert_pi },
    Preset { name: "ltcp-pert", title: "Layered TCP with an early response", source: BHANDARKAR, make: ltcp_pert },
    Preset { name: "tcp-ldp", title: "Layered TCP, delayed response, PERT, paced", source: BHANDARKAR, make: tcp_ldp },
    Preset {
        name: "ldp-1sample",
        title: "TCP-LDP, one sample between responses",
        source: BHANDARKAR,
        make: ldp_1sample,
    },
    Preset {
        name: "ldp-100sample",
        title: "TCP-LDP, a hundred samples between responses",
        source: BHANDARKAR,
        make: ldp_100sample,
    },
    Preset { name: "linux-6", title: "Linux 6 with Reno: RACK-TLP, PRR, F-RTO", source: LINUX_6, make: linux_6 },
    Preset {
        name: "linux-6-cubic",
        title: "Linux 6 as it comes: CUBIC with HyStart",
        source: LINUX_6,
        make: linux_6_cubic,
    },
    Preset { name: "linux-6-dctcp", title: "Linux 6 with DCTCP", source: "rfc8257; linux-6.18", make: linux_6_dctcp },
    Preset {
        name: "prague",
        title: "TCP Prague 0.6 over Linux 6",
        source: "tcp-prague; rfc9331, rfc9768",
        make: prague,
    },
    Preset {
        name: "prague-0.5",
        title: "TCP Prague 0.5, without RTT independence",
        source: "tcp-prague",
        make: prague_0_5,
    },
    Preset {
        name: "linux-6-bbr",
        title: "Linux 6 with BBR (version 1)",
        source: "cardwell-2017; linux-6.18",
        make: linux_6_bbr,
    },
    Preset { name: "bbr3", title: "BBR version 3 by the draft", source: "draft-ietf-ccwg-bbr; rfc8985", make: bbr3 },
    Preset {
        name: "bbr3-google",
        title: "BBR version 3 as Google's kernel has it",
        source: "google-bbr-v3; rfc8985",
        make: bbr3_google,
    },
    Preset { name: "ns2-tahoe", title: "ns-2 Agent/TCP (Tahoe)", source: "ns-2.35", make: ns2_tahoe },
    Preset { name: "ns2-reno", title: "ns-2 Agent/TCP/Reno", source: "ns-2.35", make: ns2_reno },
    Preset { name: "ns2-newreno", title: "ns-2 Agent/TCP/Newreno", source: "ns-2.35", make: ns2_newreno },
    Preset { name: "ns2-sack1", title: "ns-2 Agent/TCP/Sack1", source: "ns-2.35", make: ns2_sack1 },
    Preset {
        name: "gurtov-reno-sack",
        title: "Sender of the Eifel study: ns-2's Sack1 with timestamps",
        source: "gurtov-2004 section 4.4",
        make: gurtov_reno_sack,
    },
    Preset {
        name: "gurtov-newreno-sack",
        title: "The same with NewReno-SACK",
        source: "gurtov-2004 section 4.3.1",
        make: gurtov_newreno_sack,
    },
    Preset {
        name: "gurtov-fack",
        title: "The same with forward acknowledgement",
        source: "gurtov-2004 section 4.3.1",
        make: gurtov_fack,
    },
];

const BHANDARKAR: &str = "bhandarkar-2006";
const LINUX_6: &str = "linux-6.18; rfc8985, rfc6937, rfc5682";

#[rustfmt::skip]
fn rfc() -> TcpParams {
    TcpParams {
        mss: Size(1460), mss_option: None,
        handshake: Handshake::ThreeWay,
        initial_window_segments: 10, initial_ssthresh: Size(1 << 30), syn_loss: SynLoss::Initial,
        grow_on_recovery_exit: Switch::Off,
        law: LawName::Reno,
        law_table: Vec::new(), own_law: String::new(), own: Maker::default(),
        aimd: AimdParams::default(), ltcp: LtcpParams::default(), hstcp: HstcpParams::default(),
        scalable: ScalableParams::default(),
        bbr: BbrParams::default(), bbr3: Bbr3Params::default(), copa: CopaParams::default(), ledbat: LedbatParams::default(), bic: BicParams::default(),
        dctcp: DctcpParams::default(), prague: PragueParams::default(),
        htcp: HtcpParams::default(), fast: FastParams::default(),
        cubic: CubicParams::default(),
        vegas: VegasParams::default(),
        westwood: WestwoodParams::default(),
        avoidance_counting: AvoidanceCounting::Bytes,
        grow_when: GrowWhen::WindowLimited,
        reduce_from: ReduceFrom::Flight,
        window_moderation: WindowModeration::Off,
        recovery: Detection::Sack,
        dupthresh: 3,
        limited_transmit: Switch::On, dcr: DcrParams::default(), early: EarlyParams::default(), pacing: Pacing::Off, pacing_burst: PacingBurst::Segment,
        slow_start: SlowStart::Standard, hystart: SlowStartParams::default(), reduction: Reduction::AtOnce, flight_bound: Switch::Off, tail_probe: TailProbe::Off,
        host_queue: HostQueueParams::default(), sack: Switch::On,
        sack_after_timeout: SackAfterTimeout::Clear,
        timestamps: Switch::Off, timestamp_tick: Dur::from_millis(1),
        paws: Paws::Rfc7323, reset_rule: ResetRule::Rfc5961, window_probe: WindowProbe::Byte,
        time_wait: TimeWait::default(), keepalive: KeepaliveParams::default(),
        window_scaling: Switch::On,
        ecn: EcnMode::Off, codepoint: Codepoint::Ect0, ecn_rules: EcnRules::default(),
        rto: RtoProfile::Rfc6298,
        rto_initial: Dur::from_secs(1),
        rto_min: Dur::from_secs(1),
        rto_max: Dur::from_secs(60),
        rto_tick: Dur::from_millis(1),
        rtt_sampling: RttSampling::PerAck,
        restart_timer_on_retransmission: Switch::Off,
        timeout_in_recovery: TimeoutInRecovery::Reduce,
        retransmit_overdue: Switch::Off,
        retries_max: 15,
        frto: Frto::Off,
        frto_peer_retransmissions: PeerRetransmissions::Ignore,
        // Spurious timeouts, and what duplicates mean after a timeout.
        eifel: Switch::Off, dsack: Switch::Off, spurious_unlock: Switch::On, recovery_undo: RecoveryUndo::Off,
        spurious_response: SpuriousResponse::Halved, spurious_timer: SpuriousTimer::Std,
        spurious_timer_step: Dur::from_secs(1), timestamp_echo: TimestampEcho::Rfc1323,
        timeout_threshold: TimeoutThreshold::First, backoff_end: BackoffEnd::Sample,
        dupack_guard: DuplicatesRule::Bugfix, newreno: NewRenoParams::default(),
        idle_restart: Switch::On,
        nagle: Switch::On,
        send_buffer: Size(1 << 30),
        receive_buffer: Size(64 << 20),
        receive_window: ReceiveWindow::Buffer,
        receive_truesize: Size(1728),
        receive_overhead_shift: 2,
        receive_application_shift: 31,
        delayed_ack: Dur::from_millis(200),
        delayed_ack_timer: DelayedAckTimer::PerSegment, final_segment: FinalSegment::Window, writing: Writing::Whole,
        ack_every_segments: 2, receiver: ReceiverOs::AsGiven, ack_habit: AckHabitParams::default(),
        quick_acks: 0,
        sack_blocks: 3,
        share_ssthresh: Switch::Off,
        share_rtt: Switch::Off,
        initial_window_known_segments: 0,
        max_burst_segments: 0,
        window_limit_segments: 0,
    }
}

fn baseline() -> TcpParams {
    TcpParams {
        mss: Size(536),
        initial_window_segments: 2,
        initial_ssthresh: Size(65535),
        avoidance_counting: AvoidanceCounting::Acks,
        reduce_from: ReduceFrom::Flight,
        sack_after_timeout: SackAfterTimeout::Keep,
        window_scaling: Switch::Off,
        rto: RtoProfile::PeakDeviation,
        rto_initial: Dur::from_secs(3),
        rto_min: Dur::from_millis(200),
        rto_max: Dur::from_secs(120),
        rto_tick: Dur::from_millis(10),
        restart_timer_on_retransmission: Switch::On,
        timeout_in_recovery: TimeoutInRecovery::Hold,
        send_buffer: Size(131_072),
        receive_buffer: Size(87380),
        receive_window: ReceiveWindow::Growing,
        window_probe: WindowProbe::AckBelow,
        paws: Paws::DataOnly,
        time_wait: TimeWait(Dur::from_secs(60)),
        reset_rule: ResetRule::Rfc793,
        ..rfc()
    }
}

fn enhanced() -> TcpParams {
    TcpParams { initial_window_segments: 4, share_ssthresh: Switch::On, frto: Frto::Basic, ..baseline() }
}

fn linux_2_4_17() -> TcpParams {
    TcpParams {
        mss: Size(1448),
        initial_ssthresh: Size(1 << 30),
        syn_loss: SynLoss::OneAndThresholdOfTwo,
        rto: RtoProfile::PeakDeviationPerAck,
        reduce_from: ReduceFrom::Cwnd,
        recovery: Detection::LinuxFack,
        reduction: Reduction::RateHalving,
        window_moderation: WindowModeration::ThreeAboveFlight,
        timestamps: Switch::On,
        timestamp_tick: Dur::from_millis(10),
        final_segment: FinalSegment::WithPrevious,
        receive_buffer: Size(65535),
        receive_window: ReceiveWindow::Buffer,
        delayed_ack: Dur::ZERO,
        retransmit_overdue: Switch::On,
        share_ssthresh: Switch::On,
        share_rtt: Switch::On,
        initial_window_known_segments: 3,
        ..baseline()
    }
}

/// The senders of [Igarashi 2007] chapters 4 and 5: nothing is remembered of earlier connections, and the window is what the
/// socket buffer allows.
fn linux_2_4_highspeed() -> TcpParams {
    TcpParams {
        share_ssthresh: Switch::Off,
        share_rtt: Switch::Off,
        initial_window_known_segments: 0,
        syn_loss: SynLoss::Initial,
        rto: RtoProfile::PeakDeviation,
        recovery: Detection::Sack,
        reduction: Reduction::AtOnce,
        window_moderation: WindowModeration::Off,
        window_scaling: Switch::On,
        timestamp_tick: Dur::from_millis(10),
        receive_buffer: Size(1 << 30),
        send_buffer: Size(1 << 30),
        final_segment: FinalSegment::Window,
        ..linux_2_4_17()
    }
}

/// A kernel of today as its users have it, but for the law: pacing needs a queue of its own (fq), which is not the default.
fn linux_6() -> TcpParams {
    TcpParams {
        mss: Size(1448),
        avoidance_counting: AvoidanceCounting::Segments,
        grow_when: GrowWhen::FullInRound,
        reduce_from: ReduceFrom::Cwnd,
        recovery: Detection::Rack,
        reduction: Reduction::PrrSafeAck,
        tail_probe: TailProbe::On,
        sack_after_timeout: SackAfterTimeout::Keep,
        timestamps: Switch::On,
        rto: RtoProfile::PeakDeviation,
        rto_min: Dur::from_millis(200),
        rto_max: Dur::from_secs(120),
        rto_tick: Dur::from_micros(1),
        restart_timer_on_retransmission: Switch::On,
        timeout_in_recovery: TimeoutInRecovery::Hold,
        frto: Frto::AnyOriginal,
        rtt_sampling: RttSampling::PerSack,
        dsack: Switch::On,
        spurious_response: SpuriousResponse::Full,
        recovery_undo: RecoveryUndo::Both,
        delayed_ack: Dur::from_millis(40),
        quick_acks: 16,
        window_probe: WindowProbe::AckBelow,
        paws: Paws::DataOnly,
        time_wait: TimeWait(Dur::from_secs(60)),
        ..rfc()
    }
}

fn linux_6_cubic() -> TcpParams {
    let cubic = CubicParams { version: CubicVersion::Linux6, ..CubicParams::default() };
    TcpParams { law: LawName::Cubic, slow_start: SlowStart::Hystart, cubic, ..linux_6() }
}

fn linux_6_dctcp() -> TcpParams {
    TcpParams { law: LawName::Dctcp, ecn: EcnMode::Dctcp, ..linux_6() }
}

fn prague() -> TcpParams {
    let ecn_rules = EcnRules { capable: Capable::All, ..EcnRules::default() };
    TcpParams { law: LawName::Prague, ecn: EcnMode::Accurate, codepoint: Codepoint::Ect1, ecn_rules, ..linux_6() }
}

fn prague_0_5() -> TcpParams {
    let law = PragueParams {
        rtt_scaling: RttScaling::Off,
        target_rtt: Dur::from_millis(15),
        transition_rounds: 100,
        pacing: PragueRate::LargestOfWindowAndFlight,
        ..PragueParams::default()
    };
    TcpParams { prague: law, ..prague() }
}

fn linux_6_bbr() -> TcpParams {
    TcpParams { law: LawName::Bbr, ..linux_6() }
}

fn bbr3() -> TcpParams {
    TcpParams { law: LawName::Bbr3, ..linux_6() }
}

fn bbr3_google() -> TcpParams {
    TcpParams { bbr3: Bbr3Params::google(), ..bbr3() }
}

fn ns2_reno() -> TcpParams {
    TcpParams {
        mss: Size(1000),
        handshake: Handshake::Ns2,
        initial_window_segments: 2,
        grow_on_recovery_exit: Switch::On,
        initial_ssthresh: Size(20_000),
        window_limit_segments: 20,
        restart_timer_on_retransmission: Switch::Off,
        avoidance_counting: AvoidanceCounting::Fraction,
        grow_when: GrowWhen::Always,
        reduce_from: ReduceFrom::SmallerWindow,
        recovery: Detection::Ns2Reno,
        sack: Switch::Off,
        rto: RtoProfile::CoarseTicks,
        rto_initial: Dur::from_secs(3),
        rto_min: Dur::from_millis(200),
        rto_max: Dur::from_secs(60),
        rto_tick: Dur::from_millis(10),
        timestamp_echo: TimestampEcho::Bis,
        paws: Paws::Off,
        timeout_threshold: TimeoutThreshold::Every,
        backoff_end: BackoffEnd::NewData,
        rtt_sampling: RttSampling::PerWindow,
        retries_max: 1_000_000,
        idle_restart: Switch::Off,
        nagle: Switch::Off,
        delayed_ack: Dur::ZERO,
        ..rfc()
    }
}

fn ns2_tahoe() -> TcpParams {
    TcpParams { recovery: Detection::Ns2Tahoe, ..ns2_reno() }
}

fn ns2_newreno() -> TcpParams {
    TcpParams { recovery: Detection::Ns2Newreno, ..ns2_reno() }
}

fn ns2_sack1() -> TcpParams {
    TcpParams { recovery: Detection::Ns2Sack1, sack: Switch::On, grow_on_recovery_exit: Switch::Off, ..ns2_reno() }
}

/// The senders of [Gurtov 2004] chapter 4: ns-2's one-way agents with timestamps, the timer of RFC 2988 and delayed ACKs.
fn gurtov_reno_sack() -> TcpParams {
    TcpParams {
        window_limit_segments: 150,
        initial_ssthresh: Size(150_000),
        timestamps: Switch::On,
        timestamp_echo: TimestampEcho::Rfc1323,
        backoff_end: BackoffEnd::Sample,
        rto_min: Dur::from_secs(1),
        rto_max: Dur::from_secs(64),
        delayed_ack: Dur::from_millis(100),
        spurious_response: SpuriousResponse::Full,
        ..ns2_sack1()
    }
}

fn gurtov_newreno_sack() -> TcpParams {
    TcpParams { recovery: Detection::NewrenoSack, ..gurtov_reno_sack() }
}

fn gurtov_fack() -> TcpParams {
    TcpParams { recovery: Detection::Fack, ..gurtov_reno_sack() }
}

/// ns-2's SACK sender in its habits (sizes, growth, an ACK for every segment, the timer as it was before October 2004), on the
/// scoreboard of RFC 6675: ns-2's own costs a walk over the window per retransmission.
fn sack_2006() -> TcpParams {
    TcpParams {
        mss: Size(1000),
        initial_window_segments: 2,
        avoidance_counting: AvoidanceCounting::Fraction,
        grow_when: GrowWhen::Always,
        reduce_from: ReduceFrom::SmallerWindow,
        rto_initial: Dur::from_secs(3),
        rto_min: Dur::from_secs(1),
        rto_tick: Dur::from_millis(10),
        restart_timer_on_retransmission: Switch::On,
        retries_max: 1_000_000,
        idle_restart: Switch::Off,
        nagle: Switch::Off,
        receive_buffer: Size(1 << 30),
        delayed_ack: Dur::ZERO,
        ..rfc()
    }
}

fn sack_dcr() -> TcpParams {
    TcpParams { dcr: DcrParams { wait: Wait::Timer, ..DcrParams::default() }, ..sack_2006() }
}

fn ltcp() -> TcpParams {
    TcpParams { law: LawName::Ltcp, ..sack_2006() }
}

fn ltcp_variable() -> TcpParams {
    TcpParams { ltcp: LtcpParams { decrease: Decrease::Variable, ..LtcpParams::default() }, ..ltcp() }
}

/// Chapter V of the thesis: the variable decrease and the adaptive threshold of RFC 4653.
fn ltcp_dcr() -> TcpParams {
    let dcr = DcrParams { wait: Wait::NcrAggressive, growth: Switch::Off, ..DcrParams::default() };
    TcpParams { dcr, ..ltcp_variable() }
}

fn early(curve: CurveName) -> EarlyParams {
    EarlyParams { curve, ..EarlyParams::default() }
}

fn pert() -> TcpParams {
    TcpParams { early: early(CurveName::GentleRed), ..sack_2006() }
}

fn pert_rem() -> TcpParams {
    TcpParams { early: early(CurveName::Rem), ..sack_2006() }
}

fn pert_pi() -> TcpParams {
    TcpParams { early: early(CurveName::Pi), ..sack_2006() }
}

fn ltcp_pert() -> TcpParams {
    TcpParams { early: EarlyParams { cost: Cost::Law, ..early(CurveName::GentleRed) }, ..ltcp_variable() }
}

fn tcp_ldp() -> TcpParams {
    let early = EarlyParams { cost: Cost::Law, falls: Falls::AtOnce, stale: Switch::On, ..early(CurveName::GentleRed) };
    let dcr = DcrParams { wait: Wait::Window, ..DcrParams::default() };
    TcpParams { dcr, early, pacing: Pacing::Window, ..ltcp_variable() }
}

fn ldp_1sample() -> TcpParams {
    let ldp = tcp_ldp();
    TcpParams { early: EarlyParams { pause_samples: 1, ..ldp.early.clone() }, ..ldp }
}

fn ldp_100sample() -> TcpParams {
    let ldp = tcp_ldp();
    TcpParams { early: EarlyParams { pause_samples: 100, ..ldp.early.clone() }, ..ldp }
}

/// Names of all presets.
pub fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|p| p.name).collect()
}

/// The parameters of a preset.
pub fn preset(name: &str) -> Option<TcpParams> {
    PRESETS.iter().find(|p| p.name == name).map(|p| (p.make)())
}

/// Former names of keys, which stay valid, and the present ones. Nothing else knows the former.
pub const FORMER_KEYS: &[(&str, &str)] = &[
    ("frto_peer_resends", "frto_peer_retransmissions"),
    ("resend_overdue", "retransmit_overdue"),
    ("restart_timer_on_resend", "restart_timer_on_retransmission"),
];

/// The table with present names. One key by both names is refused; `path` is where the table stands.
pub fn renamed(mut table: Map<String, Value>, path: &str) -> Result<Map<String, Value>, ConfigError> {
    for (former, present) in FORMER_KEYS {
        let Some(value) = table.remove(*former) else { continue };
        if table.contains_key(*present) {
            let found = format!("`{former}` beside `{present}`");
            return Err(ConfigError::new(format!("{path}.{former}"), found, "one of them: both are the same key"));
        }
        table.insert((*present).into(), value);
    }
    Ok(table)
}

/// Reads the `tcp` table of a flow: `preset` (default `rfc`) with everything else as overrides.
pub fn read(value: &Value, path: &str) -> Result<TcpParams, ConfigError> {
    let value = match super::receivers::expanded(value, path)? {
        Value::Object(table) => Value::Object(renamed(table, path)?),
        other => other,
    };
    let params: TcpParams = crate::bundle::read(&value, path, &names(), preset)?;
    params.check(path)?;
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn former_names_of_keys_are_read_as_the_present_ones() {
        let on = [
            ("frto_peer_retransmissions", json!("count-as-duplicate")),
            ("retransmit_overdue", json!("on")),
            ("restart_timer_on_retransmission", json!("on")),
        ];
        for ((former, present), (key, value)) in FORMER_KEYS.iter().zip(on) {
            assert_eq!(*present, key);
            let of = |name: &str| read(&json!({ name: value }), "tcp").expect("a key");
            assert_eq!(of(former), of(present), "{former}");
            assert_ne!(of(former), rfc(), "{former}");
            let both = read(&json!({ (*former): value, (*present): value }), "tcp").expect_err("one key twice");
            assert_eq!(both.path, format!("tcp.{former}"));
        }
        assert!(read(&json!({ "resends_overdue": "on" }), "tcp").is_err(), "no such key, then or now");
    }

    #[test]
    fn every_present_name_is_a_key_and_no_former_one_is() {
        let table = serde_json::to_value(rfc()).expect("parameters serialise");
        for (former, present) in FORMER_KEYS {
            assert!(table.get(*present).is_some() && table.get(*former).is_none(), "{former} {present}");
        }
    }
}
