//! Tapes: one connection is played a script. It is told when to open, write and close and which segments arrive; it
//! must send exactly the segments that the script lists, at the times listed, and nothing else.
//!
//! ```text
//! # a comment; blank lines are free
//! params preset=baseline-linux-2.4 mss="1000 B" delayed_ack="0 s"     must come first; values as in a scenario
//! remember 8000                     the host's cache of control blocks knows this slow-start threshold (bytes)
//! 0.000 open                        absolute seconds, or +0.1 after the line before
//! +0    > S mss 1000 wscale 0 sackok
//! +0.1  < S. ack 1 win 65535 mss 1000 sackok
//! +0    > .
//! handshake 0.1 win 65535           short for the four lines above, with every option that the parameters offer
//! +0    write 10000
//! +0    > . 1:1001                  a data segment, first byte and the byte after the last
//! *     > . 1:1001 again            `*`: at any time; `again`: flagged as a retransmission
//! +0.1  < . ack 1001 sack 2001:3001,4001:5001
//! +0    < . 1:101 ack 1 ce          data from the peer, marked
//! +0    close | abort               `close` ends the own direction; `shutdown write` is the same, `shutdown both` reads no more either
//! +0    hold                        from here on what arrives stays unread until it is read
//! +0    read 1000
//! +0    icmp 1 576                  a router says that the packet with this first byte is too large, and what fits
//! tolerance 0.004                   how far from its time a segment may leave, in seconds; 1 microsecond if nothing is said
//! +0    expect cwnd 2000            also ssthresh una nxt in_flight rto srtt rttvar timer state phase timeouts spurious genuine
//!                                   recoveries reductions retransmitted delivered segments shared mss unread probes refused; states also by the names of RFC 9293
//! ```
//!
//! Flags: `S` SYN, `F` FIN, `R` RST, `.` ACK, `E` ECE, `W` CWR, `A` AE; `ace 5` sets the last three from a number. `accecn1 e1b,ceb,e0b` and
//! `accecn0 e0b,ceb,e1b` are the option of AccECN in its two orders, `no-accecn` none; `expect ce` also `ce_bytes`, `ect0_bytes`, `ect1_bytes`. A segment that the connection sends is compared in
//! flags, byte range, SACK blocks (exactly), for SYNs also in the presence of each option, and in everything else that
//! the line mentions (`ack`, `win`, `mss`, `ts val:ecr` with `*` for any, `ect`, `ect1`, `not-ect`, `len` on the wire). `win` of an arriving
//! segment is in bytes and stays as it was when not given; `*` in its `ts` is the value sent last; `ack` likewise; `rexmit` flags a retransmission by the peer.

mod mismatch;
mod packetdrill;
mod segment;

use super::Surroundings;
use crosswind_base::packet::{Ext, Meta};
use crosswind_base::{Dur, Event, Packet, SackList, TcpFlags, Time};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::tcp::ecn::counting::Counting;
use crosswind_transport::tcp::law::Controller;
use crosswind_transport::tcp::share::Cache;
use crosswind_transport::tcp::{CloseRule, Connection, preset};
use mismatch::{Mismatch, differ};
use segment::{Segment, Stamp, number, segment, show};
use std::fmt;
use std::sync::Arc;

/// Where a tape and the connection disagree, or the tape makes no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapeError {
    pub file: String,
    pub line: usize,
    pub expected: String,
    pub found: String,
}

impl fmt::Display for TapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: expected {}, found {}", self.file, self.line, self.expected, self.found)
    }
}

/// The player: a connection, and what it has sent and the tape has not yet asked for.
struct Player {
    conn: Connection,
    cache: Cache,
    now: Time,
    sent: Vec<(Packet, Option<Ext>)>,
    /// When each of `sent` left.
    sent_at: Vec<Time>,
    notes: Vec<Event>,
    /// What the peer says when a line does not.
    peer_ack: u64,
    peer_win: u32,
    peer_next: u64,
    /// How far from its time a segment may leave.
    tolerance: Dur,
    /// The application has ended its direction.
    has_closed: bool,
    /// The timestamp that was sent last.
    last_stamp: u32,
}

