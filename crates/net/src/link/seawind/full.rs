//! The Seawind link with everything: errors and their repair, frames, confirmations that hold buffer space, a line that
//! changes.

use super::arq::{Errors, FrameFate};
use super::channel::{Channel, History, Reached, State};
use super::entrance::{Entrance, Place};
use super::line::{Background, Changing, Line, Outages, Rates, Steady};
use super::params::{AckOrder, Hold, Order, SeawindParams};
use crate::build::BuildCx;
use crate::build::Origin;
use crate::link::{Fate, Link, TxPlan};
use crate::params;
use crosswind_base::{BitRate, ConfigError, Dur, Packet, Past, Rng, Setting, Size, Streams, Time};
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// The full Seawind link.
pub struct Full {
    params: SeawindParams,
    origin: Origin,
    entrance: Entrance,
    line: Line,
    line_free: Time,
    /// When the radio channel is released if nothing more is sent; where allocating it is modelled.
    released_at: Time,
    errors: Errors,
    delays: Rng,
    allocations: Rng,
    last_release: Time,
    resequencing: Resequencing,
    ack_delay: Dur,
}

/// The far end's buffer of frames that have overtaken a predecessor: when each is released, and how large it is.
#[derive(Default)]
struct Resequencing {
    waiting: VecDeque<(Time, u64)>,
    bytes: u64,
}

impl Resequencing {
    /// The first time from `start` on at which `bytes` more would fit if they had to wait.
    fn room_at(&mut self, bytes: u64, limit: Size, start: Time) -> Time {
        let mut at = start;
        while let Some(&(release, held)) = self.waiting.front()
            && (release <= at || self.bytes + bytes > limit.0)
        {
            at = at.max(release);
            self.bytes -= held;
            self.waiting.pop_front();
        }
        at
    }
    fn keep(&mut self, bytes: u64, release: Time) {
        self.bytes += bytes;
        self.waiting.push_back((release, bytes));
    }
}

impl Full {
    pub fn new(params: SeawindParams, cx: &BuildCx<'_>) -> Full {
        let channel = params.channel.as_ref().map(|c| {
            let source = if c.stretch.is_some() { cx.across_repetitions() } else { *cx };
            let rng = match (c.seed, c.history) {
                (Some(seed), _) => Streams::new(seed).named("channel"),
                (None, History::Link) => source.shared_rng("channel"),
                (None, History::Direction) => source.rng("channel"),
            };
            Channel::stretched(c.clone(), rng, cx.repetition())
        });
        Full {
            entrance: Entrance::new(params.send_buffer, params.in_transit),
            line: line(&params, channel.clone(), cx),
            line_free: Time::ZERO,
            released_at: Time::ZERO,
            errors: Errors {
                channel,
                error: params.error,
                unit: params.error_unit,
                arq: params.arq.as_ref().cloned(),
                rng: cx.rng("errors"),
            },
            delays: cx.rng("delays"),
            allocations: cx.rng("allocation"),
            last_release: Time::ZERO,
            resequencing: Resequencing::default(),
            ack_delay: params.ack_delay.unwrap_or(params.delay),
            params,
            origin: cx.origin(),
        }
    }

    /// When the transmission of a frame that is ready at `ready` starts.
    fn start_at(&mut self, bytes: u64, ready: Time) -> Time {
        let mut start = ready.max(self.line_free);
        if self.params.order == Order::Kept {
            start = self.resequencing.room_at(bytes, self.params.receive_buffer, start);
        }
        if let Some(a) = self.params.allocation.as_ref()
            && start >= self.released_at
        {
            start += a.delay.draw(&mut self.allocations);
        }
        start
    }

    /// Sends one frame; `extra` is the packet's random delay.
    fn send_frame(&mut self, frame: Frame, ready: Time, extra: Dur) -> Sent {
        let on_line = frame.bytes + self.params.overhead.0 as u32;
        let start = self.start_at(frame.bytes as u64, ready);
        let end = self.line.send(on_line, start, self.line_free);
        self.line_free = end;
        if let Some(a) = self.params.allocation.as_ref() {
            self.released_at = end + a.idle_timeout;
        }
        let outcome = self.errors.send(end, on_line);
        let arrival = end + self.params.delay + outcome.delay + extra;
        let release = match self.params.order {
            Order::Kept => arrival.max(self.last_release),
            Order::AsArrived => arrival,
        };
        self.last_release = self.last_release.max(release);
        if release > arrival && outcome.fate == FrameFate::Arrives {
            self.resequencing.keep(frame.bytes as u64, release);
        }
        let leaves = match (self.params.hold, self.params.ack_order) {
            (Hold::Sent, _) => end,
            (Hold::Acknowledged, AckOrder::InOrder) => release + self.ack_delay,
            (Hold::Acknowledged, AckOrder::Each) => arrival + self.ack_delay,
        };
        self.entrance.hold(Place { bytes: frame.bytes as u64, packets: frame.packets, leaves });
        Sent { start, end, release, attempts: outcome.attempts, fate: outcome.fate }
    }

