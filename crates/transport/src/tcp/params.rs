//! What a user may set on a TCP connection. Presets ([`super::preset`]) are values of this type.

use schemars::JsonSchema;
use serde::Serialize;

mod check;
pub mod groups;
pub mod table;

pub use super::choices::{
    AvoidanceCounting, BackoffEnd, DelayedAckTimer, DuplicatesRule, Frto, GrowWhen, Handshake, IdleRestart, Pacing,
    PacingBurst, Patience, Paws, PeerRetransmissions, ReceiveWindow, ReduceFrom, ResetRule, RtoProfile, RttSampling,
    SackAfterTimeout, SpuriousResponse, SpuriousTimer, Switch, SynLoss, TimeWait, TimeoutInRecovery, TimeoutThreshold,
    TimeoutWindow, TimestampEcho, WindowLimit, WindowModeration, WindowProbe,
};
pub use super::conn::habit::AckHabitParams;
pub use super::conn::keepalive::KeepaliveParams;
pub use super::detect::delayed_response::DcrParams;
pub use super::detect::newreno::NewRenoParams;
pub use super::detect::tlp::TailProbe;
pub use super::detect::{Detection, RecoveryParams};
pub use super::ecn::rules::{Codepoint, EcnMode, EcnRules};
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
pub use super::law::{ControllerParams, LawName};
pub use super::receivers::ReceiverOs;
pub use super::reduction::prr::{EchoReduction, Reduction};
pub use super::sender::writer::{FinalSegment, Writing};
pub use super::share::queue::HostQueueParams;
pub use super::signal::early::EarlyParams;
pub use super::undo::last_reduction::Undo;
pub use groups::{
    ConnectionParams, EcnParams, HostParams, ReceiverParams, SharingParams, TimerParams, UndoParams, WindowParams,
};

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