const PEER: u32 = 1;

impl Player {
    fn new(params: serde_json::Value) -> Result<Player, Mismatch> {
        let p = preset::read(&params, "params").map_err(|e| ("valid parameters".to_string(), e.to_string()))?;
        let mut conn = Connection::new(Arc::new(p), PEER, CloseRule::ByApplication);
        // A tape may ask for its quantities before anything has been sent.
        conn.sender();
        Ok(Player {
            conn,
            cache: Cache::new(None),
            now: Time::ZERO,
            sent: Vec::new(),
            sent_at: Vec::new(),
            notes: Vec::new(),
            peer_ack: 1,
            peer_win: 65535,
            peer_next: 1,
            // Tapes are written in microseconds.
            tolerance: Dur::from_micros(1),
            has_closed: false,
            last_stamp: 0,
        })
    }

    fn call(&mut self, f: impl FnOnce(&mut Connection, &mut Surroundings<'_>)) {
        let Player { conn, cache, now, sent, notes, .. } = self;
        f(conn, &mut Surroundings { now: *now, sent, notes, cache: Some(cache), is_watched: true });
        self.sent_at.resize(self.sent.len(), self.now);
    }

    /// Serves timers up to and including `until`. Nothing unasked-for may have been sent before that instant.
    fn advance(&mut self, until: Time) -> Result<(), Mismatch> {
        while let Some(t) = self.conn.next_wake().filter(|t| *t <= until) {
            if t < self.now {
                return differ("timers that lie ahead", format!("one at {t:?}, and it is {:?}", self.now));
            }
            self.now = t;
            self.call(|c, io| c.on_wake(io));
            if self.sent.len() > 10_000 {
                return differ("progress", "more than 10000 segments unasked for");
            }
        }
        self.now = until;
        Ok(())
    }

    fn nothing_pending(&self, before: Time) -> Result<(), Mismatch> {
        match self.sent.first() {
            Some((p, e)) if self.sent_at[0] < before => {
                differ("nothing to be sent", format!("`{}` at {:?}", show(p, e.as_ref()), self.sent_at[0]))
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, want: &Segment, text: &str, at: Option<Time>) -> Result<(), Mismatch> {
        if self.sent.is_empty() {
            let latest = at.map_or(Time::NEVER, |t| t + self.tolerance);
            while self.sent.is_empty() {
                let Some(t) = self.conn.next_wake().filter(|t| *t <= latest) else { break };
                self.now = self.now.max(t);
                self.call(|c, io| c.on_wake(io));
            }
        }
        if self.sent.is_empty() {
            return differ(format!("`> {text}`"), format!("nothing sent at {:?}", self.now));
        }
        let (p, e) = self.sent.remove(0);
        let left = self.sent_at.remove(0);
        let shown = format!("`> {}` at {left:?}", show(&p, e.as_ref()));
        if !want.matches(&p, e.as_ref()) {
            return differ(format!("`> {text}`"), shown);
        }
        self.last_stamp = p.ts_val;
        match at {
            Some(t) if left.since(t).max(t.since(left)) > self.tolerance => {
                differ(format!("`> {text}` at {t:?}"), shown)
            }
            _ => Ok(()),
        }
    }

    fn inject(&mut self, s: &Segment) {
        let syn = s.flags & TcpFlags::SYN.0 != 0;
        let fin = s.flags & TcpFlags::FIN.0 != 0;
        let (seq, end) = s.range.unwrap_or(if syn { (0, 0) } else { (self.peer_next, self.peer_next) });
        self.peer_ack = s.ack.unwrap_or(self.peer_ack);
        self.peer_win = s.win.unwrap_or(self.peer_win);
        if !syn {
            self.peer_next = self.peer_next.max(end + fin as u64);
        }
        let mut sack = SackList::EMPTY;
        for b in &s.sack {
            sack.push(b.0, b.1);
        }
        let last = self.last_stamp;
        let ext = Ext {
            sack,
            mss: s.mss.unwrap_or(0),
            wscale: s.wscale,
            sack_permitted: s.sackok,
            accecn: s.accecn.given(),
            ..Ext::default()
        };
        let p = Packet {
            sent_at: self.now,
            cause: self.now,
            seq,
            ack: if s.flags & TcpFlags::ACK.0 != 0 { self.peer_ack } else { 0 },
            wnd: self.peer_win,
            payload: (end - seq) as u16,
            len: 40 + (end - seq) as u16,
            flags: TcpFlags(s.flags),
            ds: s.ecn.unwrap_or_default().into(),
            ts_val: s.ts.map_or(0, |t| t.0.or(last)),
            ts_ecr: s.ts.map_or(0, |t| t.1.or(last)),
            meta: if s.again { Meta(Meta::REXMIT) } else { Meta::default() },
            ..Packet::default()
        };
        self.call(|c, io| c.on_packet(&p, Some(&ext), io));
    }

    fn open(&mut self) -> Result<(), Mismatch> {
        if self.conn.state != State::Closed {
            return differ("a connection that is still to be opened", format!("one that is {:?}", self.conn.state));
        }
        self.call(|c, io| c.open(io));
        Ok(())
    }

    /// The three-way handshake with every option that the parameters offer.
    fn handshake(&mut self, words: &[&str]) -> Result<(), Mismatch> {
        let rtt: f64 = number(words.first().copied(), "the round-trip time")?;
        self.open()?;
        let (syn, ext) = self.sent.remove(0);
        self.sent_at.remove(0);
        let until = self.now + Dur::from_secs_f64(rtt);
        self.advance(until)?;
        let e = ext.unwrap_or_default();
        let mut answer = segment(&words[1..].iter().copied().fold(vec!["S."], |mut v, w| {
            v.push(w);
            v
        }))?;
        let ace = match syn.flags.ace() {
            7 => 2,
            ace => ace & 1,
        };
        answer.flags = TcpFlags(answer.flags).with_ace(ace).0;
        (answer.ack, answer.mss, answer.wscale, answer.sackok) = (Some(1), Some(e.mss), e.wscale, e.sack_permitted);
        answer.ts = answer.ts.or((syn.ts_val != 0).then_some((Stamp::Is(1), Stamp::Is(syn.ts_val))));
        self.inject(&answer);
        self.take(&segment(&["."])?, ". (the third segment of the handshake)", Some(until))
    }

    fn expect(&self, words: &[&str]) -> Result<(), Mismatch> {
        let (what, want) = match words {
            [a, b] => (*a, *b),
            _ => return differ("`expect quantity value`", format!("`{}`", words.join(" "))),
        };
        let c = &self.conn;
        let (s, tx) = (c.tx.stats(), c.tx.get().expect("it was made at the start"));
        let secs = |t: Option<f64>| t.map_or("none".to_string(), |v| format!("{v}"));
        let counted = |f: fn(&Counting) -> u32| tx.ecn.counting.as_ref().map_or("none".into(), |c| f(c).to_string());
        let timer = (tx.timer != Time::NEVER).then(|| tx.timer.as_secs_f64());
        let found = match what {
            "cwnd" => format!("{}", tx.law.cwnd()),
            "ssthresh" => format!("{}", tx.law.ssthresh()),
            "una" => tx.una.to_string(),
            "nxt" => tx.nxt.to_string(),
            "in_flight" => tx.in_flight(c.params()).to_string(),
            "rto" => secs(Some(tx.rtt.rto(c.params()).as_secs_f64())),
            "srtt" => secs(tx.rtt.srtt.map(|d| d.as_secs_f64())),
            "timer" => secs(timer),
            "state" if want == format!("{:?}", c.state).to_lowercase() => want.to_string(),
            "state" => c.rfc_state(self.now).to_string(),
            "mss" => c.params().connection.mss.0.to_string(),
            "unread" => c.rx.unread().to_string(),
            "probes" => s.window_probes.to_string(),
            "refused" => c.rx.stats.refused_segments.to_string(),
            "phase" => format!("{:?}", tx.phase).split(' ').next().unwrap_or("").to_lowercase(),
            "timeouts" => s.timeouts.to_string(),
            "spurious" => s.spurious_detected.to_string(),
            "genuine" => s.genuine_detected.to_string(),
            "rttvar" => format!("{}", tx.rtt.rttvar(c.params()).as_secs_f64()),
            "undone" => s.undone_recoveries.to_string(),
            "recoveries" => s.fast_recoveries.to_string(),
            "reductions" => s.ecn_reductions.to_string(),
            "retransmitted" => s.retransmitted_segments.to_string(),
            "segments" => s.segments.to_string(),
            "ce" => counted(|k| k.marked()),
            "ce_bytes" => counted(|k| k.bytes()[0]),
            "ect0_bytes" => counted(|k| k.bytes()[1]),
            "ect1_bytes" => counted(|k| k.bytes()[2]),
            "delivered" => c.rx.delivered().to_string(),
            "shared" => self.cache.clone().lookup(PEER, self.now).map_or("none".into(), |v| v.to_string()),
            _ => return differ("a known quantity after `expect`", format!("`{what}`")),
        };
        let same = match (want.parse::<f64>(), found.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() < 1e-6,
            _ => want == found,
        };
        if same { Ok(()) } else { differ(format!("{what} {want}"), format!("{what} {found}")) }
    }

    fn remember(&mut self, words: &[&str]) -> Result<(), Mismatch> {
        let v: u64 = number(words.first().copied(), "remember")?;
        let closing = crosswind_transport::tcp::share::Closing {
            cwnd: v + 1,
            ssthresh: v,
            initial_ssthresh: u64::MAX,
            open: true,
        };
        self.cache.store(PEER, Time::ZERO, closing);
        Ok(())
    }

    /// One line after `params`.
    fn line(&mut self, text: &str) -> Result<(), Mismatch> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[0] {
            "handshake" => return self.handshake(&words[1..]),
            "tolerance" => {
                self.tolerance = Dur::from_secs_f64(number(words.get(1).copied(), "tolerance")?);
                return Ok(());
            }
            "remember" => return self.remember(&words[1..]),
            _ => {}
        }
        let at = match words[0] {
            "*" => None,
            w => {
                let (from, digits) = match w.strip_prefix('+') {
                    Some(d) => (self.now, d),
                    None => (Time::ZERO, w),
                };
                let secs: f64 = number(Some(digits), "time")?;
                Some(from + Dur::from_secs_f64(secs))
            }
        };
        if let Some(t) = at {
            if t + self.tolerance < self.now {
                return differ(format!("a time not before {:?}", self.now), format!("{t:?}"));
            }
            self.advance(t.max(self.now))?;
        }
        let rest = words.get(2..).unwrap_or(&[]);
        let verb = words.get(1).copied().unwrap_or("nothing");
        if verb == ">" {
            return self.take(&segment(rest)?, &rest.join(" "), at);
        }
        // What was sent before this instant should have been asked for.
        if let Some(t) = at {
            self.nothing_pending(t)?;
        }
        self.act(verb, rest)
    }

    /// What happens to the connection, and what is asked of it.
    fn act(&mut self, verb: &str, rest: &[&str]) -> Result<(), Mismatch> {
        self.has_closed |= ["close", "shutdown", "abort"].contains(&verb);
        match verb {
            "<" => self.inject(&segment(rest)?),
            "open" => self.open()?,
            "close" => self.call(|c, io| c.close(io)),
            "abort" => self.call(|c, io| c.abort(io)),
            "shutdown" => match rest {
                ["write"] => self.call(|c, io| c.close(io)),
                ["both"] => self.call(|c, io| c.shut(io)),
                _ => return differ("`shutdown write` or `shutdown both`", format!("`{}`", rest.join(" "))),
            },
            "icmp" => {
                let [seq, mtu] = rest else { return differ("`icmp seq mtu`", format!("`{}`", rest.join(" "))) };
                let (seq, mtu) = (number(Some(seq), "seq")?, number(Some(mtu), "mtu")?);
                self.call(|c, io| c.on_too_big(seq, mtu, io));
            }
            "wait" => {}
            "hold" => self.conn.rx.wait_for_reads(),
            "read" => {
                let n = number(rest.first().copied(), verb)?;
                let mut got = 0;
                self.call(|c, io| got = c.read(n, io));
                if got != n {
                    return differ(format!("{n} bytes to read"), got.to_string());
                }
            }
            "write" => {
                let n = number(rest.first().copied(), verb)?;
                if self.has_closed {
                    return differ("no `write` after the end of the own direction", format!("`write {n}`"));
                }
                self.call(|c, io| c.write(n, io));
            }
            "expect" => self.expect(rest)?,
            other => {
                return differ(
                    "one of > < icmp wait open close shutdown abort write hold read expect",
                    format!("`{other}`"),
                );
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Mismatch> {
        self.nothing_pending(Time::NEVER)?;
        if self.conn.state == State::Closed {
            return differ("a tape that opens the connection", "one that does not");
        }
        Ok(())
    }
}

/// `key=value` words as a table (`outer.key=value` in a table of its own); a value in quotes may hold spaces.
fn params(text: &str) -> Result<serde_json::Value, Mismatch> {
    let mut table = serde_json::json!({});
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or_else(|| ("`key=value`".to_string(), format!("`{rest}`")))?;
        let (value, tail) = match after.strip_prefix('"') {
            Some(q) => q.split_once('"').ok_or_else(|| ("a closing quote".to_string(), format!("`{after}`")))?,
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        let json = value.parse::<u64>().map_or_else(|_| value.into(), serde_json::Value::from);
        match key.trim().split_once('.') {
            Some((outer, inner)) => table[outer][inner] = json,
            None => table[key.trim()] = json,
        }
        rest = tail.trim();
    }
    Ok(table)
}

/// Plays a tape; `file` is its name for messages.
pub fn play(file: &str, text: &str) -> Result<(), TapeError> {
    let mut player: Option<Player> = None;
    let mut last = 0;
    for (i, raw) in text.lines().enumerate() {
        let line = raw.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        last = i + 1;
        let done = match (&mut player, line.strip_prefix("params")) {
            (None, Some(p)) => params(p).and_then(Player::new).map(|p| player = Some(p)),
            (None, None) => differ("`params` first", format!("`{line}`")),
            (Some(p), _) => p.line(line),
        };
        done.map_err(|(expected, found)| TapeError { file: file.into(), line: i + 1, expected, found })?;
    }
    let done = player.map_or_else(|| differ("a tape", "an empty file"), |p| p.finish());
    done.map_err(|(expected, found)| TapeError { file: file.into(), line: last, expected, found })
}

/// Plays a script in packetdrill's language; `params` is the line of parameters that stands for its socket and system.
pub fn play_packetdrill(file: &str, params: &str, script: &str) -> Result<(), TapeError> {
    let wrong = |(line, (expected, found))| TapeError { file: file.into(), line, expected, found };
    let text = packetdrill::tape(params, script).map_err(wrong)?;
    // The line of parameters is not in the script.
    play(file, &text).map_err(|e| TapeError { line: e.line.saturating_sub(1), ..e })
}
