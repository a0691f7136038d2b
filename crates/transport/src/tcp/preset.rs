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
    Preset { name: "praguecc", title: "PragueCC over Linux 6", source: "udp-prague; rfc9331, rfc9768", make: praguecc },
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
        connection: ConnectionParams {
            handshake: Handshake::ThreeWay, syn_loss: SynLoss::OneAfterTwo, mss: Size(1460), mss_option: None, sack: Switch::On,
            timestamps: Switch::Off, timestamp_tick: Dur::from_millis(1), window_scaling: Switch::On, paws: Paws::Rfc7323,
            reset_rule: ResetRule::Rfc5961, time_wait: TimeWait::default(), keepalive: KeepaliveParams::default(),
        },
        window: WindowParams {
            initial_window_segments: 10, initial_ssthresh: Size(1 << 30), grow_on_recovery_exit: Switch::Off,
            avoidance_counting: AvoidanceCounting::Bytes, grow_when: GrowWhen::WindowLimited,
            reduce_from: ReduceFrom::Flight, timeout_window: TimeoutWindow::OneSegment,
            window_moderation: WindowModeration::Off, reduction: Reduction::AtOnce, echo_reduction: EchoReduction::AtOnce,
            flight_bound: Switch::Off, idle_restart: IdleRestart::On, max_burst_segments: 0, window_limit_segments: 0,
            window_limit_holds: WindowLimit::Flight,
        },
        controller: ControllerParams::of(LawName::Reno),
        recovery: RecoveryParams {
            detection: Detection::Sack, dupthresh: 3, dcr: DcrParams::default(), tail_probe: TailProbe::Off,
            limited_transmit: Switch::On, sack_after_timeout: SackAfterTimeout::Clear,
            timeout_in_recovery: TimeoutInRecovery::Reduce, retransmit_overdue: Switch::Off,
            dupacks_after_timeout: DuplicatesRule::Bugfix, newreno: NewRenoParams::default(),
        },
        timers: TimerParams {
            rto: RtoProfile::Rfc6298, rto_initial: Dur::from_secs(1), rto_min: Dur::from_secs(1),
            rto_max: Dur::from_secs(60), rto_tick: Dur::from_millis(1), rtt_sampling: RttSampling::PerAck,
            restart_timer_on_retransmission: Switch::Off, timeout_threshold: TimeoutThreshold::First,
            backoff_end: BackoffEnd::Sample, retries_max: 15, window_probe: WindowProbe::Byte,
        },
        undo: UndoParams {
            frto: Frto::Off, frto_peer_retransmissions: PeerRetransmissions::Ignore, eifel: Switch::Off, dsack: Switch::Off,
            spurious_response: SpuriousResponse::Halved, spurious_timer: SpuriousTimer::Std,
            spurious_timer_step: Dur::from_secs(1), spurious_unlock: Switch::On, recovery_undo: Undo::Off,
            timeout_undo: Undo::Off,
        },
        ecn: EcnParams {
            mode: EcnMode::Off, codepoint: Codepoint::Ect0, ecn_rules: EcnRules::default(),
        },
        host: HostParams {
            pacing: Pacing::Off, pacing_limit: None, pacing_burst: PacingBurst::Segment, host_queue: HostQueueParams::default(),
            nagle: Switch::On, final_segment: FinalSegment::Window, writing: Writing::Whole, send_buffer: Size(1 << 30),
        },
        receiver: ReceiverParams {
            system: ReceiverOs::AsGiven, receive_buffer: Size(64 << 20), receive_window: ReceiveWindow::Buffer,
            receive_truesize: Size(1728), receive_overhead_shift: 2, receive_application_shift: 31,
            delayed_ack: Dur::from_millis(200), delayed_ack_timer: DelayedAckTimer::PerSegment, ack_every_segments: 2,
            ack_habit: AckHabitParams::default(), quick_acks: 0, sack_compression: Dur::ZERO,
            sack_blocks: 4, timestamp_echo: TimestampEcho::Rfc7323,
        },
        sharing: SharingParams {
            share_ssthresh: Switch::Off, share_rtt: Switch::Off, initial_window_known_segments: 0,
        },
    }
}

