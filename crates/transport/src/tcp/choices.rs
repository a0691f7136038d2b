//! Settings of a connection that are one of a few words, where no element of its own has them.

use crosswind_base::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! choice {
    ($(#[$m:meta])* $name:ident { $($(#[$vm:meta])* $v:ident),+ $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vm])* $v),+ }
    };
}
pub(crate) use choice;

/// Tables that say nothing new are not written out.
pub(super) fn is_default<T: Default + PartialEq>(v: &T) -> bool {
    *v == T::default()
}

choice!(
    /// On or off.
    Switch { On, Off }
);
impl Switch {
    pub fn on(self) -> bool {
        self == Switch::On
    }
}
choice!(
    /// How a connection comes to be.
    Handshake {
        /// SYN, SYN-ACK, ACK with options (RFC 9293).
        ThreeWay,
        /// ns-2's one-way agents: a bare 40-byte SYN, its ACK releases data, and nothing ever closes.
        #[serde(rename = "ns-2")]
        Ns2,
    }
);
choice!(
    /// How the retransmission timeout is computed.
    RtoProfile {
        /// RFC 6298 with a configurable floor.
        Rfc6298,
        /// Linux 2.4: 10 ms jiffies, variance term from the largest mean deviation of the last window, at least 200 ms.
        #[serde(rename = "linux-2.4")]
        PeakDeviation,
        /// The same up to release 2.4.18: the variance term falls with every ACK, and the first timeout is longer.
        #[serde(rename = "linux-2.4.17")]
        PeakDeviationPerAck,
        /// ns-2: integer arithmetic in ticks.
        #[serde(rename = "ns-2")]
        CoarseTicks,
    }
);
choice!(
    /// Which segments are timed when timestamps are off.
    RttSampling {
        /// Every ACK of segments that were not retransmitted.
        PerAck,
        /// Every ACK of segments that were not retransmitted, but for those that fill a hole: they tell how late a packet was.
        InOrder,
        /// One segment at a time.
        PerWindow,
        /// Every ACK and every SACK of segments that were not retransmitted, with or without timestamps (Linux 6).
        PerSack,
    }
);
choice!(
    /// What the scoreboard keeps after a timeout.
    SackAfterTimeout {
        /// Linux: segments reported by SACK are not retransmitted.
        Keep,
        /// RFC 2018: the receiver may have reneged; everything is retransmitted.
        Clear,
    }
);
choice!(
    /// Forward RTO-recovery (RFC 5682). `linux-2.6`, which RFC 4138 describes, judges every timeout without SACK; `linux-6`: with
    /// SACK, and any ACK or SACK of an original segment is proof.
    Frto {
        Off,
        Basic,
        Sack,
        #[serde(rename = "linux-2.6")]
        EveryTimeout,
        #[serde(rename = "linux-6")]
        AnyOriginal,
    }
);
choice!(
    /// What a sender does with window and threshold when a timeout turns out to have been spurious ([Gurtov 2004] section 4.3.2).
    SpuriousResponse {
        /// The threshold stays halved and the window goes there.
        Halved,
        /// Nothing: the verdict is only counted, and everything is retransmitted.
        Ignore,
        /// Both are restored.
        #[serde(rename = "option-1")]
        Full,
        /// The threshold becomes half the old window, and so does the window.
        #[serde(rename = "option-2")]
        Half,
        /// The threshold becomes half the old window, and the window one segment.
        #[serde(rename = "option-3")]
        SlowStart,
        /// Both become the old window: congestion avoidance from there.
        #[serde(rename = "option-4")]
        Avoidance,
        /// RFC 4015: what is in flight and what was acknowledged, and the larger of old threshold and old flight.
        #[serde(rename = "rfc4015")]
        Rfc4015,
    }
);
choice!(
    /// What becomes of the retransmission timer after a spurious timeout ([Gurtov 2004] section 4.3.3).
    SpuriousTimer {
        /// Samples of the delayed segments enter as any other.
        Std,
        /// The first of them starts the estimator afresh.
        Reseed,
        /// The back-off stays until a timeout was genuine.
        BackOff,
        /// The floor of the timeout rises by `spurious_timer_step` until a timeout was genuine.
        #[serde(rename = "min++")]
        RaiseFloor,
        /// RFC 4015: the estimator is lifted to the sample of the first new segment, and to no less than it was.
        #[serde(rename = "rfc4015")]
        Rfc4015,
    }
);
choice!(
    /// At which expiries in a row the slow-start threshold is computed anew.
    TimeoutThreshold {
        /// At the first (RFC 5681 section 3.1).
        First,
        /// At every one: after the second it is two segments (ns-2).
        Every,
    }
);
choice!(
    /// What ends the back-off of the timer.
    BackoffEnd {
        /// Any sample of the round-trip time.
        Sample,
        /// The acknowledgement of data that was sent for the first time after the timeout (ns-2 without `ts_resetRTO_`).
        NewData,
    }
);
choice!(
    /// What three duplicate ACKs mean before everything sent up to the last timeout or loss is acknowledged, without SACK.
    DuplicatesRule {
        /// Nothing (RFC 2582, `bugfix`).
        Bugfix,
        /// A loss, always.
        NoBugfix,
        /// A loss, if the last ACK that advanced jumped over no more than `newreno.heuristic_segments`.
        AckHeuristic,
        /// A loss, if the last ACK that advanced echoed the timestamp of the segment just below it.
        TimestampHeuristic,
    }
);
choice!(
    /// How long NewReno trusts in partial ACKs (RFC 6582 section 4).
    Patience {
        /// Only the first of a recovery restarts the timer.
        Impatient,
        /// Each of them does.
        SlowButSteady,
    }
);
choice!(
    /// What F-RTO makes of a segment that the peer retransmitted (a SYN-ACK, a request).
    PeerRetransmissions {
        /// Ignored, as it should be.
        Ignore,
        /// Counted as a duplicate ACK: the defect of an early kernel described in [Järvinen 2006] section 5.3.1.
        CountAsDuplicate,
    }
);
choice!(
    /// When segments may leave that the window allows. A law that sets a rate of its own is paced at that rate, unless `never` stands here.
    Pacing {
        /// At once.
        Off,
        /// At once, even if the law sets a rate (Linux before 4.13 without the queue `fq`).
        Never,
        /// At twice the window per smoothed round-trip time while the window is below half the threshold, else at 1.2 times (Linux
        /// with the queue `fq`). The first ten segments leave at once.
        #[serde(rename = "linux")]
        ByPhase,
        /// At least the smoothed round-trip time over the window apart (TCP-LDP, FAST).
        Window,
    }
);
choice!(
    /// What leaves at once where segments are paced.
    #[derive(Default)]
    PacingBurst {
        /// One segment.
        #[default]
        Segment,
        /// What is ready, up to 2^-10 s of the rate and 64 KiB, two segments at least; below 1.2 Mbit/s one (Linux).
        #[serde(rename = "linux")]
        Millisecond,
    }
);
choice!(
    /// When the window may grow.
    GrowWhen {
        /// Only while the window, not the application, limits the sender (RFC 9293, Linux).
        WindowLimited,
        /// As Linux since 3.16 sees it (`tcp_is_cwnd_limited`): while the window was full at some moment of the last round trip, and in
        /// slow start while it is below twice the most segments that were out.
        #[serde(rename = "linux-6")]
        FullInRound,
        /// On every ACK (ns-2).
        Always,
    }
);
choice!(
    /// What `window_limit_segments` holds.
    #[derive(Default)]
    WindowLimit {
        /// What is in flight: the window itself goes on growing (ns-2's `window_`).
        #[default]
        Flight,
        /// The window, which never grows beyond it (Linux: `snd_cwnd_clamp`, the metric `cwnd` of a route).
        Window,
    }
);
choice!(
    /// What congestion avoidance counts.
    AvoidanceCounting {
        /// One segment per window of acknowledged bytes (RFC 5681 section 3.1, second form).
        Bytes,
        /// 1/cwnd of a segment per ACK (ns-2).
        Fraction,
        /// One segment per cwnd + 1 ACKs, in integers (Linux 2.4).
        Acks,
        /// One segment per cwnd acknowledged segments; slow start adds all that an ACK acknowledges (Linux since 3.18).
        Segments,
    }
);
choice!(
    /// Which quantity is halved.
    ReduceFrom {
        /// Bytes in flight (RFC 5681).
        Flight,
        /// The congestion window (Linux 2.4).
        Cwnd,
        /// The smaller of congestion and receive window, rounded down to whole segments (ns-2).
        #[serde(rename = "ns2-window")]
        SmallerWindow,
    }
);
choice!(
    /// What is left of the window when the retransmission timer expires.
    #[derive(Default)]
    TimeoutWindow {
        /// One segment, whatever is in flight (RFC 5681).
        #[default]
        OneSegment,
        /// What left so late that it may still arrive, and one segment (Linux 6, BBR version 3).
        Flight,
    }
);
choice!(
    /// Whether the window is held to what is in flight when an ACK is out of the ordinary.
    WindowModeration {
        /// No (RFC 5681).
        Off,
        /// To three segments above it, on duplicate ACKs, SACK blocks and echoes, after a timeout, and on the ACK that ends
        /// a recovery (`tcp_moderate_cwnd`); the window grows again from there.
        #[serde(rename = "linux-2.4")]
        ThreeAboveFlight,
    }
);
choice!(
    /// Whether a timeout during fast recovery reduces the window once more.
    TimeoutInRecovery {
        /// Yes (RFC 5681).
        Reduce,
        /// No: one reduction per window of data (Linux).
        Hold,
    }
);
choice!(
    /// The window after an idle time of more than one timeout.
    IdleRestart {
        /// The initial window at most (RFC 5681 section 4.1).
        On,
        Off,
        /// Half of it for each timeout that has passed, down to the initial one; three quarters are the threshold, if it is lower
        /// (`tcp_cwnd_restart`).
        Linux,
    }
);
choice!(
    /// The window of a connection whose SYN had to be retransmitted.
    #[derive(Default)]
    SynLoss {
        /// The initial window.
        #[default]
        Initial,
        /// One segment (RFC 5681 section 3.1).
        One,
        /// One segment after more than one retransmission (RFC 6928 section 2, Linux 6).
        #[serde(rename = "rfc6928")]
        OneAfterTwo,
        /// One segment, and a threshold of two: the timer of the SYN is the timer of data (Linux 2.4). What is remembered of the
        /// peer replaces both.
        #[serde(rename = "linux-2.4")]
        OneAndThresholdOfTwo,
    }
);
choice!(
    /// What becomes of segments whose timestamp is older than one that has arrived.
    #[derive(Default)]
    Paws {
        /// They are taken (ns-2).
        Off,
        /// They are dropped and answered (RFC 7323 section 5).
        #[default]
        #[serde(rename = "rfc7323")]
        Rfc7323,
        /// The same, but for ACKs without data, which may have been overtaken (Linux).
        #[serde(rename = "linux")]
        DataOnly,
    }
);
choice!(
    /// Which resets end a connection.
    #[derive(Default)]
    ResetRule {
        /// One that stands where the next byte is expected; others in the window are answered with an ACK (RFC 5961).
        #[default]
        #[serde(rename = "rfc5961")]
        Rfc5961,
        /// Any in the window (RFC 793).
        #[serde(rename = "rfc793")]
        Rfc793,
    }
);
choice!(
    /// What a probe of a closed window is.
    #[derive(Default)]
    WindowProbe {
        /// The next byte of data, whether it fits or not (RFC 9293).
        #[default]
        Byte,
        /// An ACK just below the next byte, which the peer has to answer (Linux).
        #[serde(rename = "linux")]
        AckBelow,
    }
);
choice!(
    /// How the advertised window comes about.
    ReceiveWindow {
        /// It is `receive_buffer`.
        Buffer,
        /// It grows with the segments that arrive, as the kernel's memory for `receive_buffer` allows: see the page of
        /// the receive window.
        #[serde(rename = "linux-2.4")]
        Growing,
    }
);
choice!(
    /// When the delayed-ACK timer fires.
    DelayedAckTimer {
        /// `delayed_ack` after the first segment that waits (RFC 9293).
        PerSegment,
        /// At the next multiple of `delayed_ack`: one clock for the whole host (BSD), so the wait is half as long on average.
        Heartbeat,
        /// As the kernel has learnt, at least `delayed_ack`, and not at all while ACKs are quick: see the page of delayed ACKs.
        #[serde(rename = "linux-2.4")]
        Learnt,
    }
);
choice!(
    /// Which segments change the timestamp that a receiver echoes.
    TimestampEcho {
        /// Those that hold the next expected byte (RFC 1323 section 3.4).
        #[serde(rename = "rfc1323")]
        Rfc1323,
        /// Those at or below it, duplicates included, if they are not older (RFC 7323 section 4.3, Linux; once known as 1323bis).
        #[serde(rename = "rfc7323")]
        Rfc7323,
    }
);

/// Twice the lifetime of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TimeWait(pub Dur);

impl Default for TimeWait {
    fn default() -> TimeWait {
        TimeWait(Dur::from_secs(240))
    }
}