    /// Delay that a packet is given besides that of the line.
    fn random_delay(&mut self) -> Dur {
        match self.params.random_delay.as_ref() {
            Some(r) if self.delays.chance(r.probability) => r.length.draw(&mut self.delays),
            _ => Dur::ZERO,
        }
    }
}

/// A piece of a packet.
#[derive(Clone, Copy)]
struct Frame {
    bytes: u32,
    /// 1 for the last one.
    packets: u64,
}

/// What became of it.
#[derive(Clone, Copy)]
struct Sent {
    start: Time,
    end: Time,
    release: Time,
    attempts: u32,
    fate: FrameFate,
}

fn line(params: &SeawindParams, channel: Option<Channel>, cx: &BuildCx<'_>) -> Line {
    if !params.line_changes() {
        return Line::Steady(Steady::new(params.rate, params.tx_tick));
    }
    let mut line = Changing::new(params.rate);
    if let Some(c) = params.rate_changes.as_ref() {
        line.rates = Rates::changing(params.rate, c.clone(), cx.rng("rate-changes"));
    }
    line.outages = params.outages.as_ref().map(|o| Outages::new(o.clone(), cx.rng("outages")));
    line.background = params.background.as_ref().map(|b| Background::new(b.clone(), cx.rng("background")));
    line.channel = channel.filter(|c| c.params().has_rates());
    Line::Changing(Box::new(line))
}

impl Link for Full {
    fn is_in_order(&self) -> bool {
        self.params.order == Order::Kept
    }

    fn nominal_rate(&self) -> Option<BitRate> {
        Some(self.params.rate)
    }
    fn begun(&self) -> Option<Past> {
        let long = self.errors.channel.as_ref().filter(|c| c.params().stretch.is_some());
        long.and_then(Channel::begun).map(Past::new)
    }
    fn go_on_from(&mut self, earlier: Past) {
        let earlier: Reached = earlier.get();
        if let Some(c) = self.line.channel_mut() {
            c.go_on_from(earlier.clone());
        }
        if let Some(c) = &mut self.errors.channel {
            c.go_on_from(earlier);
        }
    }
    /// Channel, changes of the rate, outages and other users are from now on as though they had been so from the start.
    fn change(&mut self, new: &Setting, _now: Time) -> Result<(), ConfigError> {
        let new: SeawindParams = new.get();
        let fresh = self.origin.with(|cx| Full::new(new, cx));
        let old = std::mem::replace(self, fresh);
        let (limit, in_transit) = (self.params.send_buffer, self.params.in_transit);
        self.entrance = old.entrance.resized(limit, in_transit);
        (self.line_free, self.released_at) = (old.line_free, old.released_at);
        (self.last_release, self.resequencing) = (old.last_release, old.resequencing);
        (self.errors.rng, self.delays, self.allocations) = (old.errors.rng, old.delays, old.allocations);
        Ok(())
    }
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        params::setting(&self.params, set)
    }

    fn transmit(&mut self, p: &Packet, now: Time) -> TxPlan {
        self.errors.forget(now);
        let enters = self.entrance.enter(p.len as u64, now);
        let extra = self.random_delay();
        let largest = self.params.fragment.as_ref().map_or(u32::MAX, |f| f.0 as u32);
        let mut left = p.len as u32;
        let mut whole: Option<Sent> = None;
        loop {
            let bytes = left.min(largest);
            left -= bytes;
            let sent = self.send_frame(Frame { bytes, packets: (left == 0) as u64 }, enters, extra);
            whole = Some(match whole {
                None => sent,
                Some(before) => before.and(sent),
            });
            if left == 0 {
                break;
            }
        }
        let whole = whole.expect("a packet has at least one frame");
        let fate = match whole.fate {
            FrameFate::Arrives => Fate::Deliver(whole.release),
            FrameFate::Lost => Fate::Lost(whole.release),
        };
        TxPlan {
            free_at: self.entrance.free_at(now),
            fate,
            attempts: whole.attempts,
            tx_start: whole.start,
            tx_end: whole.end,
        }
    }

    fn sample(&self, now: Time, out: &mut dyn FnMut(&'static str, f64)) {
        self.entrance.sample(now, out);
        if let Some(c) = &self.errors.channel {
            let state = c.clone().at(now).0;
            out("channel_bad_ratio", (state == State::Bad) as u8 as f64);
        }
    }
}

impl Sent {
    /// A packet whose frames so far are `self` and whose next is `next`: it arrives with the last of them, whole.
    fn and(self, next: Sent) -> Sent {
        let lost = self.fate == FrameFate::Lost || next.fate == FrameFate::Lost;
        Sent {
            start: self.start,
            end: next.end,
            release: self.release.max(next.release),
            attempts: self.attempts + next.attempts - 1,
            fate: if lost { FrameFate::Lost } else { FrameFate::Arrives },
        }
    }
}
