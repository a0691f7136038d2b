//! What a user may set on a TCP connection. Presets ([`super::preset`]) are values of this type.

use crosswind_base::units::Size;
use crosswind_base::{BitRate, Dur};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod check;
pub mod table;

pub(crate) use super::choices::choice;
pub use super::choices::*;
pub use super::conn::accept::{Paws, ResetRule};
pub use super::conn::ending::TimeWait;
pub use super::conn::habit::AckHabitParams;
pub use super::conn::keepalive::KeepaliveParams;
pub use super::conn::quick::DelayedAckTimer;
pub use super::conn::recall::SynLoss;
pub use super::conn::receiver::TimestampEcho;
pub use super::conn::window::ReceiveWindow;
pub use super::detect::Detection;
pub use super::detect::delayed_response::DcrParams;
pub use super::detect::newreno::NewRenoParams;
pub use super::detect::tlp::TailProbe;
pub use super::ecn::{Codepoint, EcnMode, EcnRules};
pub use super::law::LawName;
pub use super::law::aimd::AimdParams;
pub use super::law::bbr::BbrParams;
pub use super::law::bbr3::Bbr3Params;
pub use super::law::bic::BicParams;
pub use super::law::copa::CopaParams;
pub use super::law::cubic::CubicParams;
pub use super::law::dctcp::DctcpParams;
pub use super::law::fast::FastParams;
pub use super::law::hstcp::HstcpParams;
pub use super::law::htcp::HtcpParams;
pub use super::law::hystart::SlowStart;
pub use super::law::hystart_plus::SlowStartParams;
pub use super::law::ledbat::LedbatParams;
pub use super::law::ltcp::LtcpParams;
pub use super::law::own::Maker;
pub use super::law::prague::{PragueParams, PragueRate, RttScaling};
pub use super::law::scalable::ScalableParams;
pub use super::law::tabulated::LawPoint;
pub use super::law::vegas::VegasParams;
pub use super::law::westwood::WestwoodParams;
pub use super::receivers::ReceiverOs;
pub use super::reduction::prr::Reduction;
pub use super::sender::WindowProbe;
pub use super::sender::writer::{FinalSegment, Writing};
pub use super::share::queue::HostQueueParams;
pub use super::signal::early::EarlyParams;
pub use super::undo::last_reduction::Undo;

/// Tables that say nothing new are not written out.
fn is_default<T: Default + PartialEq>(v: &T) -> bool {
    *v == T::default()
}

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

/// Everything about one TCP connection. Both ends share it; receiver fields matter at the receiving end only.
///
/// In files all keys stand side by side in one table ([`super::table`]); here they are grouped by what they are about.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TcpParams {
    #[serde(flatten)]
    pub connection: ConnectionParams,
    #[serde(flatten)]
    pub window: WindowParams,
    #[serde(flatten)]
    pub controller: ControllerParams,
    #[serde(flatten)]
    pub recovery: RecoveryParams,
    #[serde(flatten)]
    pub timers: TimerParams,
    #[serde(flatten)]
    pub undo: UndoParams,
    #[serde(flatten)]
    pub ecn: EcnParams,
    #[serde(flatten)]
    pub host: HostParams,
    #[serde(flatten)]
    pub receiver: ReceiverParams,
    #[serde(flatten)]
    pub sharing: SharingParams,
}

impl TcpParams {
    /// The same with changes: `rfc().with(|p| p.recovery.dupthresh = 4)`.
    pub fn with(mut self, change: impl FnOnce(&mut TcpParams)) -> TcpParams {
        change(&mut self);
        self
    }
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
    /// Whether the window is held to what is in flight when an ACK is out of the ordinary.
    pub window_moderation: WindowModeration,
    /// How the window falls to the threshold after a loss that ACKs have told of.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reduction: Reduction,
    /// In a recovery and after an echo the window is at most what is in flight and one segment (Linux 2.4).
    #[serde(default = "off", skip_serializing_if = "is_off")]
    pub flight_bound: Switch,
    /// Restart from the initial window after an idle period of one timeout (RFC 5681 section 4.1).
    pub idle_restart: Switch,
    /// Largest number of segments sent in answer to one ACK; 0 = no limit.
    pub max_burst_segments: u32,
    /// Hard limit in segments; 0 = none.
    pub window_limit_segments: u32,
    /// What that limit holds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub window_limit_holds: WindowLimit,
}

