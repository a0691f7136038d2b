//! # Undo of needless reductions
//!
//! **Source**: rfc3708 section 3 (by reports of duplicates); rfc3522 and rfc4015 section 3 (by timestamps); linux-6.18 `tcp_init_undo`,
//! `tcp_enter_loss`, `tcp_process_loss`, `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_try_undo_loss`.
//!
//! **Idea**: a segment that is only late looks lost, or the timer expires for it, and the window is reduced for nothing. Two facts tell
//! afterwards. Everything that has been retransmitted since is reported as a duplicate (D-SACK), during the repair or later: nothing of
//! it was lost. Or an ACK that advances echoes a timestamp older than that of the first retransmission: the original caused it. Then
//! window and threshold come back: each becomes what it was at the start, or stays if it is larger by now, and what is held lost is
//! so no more. After a timeout only an ACK that advances is looked at; the timer may have expired again meanwhile, or in the middle of a
//! recovery: the first retransmission counts. A mark of congestion on the way proves the congestion: nothing is taken back.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `recovery_undo` | - | `off` | rfc6675 has none; `both` in the presets `linux-6*`, `bbr3*` and `prague*` |
//! | `timeout_undo` | - | `off` | rfc6298 has none; `both` in the same presets |
//!
//! **Deviations**: 1. A partial ACK of an original does not stop retransmissions that are due: the kernel sends new data alone until those
//! that are out have been acknowledged, then it undoes, as here. 2. What a retransmitted segment is reported for is counted in bytes of
//! the report, not by segment. 3. A timeout in the round trip of an answered echo can not be taken back here; in the kernel neither, but
//! its F-RTO still ends the repair. 4. ns-2 and the RFCs that the other presets follow have no such rule; Linux 2.4 has it, but its
//! presets leave it out, as what their studies have measured shows no reordering.
//!
//! **Checked by**: `undo/last_reduction_oracle.rs` (the kernel's counters on random ACKs), `tests/tapes/undo_*.tape`.

use crate::tcp::choices::choice;
use crate::tcp::facts::{Ack, is_older};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// What shows that a reduction was needless, so that window and threshold come back.
    #[derive(Default)]
    Undo {
        /// Nothing.
        #[default]
        Off,
        /// D-SACKs of all that has been retransmitted since (RFC 3708); needs `dsack`.
        Dsack,
        /// An older timestamp than that of the first retransmission since (RFC 3522); needs `timestamps`.
        Timestamps,
        /// Either (Linux).
        Both,
    }
);

impl Undo {
    pub fn by_dsack(self) -> bool {
        matches!(self, Undo::Dsack | Undo::Both)
    }
    pub fn by_timestamps(self) -> bool {
        matches!(self, Undo::Timestamps | Undo::Both)
    }
}

/// Where an ACK has found the sender, and left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// In a fast recovery; whether something retransmitted is neither acknowledged nor reported.
    Recovering { is_out: bool },
    /// It ends the recovery.
    Ending,
    /// After a timeout, or it ends the repair.
    TimedOut,
    /// After either.
    Later,
}

/// The last reduction for a loss, as long as it may be taken back.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastReduction {
    rule: Undo,
    /// First unacknowledged byte when it began (`undo_marker`); `None`: there is nothing to take back.
    marker: Option<u64>,
    /// Bytes retransmitted and not reported as duplicates (`undo_retrans`); `None`: nothing has been retransmitted.
    missing: Option<u64>,
    /// Timestamp of the first retransmission (`retrans_stamp`).
    stamp: Option<u32>,
}

impl LastReduction {
    /// A loss was found at `una`, with so many retransmitted bytes in the network.
    pub fn begin(&mut self, rule: Undo, una: u64, retransmitted: u64) {
        self.stamp = None;
        self.begin_again(rule, una, retransmitted);
    }

    /// The timer has expired, after progress, in the repair of another timeout: its first retransmission still counts.
    pub fn begin_again(&mut self, rule: Undo, una: u64, retransmitted: u64) {
        (self.rule, self.marker) = (rule, (rule != Undo::Off).then_some(una));
        self.missing = (retransmitted > 0).then_some(retransmitted);
    }

    /// Whether there is something to take back.
    pub fn is_open(&self) -> bool {
        self.marker.is_some()
    }

    /// There is nothing to take back.
    pub fn forget(&mut self) {
        self.marker = None;
    }

    /// A segment is retransmitted; `stamp` is the timestamp that it carries.
    pub fn on_retransmission(&mut self, bytes: u64, stamp: u32) {
        if self.marker.is_some() {
            self.missing = Some(self.missing.unwrap_or(0) + bytes);
            self.stamp = self.stamp.or(Some(stamp));
        }
    }

    /// Whether the reduction turns out to have been needless. It is taken back once.
    pub fn on_ack(&mut self, a: &Ack, standing: Standing) -> bool {
        let Some(marker) = self.marker else { return false };
        let is_report = a.reported_twice > 0 && a.twice_end > marker;
        if is_report {
            self.missing = self.missing.map(|m| m.saturating_sub(a.reported_twice));
        }
        let none_missing = self.rule.by_dsack() && self.missing == Some(0);
        let is_delayed = self.rule.by_timestamps()
            && a.bytes > 0
            && a.ts_ecr != 0
            && self.stamp.is_some_and(|first| is_older(a.ts_ecr, first));
        let undo = match standing {
            Standing::Recovering { is_out } => (is_report && none_missing) || (is_delayed && !is_out),
            Standing::Ending => (is_report && none_missing) || is_delayed,
            Standing::TimedOut => (a.bytes > 0 && none_missing) || is_delayed,
            Standing::Later => is_report && none_missing,
        };
        if undo {
            self.forget();
        }
        undo
    }
}
