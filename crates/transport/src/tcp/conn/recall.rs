//! What a connection takes from its host's memory of the peer, and what it leaves there.

use super::super::Io;
use super::super::law::WindowLaw;
use super::super::params::RtoProfile;
use super::super::share::Closing;
use super::rtt::Rtt;
use super::{Connection, stamp};
use crosswind_base::{Dur, Packet, Time};
use std::sync::Arc;

impl Connection {
    /// Linux reads what it remembers of a peer when the connection is established, at either end.
    pub(super) fn recall(&mut self, io: &mut impl Io) {
        let now = io.now();
        if self.params.share_ssthresh.on()
            && let Some(v) = io.shared().and_then(|c| c.lookup(self.peer, now))
        {
            self.sender().law.set_ssthresh(v as f64);
            self.ssthresh_initial = v;
        }
    }

    /// Linux with timestamps knows which of several SYNs is being answered.
    pub(super) fn sample_echo(&mut self, p: &Packet, now: Time) {
        if self.params.rto == RtoProfile::Linux24 && self.agreed.timestamps && p.ts_ecr != 0 {
            let ticks = u64::from(stamp(now, self.params.timestamp_tick).wrapping_sub(p.ts_ecr));
            let rtt = Dur((ticks * self.params.timestamp_tick.0).max(1));
            let params = Arc::clone(&self.params);
            let tx = self.sender();
            tx.rtt = Rtt::new(&params);
            tx.rtt.sample(rtt, now, &params, 0, 1);
        }
    }

    /// The round trip that is remembered of this peer, once that of the handshake is known.
    pub(super) fn recall_path(&mut self, io: &mut impl Io) {
        let (now, p) = (io.now(), Arc::clone(&self.params));
        if p.share_rtt.on()
            && let Some(known) = io.shared().and_then(|c| c.path(self.peer, now))
        {
            let tx = self.sender();
            tx.rtt.recall(known, &p);
            if p.initial_window_known_segments > 0 {
                let w = tx.law.window_mut();
                w.cwnd = f64::from(p.initial_window_known_segments) * w.mss;
            }
        }
    }

    /// The connection has ended in order.
    pub(super) fn remember(&mut self, now: Time, io: &mut impl Io) {
        if self.params.share_ssthresh.on() {
            let tx = self.sender();
            let closing = Closing {
                cwnd: tx.law.cwnd() as u64,
                ssthresh: tx.law.ssthresh() as u64,
                open: tx.is_open(),
                initial_ssthresh: self.params.initial_ssthresh.0,
            };
            if let Some(c) = io.shared() {
                c.store(self.peer, now, closing);
            }
        }
        if self.params.share_rtt.on()
            && let (Some(path), Some(c)) = (self.tx.get().and_then(|tx| tx.rtt.path()), io.shared())
        {
            c.store_path(self.peer, now, path);
        }
    }
}