/// Window arithmetic: which law, a table for each, and how its slow start ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControllerParams {
    /// Window arithmetic.
    pub law: LawName,
    /// With `law = "tabulated"`: what to add and to keep, by window. Windows grow from row to row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub law_table: Vec<LawPoint>,
    /// With `law = "own"`: the name under which the program brings it (in Python: `crosswind.run(.., laws={..})`).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub own_law: String,
    #[serde(skip)]
    pub own: Maker,
    /// With `law = "aimd"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub aimd: AimdParams,
    /// With `law = "ltcp"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ltcp: LtcpParams,
    /// With `law = "hstcp"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hstcp: HstcpParams,
    /// With `law = "scalable"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scalable: ScalableParams,
    /// With `law = "bic"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bic: BicParams,
    /// With `law = "bbr"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bbr: BbrParams,
    /// With `law = "bbr3"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bbr3: Bbr3Params,
    /// With `law = "copa"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub copa: CopaParams,
    /// With `law = "ledbat++"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ledbat: LedbatParams,
    /// With `law = "dctcp"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dctcp: DctcpParams,
    /// With `law = "prague"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prague: PragueParams,
    /// With `law = "htcp"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub htcp: HtcpParams,
    /// With `law = "fast"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fast: FastParams,
    /// With `law = "cubic"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cubic: CubicParams,
    /// With `law = "vegas"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vegas: VegasParams,
    /// With `law = "westwood"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub westwood: WestwoodParams,
    /// Answer congestion before there is a loss (PERT).
    #[serde(default, skip_serializing_if = "is_default")]
    pub early: EarlyParams,
    /// How slow start ends without a loss.
    #[serde(default, skip_serializing_if = "is_default")]
    pub slow_start: SlowStart,
    /// How slow start grows with `hystart++` and `limited`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hystart: SlowStartParams,
}

/// What counts as lost, and what is retransmitted when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoveryParams {
    /// Loss detection and recovery.
    #[serde(rename = "recovery")]
    pub detection: Detection,
    /// Duplicate ACKs (or SACKed segments) that mean a loss.
    pub dupthresh: u32,
    /// Wait before duplicates are taken for a loss (TCP-DCR, TCP-NCR).
    #[serde(default, skip_serializing_if = "is_default")]
    pub dcr: DcrParams,
    /// Send a segment when two round trips brought no news, before the timer expires (RFC 8985 section 7).
    #[serde(default, skip_serializing_if = "is_default")]
    pub tail_probe: TailProbe,
    /// RFC 3042: one new segment on each of the first two duplicate ACKs.
    pub limited_transmit: Switch,
    /// Scoreboard after a timeout.
    pub sack_after_timeout: SackAfterTimeout,
    /// Whether a timeout during fast recovery reduces the window once more.
    pub timeout_in_recovery: TimeoutInRecovery,
    /// Whether the next ACK holds lost what left longer ago than the timeout (Linux 2.4): in a recovery, or to begin one.
    pub retransmit_overdue: Switch,
    /// What duplicate ACKs mean after a timeout, without SACK.
    pub dupack_guard: DuplicatesRule,
    /// NewReno after a timeout and on partial ACKs.
    #[serde(default)]
    pub newreno: NewRenoParams,
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
    /// No faster than this, of payload, whatever the window and the law say (Linux: `SO_MAX_PACING_RATE`); it asks for pacing.
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
    /// Most SACK blocks that an ACK carries.
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