fn baseline() -> TcpParams {
    rfc().with(|p| {
        p.connection.mss = Size(536);
        p.window.initial_window_segments = 2;
        p.window.initial_ssthresh = Size(65535);
        p.connection.syn_loss = SynLoss::Initial;
        p.window.idle_restart = IdleRestart::Linux;
        p.window.avoidance_counting = AvoidanceCounting::Acks;
        p.window.reduce_from = ReduceFrom::Flight;
        p.recovery.sack_after_timeout = SackAfterTimeout::Keep;
        p.connection.window_scaling = Switch::Off;
        p.timers.rto = RtoProfile::PeakDeviation;
        p.timers.rto_initial = Dur::from_secs(3);
        p.timers.rto_min = Dur::from_millis(200);
        p.timers.rto_max = Dur::from_secs(120);
        p.timers.rto_tick = Dur::from_millis(10);
        p.timers.restart_timer_on_retransmission = Switch::On;
        p.recovery.timeout_in_recovery = TimeoutInRecovery::Hold;
        p.host.send_buffer = Size(131_072);
        p.receiver.receive_buffer = Size(87380);
        p.receiver.receive_window = ReceiveWindow::Growing;
        p.timers.window_probe = WindowProbe::AckBelow;
        p.connection.paws = Paws::DataOnly;
        p.connection.time_wait = TimeWait(Dur::from_secs(60));
        p.connection.reset_rule = ResetRule::Rfc793;
    })
}

fn enhanced() -> TcpParams {
    baseline().with(|p| {
        p.window.initial_window_segments = 4;
        p.sharing.share_ssthresh = Switch::On;
        p.undo.frto = Frto::EveryTimeout;
    })
}

fn linux_2_4_17() -> TcpParams {
    baseline().with(|p| {
        p.connection.mss = Size(1448);
        p.window.initial_ssthresh = Size(1 << 30);
        p.connection.syn_loss = SynLoss::OneAndThresholdOfTwo;
        p.timers.rto = RtoProfile::PeakDeviationPerAck;
        p.window.reduce_from = ReduceFrom::Cwnd;
        p.recovery.detection = Detection::LinuxFack;
        p.window.reduction = Reduction::RateHalving;
        p.window.window_moderation = WindowModeration::ThreeAboveFlight;
        p.connection.timestamps = Switch::On;
        p.connection.timestamp_tick = Dur::from_millis(10);
        p.host.final_segment = FinalSegment::WithPrevious;
        p.receiver.receive_buffer = Size(65535);
        p.receiver.receive_window = ReceiveWindow::Buffer;
        p.receiver.delayed_ack = Dur::ZERO;
        p.recovery.retransmit_overdue = Switch::On;
        p.sharing.share_ssthresh = Switch::On;
        p.sharing.share_rtt = Switch::On;
        p.sharing.initial_window_known_segments = 3;
    })
}

/// The senders of [Igarashi 2007] chapters 4 and 5: nothing is remembered of earlier connections, and the window is what the
/// socket buffer allows.
fn linux_2_4_highspeed() -> TcpParams {
    linux_2_4_17().with(|p| {
        p.sharing.share_ssthresh = Switch::Off;
        p.sharing.share_rtt = Switch::Off;
        p.sharing.initial_window_known_segments = 0;
        p.connection.syn_loss = SynLoss::Initial;
        p.timers.rto = RtoProfile::PeakDeviation;
        p.recovery.detection = Detection::Sack;
        p.window.reduction = Reduction::AtOnce;
        p.window.window_moderation = WindowModeration::Off;
        p.connection.window_scaling = Switch::On;
        p.connection.timestamp_tick = Dur::from_millis(10);
        p.receiver.receive_buffer = Size(1 << 30);
        p.host.send_buffer = Size(1 << 30);
        p.host.final_segment = FinalSegment::Window;
    })
}

/// A kernel of today as its users have it, but for the law: pacing needs a queue of its own (fq), which is not the default.
fn linux_6() -> TcpParams {
    rfc().with(|p| {
        p.connection.mss = Size(1448);
        p.window.avoidance_counting = AvoidanceCounting::Segments;
        p.window.grow_when = GrowWhen::FullInRound;
        p.window.idle_restart = IdleRestart::Linux;
        p.window.window_limit_holds = WindowLimit::Window;
        p.window.reduce_from = ReduceFrom::Cwnd;
        p.window.timeout_window = TimeoutWindow::Flight;
        p.recovery.detection = Detection::Rack;
        p.window.reduction = Reduction::PrrSafeAck;
        p.window.echo_reduction = EchoReduction::AsLosses;
        p.recovery.tail_probe = TailProbe::On;
        p.recovery.sack_after_timeout = SackAfterTimeout::Keep;
        p.connection.timestamps = Switch::On;
        p.timers.rto = RtoProfile::PeakDeviation;
        p.timers.rto_min = Dur::from_millis(200);
        p.timers.rto_max = Dur::from_secs(120);
        p.timers.rto_tick = Dur::from_micros(1);
        p.timers.restart_timer_on_retransmission = Switch::On;
        p.recovery.timeout_in_recovery = TimeoutInRecovery::Hold;
        p.undo.frto = Frto::AnyOriginal;
        p.timers.rtt_sampling = RttSampling::PerSack;
        p.undo.dsack = Switch::On;
        p.undo.spurious_response = SpuriousResponse::Full;
        p.undo.recovery_undo = Undo::Both;
        p.undo.timeout_undo = Undo::Both;
        p.receiver.delayed_ack = Dur::from_millis(40);
        p.receiver.quick_acks = 16;
        p.receiver.sack_compression = Dur::from_millis(1);
        p.timers.window_probe = WindowProbe::AckBelow;
        p.connection.paws = Paws::DataOnly;
        p.connection.time_wait = TimeWait(Dur::from_secs(60));
    })
}

