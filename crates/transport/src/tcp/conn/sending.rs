//! The sending half of a connection, made when there is something to send.
//!
//! Most ends that only receive need it for a FIN alone, and flows that have not started need none: thousands of idle
//! flows cost little, and a receiver of data walks past it.

use super::super::params::TcpParams;
use super::super::sender::{Sender, SenderStats};
use super::rtt::Rtt;
use super::state::Terms;
use crosswind_base::{Dur, Time};

/// A sender, or what one would start from.
#[derive(Default)]
pub struct Sending {
    made: Option<Box<Sender>>,
    /// Right edge of the peer's window, as far as it is known.
    edge: u64,
    /// Round trip of the handshake, and when it ended.
    handshake: Option<(Dur, Time)>,
}

static NOTHING_SENT: SenderStats = SenderStats::NONE;

impl Sending {
    pub fn get(&self) -> Option<&Sender> {
        self.made.as_deref()
    }
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut Sender> {
        self.made.as_deref_mut()
    }
    pub fn stats(&self) -> &SenderStats {
        self.get().map_or(&NOTHING_SENT, |s| &s.stats)
    }
    /// Next byte to be sent for the first time.
    #[inline]
    pub fn nxt(&self) -> u64 {
        self.get().map_or(1, |s| s.nxt)
    }

    /// The sender, made now unless it has been.
    #[inline]
    pub fn begin(&mut self, p: &TcpParams, terms: impl FnOnce() -> Terms) -> &mut Sender {
        if self.made.is_none() {
            self.make(p, terms());
        }
        self.made.as_deref_mut().expect("it has just been made")
    }

    #[cold]
    fn make(&mut self, p: &TcpParams, terms: Terms) {
        let mut s = Box::new(Sender::new(p, terms.sack));
        s.ecn.begin(terms.ecn, p);
        s.open_window(self.edge);
        if let Some((rtt, at)) = self.handshake {
            learn(&mut s, rtt, at, p, terms);
        }
        self.made = Some(s);
    }

    pub fn open_window(&mut self, edge: u64) {
        match &mut self.made {
            Some(s) => s.open_window(edge),
            None => self.edge = self.edge.max(edge),
        }
    }

    /// The timeout of the SYN or SYN-ACK.
    pub fn rto(&self, p: &TcpParams) -> Dur {
        self.get().map_or_else(|| Rtt::new(p).rto(p), |s| s.rtt.rto(p))
    }

    /// What is known of the round trip: of the handshake, as long as nothing has been sent.
    pub fn rtt(&self, p: &TcpParams) -> Rtt {
        self.get().map_or_else(
            || {
                let mut fresh = Rtt::new(p);
                if let Some((rtt, at)) = self.handshake {
                    fresh.sample(rtt, at, p, 0, 1);
                }
                fresh
            },
            |s| s.rtt,
        )
    }

    /// The handshake took `rtt`.
    pub fn sample_handshake(&mut self, rtt: Dur, now: Time, p: &TcpParams, terms: Terms) {
        match &mut self.made {
            Some(s) => learn(s, rtt, now, p, terms),
            None => self.handshake = Some((rtt, now)),
        }
    }
}

fn learn(s: &mut Sender, rtt: Dur, now: Time, p: &TcpParams, terms: Terms) {
    s.stats.rtt_ns.record(rtt.0);
    // Linux forgets the round trip of the small SYN without timestamps (`tcp_init_metrics`), and never learns
    // that of a SYN-ACK: the first flight runs under the initial timeout.
    if !p.timers.rto.hands_on_state() || terms.timestamps {
        s.rtt.sample(rtt, now, p, 0, 1);
        s.handshake_rtt = rtt;
    }
}
