//! Settings of a connection, grouped by what they are about. Those of laws and detectors stand beside the tables that name them
//! ([`crate::tcp::law::ControllerParams`], [`crate::tcp::detect::RecoveryParams`]).

use crate::tcp::choices::{
    AvoidanceCounting, BackoffEnd, DelayedAckTimer, Frto, GrowWhen, Handshake, IdleRestart, Pacing, PacingBurst, Paws,
    PeerRetransmissions, ReceiveWindow, ReduceFrom, ResetRule, RtoProfile, RttSampling, SpuriousResponse,
    SpuriousTimer, Switch, SynLoss, TimeWait, TimeoutThreshold, TimeoutWindow, TimestampEcho, WindowLimit,
    WindowModeration, WindowProbe, is_default,
};
use crate::tcp::conn::habit::AckHabitParams;
use crate::tcp::conn::keepalive::KeepaliveParams;
use crate::tcp::ecn::rules::{Codepoint, EcnMode, EcnRules};
use crate::tcp::receivers::ReceiverOs;
use crate::tcp::reduction::prr::{EchoReduction, Reduction};
use crate::tcp::sender::writer::{FinalSegment, Writing};
use crate::tcp::share::queue::HostQueueParams;
use crate::tcp::undo::last_reduction::Undo;
use crosswind_base::units::Size;
use crosswind_base::{BitRate, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

fn off() -> Switch {
    Switch::Off
}
fn is_off(s: &Switch) -> bool {
    *s == Switch::Off
}
fn unpaced() -> Pacing {
    Pacing::Off
}
fn is_unpaced(p: &Pacing) -> bool {
    *p == Pacing::Off
}

/// How a connection is set up, what its ends agree on, and how it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionParams {
    /// How the connection is set up.
    pub handshake: Handshake,
    /// The window of a connection whose SYN had to be retransmitted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub syn_loss: SynLoss,
    /// Largest payload of a segment, without any header or option.
    pub mss: Size,
    /// Size that the MSS option of the SYN names. Left out: `mss`, and the bytes of timestamps. The peer sends no larger segments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mss_option: Option<Size>,
    /// Offer and use selective acknowledgements (RFC 2018).
    pub sack: Switch,
    /// Offer and use timestamps (RFC 7323).
    pub timestamps: Switch,
    /// Tick of the timestamp clock.
    pub timestamp_tick: Dur,
    /// Offer window scaling (RFC 7323).
    pub window_scaling: Switch,
    /// What becomes of segments with an older timestamp than one that has arrived.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paws: Paws,
    /// Which resets end the connection.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reset_rule: ResetRule,
    /// How long the end that closed first answers a FIN that comes again (TIME-WAIT).
    #[serde(default, skip_serializing_if = "is_default")]
    pub time_wait: TimeWait,
    /// Ask a silent peer for signs of life.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keepalive: KeepaliveParams,
}

/// Where the window begins, when it grows, and how it falls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowParams {
    /// Initial window in segments.
    pub initial_window_segments: u32,
    /// Slow-start threshold of a fresh connection.
    pub initial_ssthresh: Size,
    /// Whether the ACK that ends a fast recovery may also grow the window (ns-2).
    pub grow_on_recovery_exit: Switch,
    /// What congestion avoidance counts.
    pub avoidance_counting: AvoidanceCounting,
    /// When the window may grow.
    pub grow_when: GrowWhen,
    /// Which quantity a reduction halves.
    pub reduce_from: ReduceFrom,
    /// What is left of the window when the retransmission timer expires.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_window: TimeoutWindow,
    /// Whether the window is held to what is in flight when an ACK is out of the ordinary.
    pub window_moderation: WindowModeration,
    /// How the window falls to the threshold after a loss that ACKs have told of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reduction: Reduction,
    /// How the window falls to the threshold after an echo of ECN.
    #[serde(default, skip_serializing_if = "is_default")]
    pub echo_reduction: EchoReduction,
    /// In a recovery and after an echo the window is at most what is in flight and one segment (Linux 2.4).
    #[serde(default = "off", skip_serializing_if = "is_off")]
    pub flight_bound: Switch,
    /// What is left of the window after an idle time of more than one timeout.
    pub idle_restart: IdleRestart,
    /// Largest number of segments sent in answer to one ACK; 0 = no limit.
    pub max_burst_segments: u32,
    /// Hard limit in segments; 0 = none.
    pub window_limit_segments: u32,
    /// What that limit holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub window_limit_holds: WindowLimit,
}

/// The retransmission timer: its value, what it is measured by, and what an expiry does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimerParams {
    /// Timeout computation.
    pub rto: RtoProfile,
    /// Timeout before the first round-trip sample (RFC 6298: 1 s; RFC 2988: 3 s).
    pub rto_initial: Dur,
    /// Floor of the timeout (for `linux-2.4`: of its variance term).
    pub rto_min: Dur,
    /// Ceiling of the timeout, back-off included.
    pub rto_max: Dur,
    /// Clock granularity of the timer.
    pub rto_tick: Dur,
    /// Which segments are timed.
    pub rtt_sampling: RttSampling,
    /// Start the timer afresh when the first unacknowledged segment is retransmitted (Linux), or leave it running.
    pub restart_timer_on_retransmission: Switch,
    /// At which expiries in a row the threshold is computed anew.
    pub timeout_threshold: TimeoutThreshold,
    /// What ends the back-off of the timer.
    pub backoff_end: BackoffEnd,
    /// Retransmission timeouts in a row before the connection is given up.
    pub retries_max: u32,
    /// What a probe of a closed window is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub window_probe: WindowProbe,
}