fn linux_6_cubic() -> TcpParams {
    let cubic = CubicParams { version: CubicVersion::Linux6, ..CubicParams::default() };
    linux_6().with(|p| {
        p.controller.law = LawName::Cubic;
        p.controller.slow_start = SlowStart::Hystart;
        p.controller.cubic = cubic;
    })
}

fn linux_6_dctcp() -> TcpParams {
    linux_6().with(|p| {
        p.controller.law = LawName::Dctcp;
        p.ecn.mode = EcnMode::Dctcp;
    })
}

fn prague() -> TcpParams {
    let ecn_rules = EcnRules { capable: Capable::All, ..EcnRules::default() };
    linux_6().with(|p| {
        p.controller.law = LawName::Prague;
        // The law itself says how the window that is used follows the one it wants.
        p.window.echo_reduction = EchoReduction::AtOnce;
        p.ecn.mode = EcnMode::Accurate;
        p.ecn.codepoint = Codepoint::Ect1;
        p.ecn.ecn_rules = ecn_rules;
    })
}

fn prague_0_5() -> TcpParams {
    let law = PragueParams {
        rtt_scaling: RttScaling::Off,
        target_rtt: Dur::from_millis(15),
        transition_rounds: 100,
        pacing: PragueRate::LargestOfWindowAndFlight,
        ..PragueParams::default()
    };
    prague().with(|p| p.controller.prague = law)
}

fn praguecc() -> TcpParams {
    prague().with(|p| p.controller.law = LawName::PragueCc)
}

fn linux_6_bbr() -> TcpParams {
    linux_6().with(|p| p.controller.law = LawName::Bbr)
}

fn bbr3() -> TcpParams {
    linux_6().with(|p| p.controller.law = LawName::Bbr3)
}

fn bbr3_google() -> TcpParams {
    bbr3().with(|p| p.controller.bbr3 = Bbr3Params::google())
}

fn ns2_reno() -> TcpParams {
    rfc().with(|p| {
        p.connection.mss = Size(1000);
        p.connection.handshake = Handshake::Ns2;
        p.window.initial_window_segments = 2;
        p.window.grow_on_recovery_exit = Switch::On;
        p.window.initial_ssthresh = Size(20_000);
        p.window.window_limit_segments = 20;
        p.timers.restart_timer_on_retransmission = Switch::Off;
        p.window.avoidance_counting = AvoidanceCounting::Fraction;
        p.window.grow_when = GrowWhen::Always;
        p.window.reduce_from = ReduceFrom::SmallerWindow;
        p.recovery.detection = Detection::Ns2Reno;
        p.connection.sack = Switch::Off;
        p.timers.rto = RtoProfile::CoarseTicks;
        p.timers.rto_initial = Dur::from_secs(3);
        p.timers.rto_min = Dur::from_millis(200);
        p.timers.rto_max = Dur::from_secs(60);
        p.timers.rto_tick = Dur::from_millis(10);
        p.connection.syn_loss = SynLoss::Initial;
        p.receiver.sack_blocks = 3;
        p.connection.paws = Paws::Off;
        p.timers.timeout_threshold = TimeoutThreshold::Every;
        p.timers.backoff_end = BackoffEnd::NewData;
        p.timers.rtt_sampling = RttSampling::PerWindow;
        p.timers.retries_max = 1_000_000;
        p.window.idle_restart = IdleRestart::Off;
        p.host.nagle = Switch::Off;
        p.receiver.delayed_ack = Dur::ZERO;
    })
}

fn ns2_tahoe() -> TcpParams {
    ns2_reno().with(|p| p.recovery.detection = Detection::Ns2Tahoe)
}

fn ns2_newreno() -> TcpParams {
    ns2_reno().with(|p| p.recovery.detection = Detection::Ns2Newreno)
}

fn ns2_sack1() -> TcpParams {
    ns2_reno().with(|p| {
        p.recovery.detection = Detection::Ns2Sack1;
        p.connection.sack = Switch::On;
        p.window.grow_on_recovery_exit = Switch::Off;
    })
}

