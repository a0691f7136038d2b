//! # Keepalive
//!
//! **Source**: rfc9293 section 3.8.4; rfc1122 section 4.2.3.6; linux-2.4 `tcp_keepalive_timer` (times, number of probes).
//!
//! **Idea**: when nothing has come for `idle` and nothing of ours is under way, an ACK just below the next byte is sent: the peer
//! answers it if it still knows the connection. After `probes` of them without an answer, `interval` apart, the connection is
//! given up with a reset.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `keepalive.idle` | time | 0 | rfc9293 section 3.8.4: off unless asked for, and then not below 2 hours |
//! | `keepalive.interval` | time | 75 s | linux-2.4 `tcp_keepalive_intvl` |
//! | `keepalive.probes` | probes | 9 | linux-2.4 `tcp_keepalive_probes` |
//!
//! **Deviations**: 1. Probes bear no byte of data (rfc1122 has an option for that).
//!
//! **Checked by**: tapes `keepalive_*`.

use super::super::Io;
use super::{Connection, State};
use crosswind_base::{ConfigError, Dur, Packet, TcpFlags, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a silent peer is asked for signs of life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeepaliveParams {
    /// How long nothing may come before the first probe; zero: there are none.
    pub idle: Dur,
    /// Time from a probe that is not answered to the next.
    pub interval: Dur,
    /// Probes without an answer after which the connection is given up.
    pub probes: u32,
}

impl Default for KeepaliveParams {
    fn default() -> KeepaliveParams {
        KeepaliveParams { idle: Dur::ZERO, interval: Dur::from_secs(75), probes: 9 }
    }
}

impl KeepaliveParams {
    pub fn is_on(&self) -> bool {
        self.idle > Dur::ZERO
    }
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let positive = |key, is_zero, expected| match is_zero && self.is_on() {
            true => Err(ConfigError::new(key, "0", expected)),
            false => Ok(()),
        };
        positive("interval", self.interval == Dur::ZERO, "a time above zero")?;
        positive("probes", self.probes == 0, "a number of at least 1")
    }
}

/// What is known of the peer's life.
#[derive(Clone, Copy, Debug)]
pub struct Keepalive {
    heard_at: Time,
    unanswered: u32,
}

impl Connection {
    /// The connection exists now.
    pub(super) fn watch_peer(&mut self, now: Time) {
        if self.params.connection.keepalive.is_on() {
            self.keepalive = Some(Box::new(Keepalive { heard_at: now, unanswered: 0 }));
            self.own_timer = now + self.params.connection.keepalive.idle;
        }
    }

    #[cold]
    pub(super) fn heard(&mut self, now: Time) {
        if let Some(k) = &mut self.keepalive {
            **k = Keepalive { heard_at: now, unanswered: 0 };
        }
    }

    /// It is time to see whether the peer is alive.
    pub(super) fn on_silence(&mut self, io: &mut impl Io) {
        let (now, params) = (io.now(), self.params.connection.keepalive);
        self.own_timer = Time::NEVER;
        let Some(k) = &mut self.keepalive else { return };
        let quiet_until = k.heard_at + params.idle;
        // What is under way has a timer of its own.
        let is_busy = self.tx.get().is_some_and(|tx| tx.outstanding() > 0 || tx.timer != Time::NEVER);
        if k.unanswered == 0 && (now < quiet_until || is_busy) {
            self.own_timer = if now < quiet_until { quiet_until } else { now + params.idle };
            return;
        }
        if k.unanswered >= params.probes {
            self.abort(io);
            return;
        }
        k.unanswered += 1;
        self.own_timer = now + params.interval;
        let seq = self.tx.nxt() - 1;
        io.send(Packet { seq, ..self.header(TcpFlags::ACK, now) }, None);
        debug_assert_eq!(self.state, State::Established);
    }
}