/// What shows that a timeout or a recovery was needless, and what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoParams {
    /// Spurious-timeout detection by F-RTO, with the conservative response.
    pub frto: Frto,
    /// F-RTO and segments that the peer retransmits.
    pub frto_peer_retransmissions: PeerRetransmissions,
    /// Spurious-timeout detection by timestamps (RFC 3522).
    pub eifel: Switch,
    /// Report duplicate segments (RFC 2883), and find spurious timeouts by such reports when nothing else does.
    pub dsack: Switch,
    /// What follows when a timeout was spurious: window and threshold.
    pub spurious_response: SpuriousResponse,
    /// What follows when a timeout was spurious: the timer.
    pub spurious_timer: SpuriousTimer,
    /// `min++`: by how much the floor of the timeout rises.
    pub spurious_timer_step: Dur,
    /// After a spurious timeout a fast retransmit may begin at once, below what had been sent by then.
    pub spurious_unlock: Switch,
    /// What shows that a fast recovery was needless, so that window and threshold come back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recovery_undo: Undo,
    /// What shows that a timeout was needless, so that window and threshold come back, whatever `spurious_response` says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_undo: Undo,
}

/// Explicit congestion notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnParams {
    /// Negotiate and use ECN.
    #[serde(rename = "ecn")]
    pub mode: EcnMode,
    /// The code point of packets that may be marked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub codepoint: Codepoint,
    /// Details of ECN that few set.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ecn_rules: EcnRules,
}

/// The sending host: its socket, its queue, and when segments may leave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostParams {
    /// When segments may leave that the window allows.
    #[serde(default = "unpaced", skip_serializing_if = "is_unpaced")]
    pub pacing: Pacing,
    /// No faster than this, of payload, whatever the window and the law say (Linux: `SO_MAX_PACING_RATE`); it asks for
    /// pacing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pacing_limit: Option<BitRate>,
    /// What leaves at once where segments are paced.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pacing_burst: PacingBurst,
    /// The host's own queue, which tells the sender when it is full (Linux).
    #[serde(default, skip_serializing_if = "is_default")]
    pub host_queue: HostQueueParams,
    /// Hold back a short segment while data is unacknowledged (RFC 9293 section 3.7.4).
    pub nagle: Switch,
    /// Whether the last segment, with the FIN, keeps to the congestion window.
    #[serde(default, skip_serializing_if = "is_default")]
    pub final_segment: FinalSegment,
    /// How what a program writes gets into the socket, which decides which segments are pushed (PSH).
    #[serde(default, skip_serializing_if = "is_default")]
    pub writing: Writing,
    /// Bytes that the socket holds, sent or not, before a write blocks.
    pub send_buffer: Size,
}

/// The receiving end: its windows and its ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReceiverParams {
    /// A receiving system by name: it stands for keys such as `ack_habit`, `delayed_ack` and `sack`.
    #[serde(rename = "receiver", default, skip_serializing_if = "is_default")]
    pub system: ReceiverOs,
    /// Receive buffer: the largest window advertised, or the memory that windows are made of.
    pub receive_buffer: Size,
    /// How the advertised window comes about.
    pub receive_window: ReceiveWindow,
    /// `linux-2.4`: memory that the kernel takes for a data segment, whatever its length (`skb->truesize`).
    pub receive_truesize: Size,
    /// `linux-2.4`: this power of two of the memory is not offered (`tcp_adv_win_scale`).
    pub receive_overhead_shift: u32,
    /// `linux-2.4`: this power of two of the window is kept for the application (`tcp_app_win`).
    pub receive_application_shift: u32,
    /// How long an ACK may wait for a second segment; zero acknowledges every segment at once. `linux-2.4`: the shortest wait.
    pub delayed_ack: Dur,
    /// When the delayed-ACK timer fires.
    pub delayed_ack_timer: DelayedAckTimer,
    /// Segments received in order that force an ACK.
    pub ack_every_segments: u32,
    /// Chunks of segments for one ACK, and ACKs that say nothing new.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ack_habit: AckHabitParams,
    /// In-order segments acknowledged at once at the start of a connection (Linux quick ACKs).
    pub quick_acks: u32,
    /// How long an ACK of what comes beyond a hole is held at most, once three have told of it (Linux: 1 ms); zero: never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_compression: Dur,
    /// Most SACK blocks that an ACK carries: three at most beside timestamps.
    pub sack_blocks: u32,
    /// Which segments change the timestamp that is echoed.
    pub timestamp_echo: TimestampEcho,
}

/// What connections to one host inherit from each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharingParams {
    /// Start from the slow-start threshold that earlier connections to this host left behind (RFC 2140).
    pub share_ssthresh: Switch,
    /// Start from the round-trip time and its deviation that earlier connections to this host left behind (Linux 2.4).
    pub share_rtt: Switch,
    /// With `share_rtt`: initial window towards a host of known round-trip time (Linux 2.4); 0 = as towards any.
    pub initial_window_known_segments: u32,
}
