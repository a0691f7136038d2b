//! What a connection takes from its host's memory of the peer, and what it leaves there.

use super::super::law::{Change, Controller};
use super::super::params::TcpParams;
use super::super::share::Closing;
use super::rtt::Rtt;
use super::{Connection, State};
use crate::tcp::choices::SynLoss;
use crate::tcp::facts::stamp;
use crate::tcp::io::Io;
use crosswind_base::{Dur, Packet, Time};
use std::sync::Arc;

/// Linux 2.4: a round trip up to which the initial window is larger without a known threshold.
const SHORT_WAY: Dur = Dur::from_millis(20);

impl Connection {
    /// Linux reads what it remembers of a peer when the connection is established, at either end.
    pub(super) fn recall(&mut self, io: &mut impl Io) {
        let now = io.now();
        if self.params.sharing.share_ssthresh.on()
            && let Some(v) = io.shared().and_then(|c| c.lookup(self.peer, now))
        {
            self.sender().law.change(Change::Threshold(v as f64));
            self.ssthresh_initial = v;
        }
    }

    /// Linux with timestamps knows which of several SYNs is being answered.
    pub(super) fn sample_echo(&mut self, p: &Packet, now: Time) {
        if self.params.timers.rto.hands_on_state() && self.agreed.timestamps && p.ts_ecr != 0 {
            let ticks = u64::from(stamp(now, self.params.connection.timestamp_tick).wrapping_sub(p.ts_ecr));
            let rtt = Dur((ticks * self.params.connection.timestamp_tick.0).max(1));
            let params = Arc::clone(&self.params);
            let tx = self.sender();
            tx.rtt = Rtt::new(&params);
            tx.rtt.sample(rtt, now, &params, 0, 1);
        }
    }

    /// The round trip that is remembered of this peer, once that of the handshake is known.
    pub(super) fn recall_path(&mut self, io: &mut impl Io) {
        let (now, p) = (io.now(), Arc::clone(&self.params));
        if p.sharing.share_rtt.on()
            && let Some(known) = io.shared().and_then(|c| c.path(self.peer, now))
        {
            let tx = self.sender();
            tx.rtt.recall(known, &p);
            if p.sharing.initial_window_known_segments > 0 {
                let srtt = tx.rtt.srtt.unwrap_or_default();
                tx.law.change(Change::StartFrom(known_window(srtt, tx.law.ssthresh(), &p)));
            }
        }
    }

    /// The timer of the SYN or SYN-ACK has expired.
    pub(super) fn on_syn_lost(&mut self) {
        let opens = self.state == State::SynSent;
        let rule = self.params.connection.syn_loss;
        let is_second = self.syn_retransmissions > 1;
        let tx = self.sender();
        tx.rtt.back_off();
        let mss = tx.law.window().mss();
        match rule {
            SynLoss::OneAfterTwo if !is_second => {}
            SynLoss::One | SynLoss::OneAfterTwo => tx.law.change(Change::StartFrom(mss)),
            // The side that answers makes its socket when the connection exists.
            SynLoss::OneAndThresholdOfTwo if opens => tx.law.change(Change::Restore { cwnd: mss, ssthresh: 2.0 * mss }),
            SynLoss::Initial | SynLoss::OneAndThresholdOfTwo => {}
        }
    }

    /// The connection has ended in order.
    pub(super) fn remember(&mut self, now: Time, io: &mut impl Io) {
        // A connection that has measured nothing since its last timeout takes the known round trip with it, and tells of nothing.
        let path = self.tx.get().and_then(|tx| tx.rtt.path());
        if self.params.sharing.share_rtt.on()
            && let Some(c) = io.shared()
        {
            match path {
                Some(path) => c.store_path(self.peer, now, path),
                None => return c.forget_path(self.peer, now),
            }
        }
        if self.params.sharing.share_ssthresh.on() {
            let tx = self.sender();
            let closing = Closing {
                cwnd: tx.law.cwnd() as u64,
                ssthresh: tx.law.ssthresh() as u64,
                open: tx.is_open(),
                initial_ssthresh: self.params.window.initial_ssthresh.0,
            };
            if let Some(c) = io.shared() {
                c.store(self.peer, now, closing);
            }
        }
    }
}

/// Linux 2.4 (`tcp_init_cwnd`): more than usual where the threshold is known, which then bounds it, or the way is short.
fn known_window(srtt: Dur, ssthresh: f64, p: &TcpParams) -> f64 {
    let mss = p.connection.mss.0 as f64;
    let is_unknown = ssthresh >= p.window.initial_ssthresh.0 as f64;
    let segments = match is_unknown && srtt > SHORT_WAY {
        true => p.window.initial_window_segments,
        false => p.sharing.initial_window_known_segments,
    };
    (f64::from(segments) * mss).min(ssthresh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::preset;

    #[test]
    fn the_window_towards_a_known_peer_is_that_of_tcp_init_cwnd() {
        let p = preset::preset("linux-2.4.17").expect("a preset");
        let segments = |srtt_ms: u64, ssthresh: Option<u64>| {
            let threshold = ssthresh.map_or(p.window.initial_ssthresh.0, |s| s * p.connection.mss.0);
            known_window(Dur::from_millis(srtt_ms), threshold as f64, &p) / p.connection.mss.0 as f64
        };
        assert_eq!(segments(20, None), 3.0, "a short way");
        assert_eq!(segments(21, None), 2.0, "a long way, and no threshold");
        assert_eq!(segments(900, Some(8)), 3.0, "a threshold");
        assert_eq!(segments(900, Some(2)), 2.0, "a small one");
    }
}
