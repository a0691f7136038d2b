//! # Undo of needless fast recoveries
//!
//! **Source**: rfc3708 section 3 (by reports of duplicates); rfc3522 and rfc4015 section 3 (by timestamps); linux-6.18 `tcp_init_undo`,
//! `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`.
//!
//! **Idea**: a segment that is only late looks lost, and the window is reduced for nothing. Two facts tell afterwards. Everything that the
//! recovery has retransmitted is reported as a duplicate (D-SACK), in the recovery or later: nothing of it was lost. Or an ACK that advances
//! echoes a timestamp older than that of the first retransmission: the original caused it. Then window and threshold come back: each
//! becomes what it was at the start, or stays if it is larger by now, and what is held lost is so no more.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `recovery_undo` | - | `off` | rfc6675 has none; `both` in the presets `linux-6*` and `bbr3*` |
//!
//! **Deviations**: 1. A partial ACK of an original does not stop retransmissions that are due: the kernel sends new data alone until those
//! that are out have been acknowledged, then it undoes, as here. 2. A timeout ends the search: the kernel may still take back
//! the whole reduction by D-SACK. 3. What a retransmitted segment is reported for is counted in bytes of the report,
//! not by segment. 4. ns-2 and the RFCs that the other presets follow have no such rule; Linux 2.4 has it, but its presets
//! leave it out, as what their studies have measured shows no reordering.
//!
//! **Checked by**: `undo/fast_recovery_oracle.rs` (the kernel's counters on random ACKs), `tests/tapes/undo_*.tape`.

use super::super::Ack;
use super::super::params::choice;
use super::eifel::is_older;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

choice!(
    /// What shows that a fast recovery was needless, so that window and threshold come back.
    #[derive(Default)]
    RecoveryUndo {
        /// Nothing.
        #[default]
        Off,
        /// D-SACKs of all that it has retransmitted (RFC 3708); needs `dsack`.
        Dsack,
        /// An older timestamp than that of its first retransmission (RFC 3522); needs `timestamps`.
        Timestamps,
        /// Either (Linux).
        Both,
    }
);

impl RecoveryUndo {
    pub fn by_dsack(self) -> bool {
        matches!(self, RecoveryUndo::Dsack | RecoveryUndo::Both)
    }
    pub fn by_timestamps(self) -> bool {
        matches!(self, RecoveryUndo::Timestamps | RecoveryUndo::Both)
    }
}

/// Where an ACK has found the sender, and left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// In the recovery; whether something retransmitted is neither acknowledged nor reported.
    Recovering { is_out: bool },
    /// It ends the recovery.
    Ending,
    /// After it.
    Later,
}

/// The last fast recovery, as long as it may be taken back.
#[derive(Clone, Copy, Debug)]
pub struct FastRecovery {
    rule: RecoveryUndo,
    /// First unacknowledged byte when it began (`undo_marker`); `None`: there is nothing to take back.
    marker: Option<u64>,
    /// Bytes retransmitted and not reported as duplicates (`undo_retrans`); `None`: nothing has been retransmitted.
    missing: Option<u64>,
    /// Timestamp of the first retransmission (`retrans_stamp`).
    stamp: Option<u32>,
}

impl FastRecovery {
    pub fn asked_for(rule: RecoveryUndo) -> Option<FastRecovery> {
        (rule != RecoveryUndo::Off).then_some(FastRecovery { rule, marker: None, missing: None, stamp: None })
    }

    /// A recovery begins at `una`, with so many retransmitted bytes in the network.
    pub fn begin(&mut self, una: u64, retransmitted: u64) {
        (self.marker, self.stamp) = (Some(una), None);
        self.missing = (retransmitted > 0).then_some(retransmitted);
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

    /// Whether the recovery turns out to have been needless. It is taken back once.
    pub fn on_ack(&mut self, a: &Ack, standing: Standing) -> bool {
        let Some(marker) = self.marker else { return false };
        let is_report = a.reported_twice > 0 && a.twice_end > marker;
        if is_report {
            self.missing = self.missing.map(|m| m.saturating_sub(a.reported_twice));
        }
        let all_reported = self.rule.by_dsack() && is_report && self.missing == Some(0);
        let is_delayed = self.rule.by_timestamps()
            && a.bytes > 0
            && a.ts_ecr != 0
            && self.stamp.is_some_and(|first| is_older(a.ts_ecr, first));
        let undo = all_reported
            || match standing {
                Standing::Recovering { is_out } => is_delayed && !is_out,
                Standing::Ending => is_delayed,
                Standing::Later => false,
            };
        if undo {
            self.forget();
        }
        undo
    }
}