/// The senders of [Gurtov 2004] chapter 4: ns-2's one-way agents with timestamps, the timer of RFC 2988 and delayed ACKs.
fn gurtov_reno_sack() -> TcpParams {
    ns2_sack1().with(|p| {
        p.window.window_limit_segments = 150;
        p.window.initial_ssthresh = Size(150_000);
        p.connection.timestamps = Switch::On;
        p.receiver.timestamp_echo = TimestampEcho::Rfc1323;
        p.timers.backoff_end = BackoffEnd::Sample;
        p.timers.rto_min = Dur::from_secs(1);
        p.timers.rto_max = Dur::from_secs(64);
        p.receiver.delayed_ack = Dur::from_millis(100);
        p.undo.spurious_response = SpuriousResponse::Full;
    })
}

fn gurtov_newreno_sack() -> TcpParams {
    gurtov_reno_sack().with(|p| p.recovery.detection = Detection::NewrenoSack)
}

fn gurtov_fack() -> TcpParams {
    gurtov_reno_sack().with(|p| p.recovery.detection = Detection::Fack)
}

/// ns-2's SACK sender in its habits (sizes, growth, an ACK for every segment, the timer as it was before October 2004), on the
/// scoreboard of RFC 6675: ns-2's own costs a walk over the window per retransmission.
fn sack_2006() -> TcpParams {
    rfc().with(|p| {
        p.connection.mss = Size(1000);
        p.window.initial_window_segments = 2;
        p.window.avoidance_counting = AvoidanceCounting::Fraction;
        p.window.grow_when = GrowWhen::Always;
        p.window.reduce_from = ReduceFrom::SmallerWindow;
        p.timers.rto_initial = Dur::from_secs(3);
        p.timers.rto_min = Dur::from_secs(1);
        p.timers.rto_tick = Dur::from_millis(10);
        p.timers.restart_timer_on_retransmission = Switch::On;
        p.timers.retries_max = 1_000_000;
        p.window.idle_restart = IdleRestart::Off;
        p.connection.syn_loss = SynLoss::Initial;
        p.receiver.sack_blocks = 3;
        p.host.nagle = Switch::Off;
        p.receiver.receive_buffer = Size(1 << 30);
        p.receiver.delayed_ack = Dur::ZERO;
    })
}

fn sack_dcr() -> TcpParams {
    sack_2006().with(|p| p.recovery.dcr = DcrParams { wait: Wait::Timer, ..DcrParams::default() })
}

fn ltcp() -> TcpParams {
    sack_2006().with(|p| p.controller.law = LawName::Ltcp)
}

fn ltcp_variable() -> TcpParams {
    ltcp().with(|p| p.controller.ltcp = LtcpParams { decrease: Decrease::Variable, ..LtcpParams::default() })
}

/// Chapter V of the thesis: the variable decrease and the adaptive threshold of RFC 4653.
fn ltcp_dcr() -> TcpParams {
    let dcr = DcrParams { wait: Wait::NcrAggressive, growth: Switch::Off, ..DcrParams::default() };
    ltcp_variable().with(|p| p.recovery.dcr = dcr)
}

fn early(curve: CurveName) -> EarlyParams {
    EarlyParams { curve, ..EarlyParams::default() }
}

fn pert() -> TcpParams {
    sack_2006().with(|p| p.controller.early = early(CurveName::GentleRed))
}

fn pert_rem() -> TcpParams {
    sack_2006().with(|p| p.controller.early = early(CurveName::Rem))
}

fn pert_pi() -> TcpParams {
    sack_2006().with(|p| p.controller.early = early(CurveName::Pi))
}

fn ltcp_pert() -> TcpParams {
    ltcp_variable().with(|p| p.controller.early = EarlyParams { cost: Cost::Law, ..early(CurveName::GentleRed) })
}

fn tcp_ldp() -> TcpParams {
    let early = EarlyParams { cost: Cost::Law, falls: Falls::AtOnce, stale: Switch::On, ..early(CurveName::GentleRed) };
    let dcr = DcrParams { wait: Wait::Window, ..DcrParams::default() };
    ltcp_variable().with(|p| {
        p.recovery.dcr = dcr;
        p.controller.early = early;
        p.host.pacing = Pacing::Window;
    })
}

fn ldp_1sample() -> TcpParams {
    tcp_ldp().with(|p| p.controller.early.pause_samples = 1)
}

fn ldp_100sample() -> TcpParams {
    tcp_ldp().with(|p| p.controller.early.pause_samples = 100)
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
    ("dupack_guard", "dupacks_after_timeout"),
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
    let params = table::read(&crate::bundle::merged(&value, path, &names(), preset)?, path)?;
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
            ("dupacks_after_timeout", json!("no-bugfix")),
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
