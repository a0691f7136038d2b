//! The interval in which all traffic generators were active ([Järvinen 2006] section 4): from the first packet of the last
//! to start to the last packet of the first to finish.
//!
//! A generator is what one member of a group of flows does: a transfer, a stream, a page with all its connections.

use crosswind_base::Time;

/// Above this many flows the interval is not tracked: it costs one pass over all flows per opening.
const FLOWS_MAX: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Waiting,
    Active,
}

/// The interval, and what each flow delivered in it.
#[derive(Clone, Debug, Default)]
pub struct Simultaneous {
    pub from: Option<Time>,
    pub until: Option<Time>,
    /// Bytes counted per flow when the interval began, then within it. Empty when it is not tracked.
    pub bytes: Vec<u64>,
    state: Vec<State>,
    /// Generators that have not begun.
    waiting: usize,
    /// Flows of each generator that are not over, by the generator's first flow.
    left: Vec<u32>,
}

impl Simultaneous {
    /// `generators`: number of flows of the generator that begins with each flow, 0 for flows that do not begin one.
    pub fn new(generators: Vec<u32>) -> Simultaneous {
        if generators.len() > FLOWS_MAX {
            return Simultaneous::default();
        }
        let n = generators.len();
        let waiting = generators.iter().filter(|flows| **flows > 0).count();
        let (bytes, state) = (vec![0; n], vec![State::Waiting; n]);
        Simultaneous { bytes, state, waiting, left: generators, ..Simultaneous::default() }
    }

    pub fn is_tracked(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// A flow of the generator opens. Whether that begins the interval (anew).
    pub fn opens(&mut self, generator: usize, now: Time) -> bool {
        if !self.is_tracked() || self.state[generator] == State::Active {
            return false;
        }
        self.state[generator] = State::Active;
        self.waiting -= 1;
        self.from = Some(now);
        true
    }

    /// A flow of the generator is over. Whether that ends the interval.
    pub fn closes(&mut self, generator: usize, now: Time) -> bool {
        if !self.is_tracked() {
            return false;
        }
        self.left[generator] = self.left[generator].saturating_sub(1);
        if self.left[generator] > 0 || self.until.is_some() {
            return false;
        }
        self.until = Some(now);
        true
    }

    /// Bytes per second of a flow in the interval; NaN when not all generators were ever active together.
    pub fn rate_of(&self, flow: usize) -> f64 {
        match (self.from, self.until) {
            (Some(a), Some(b)) if b > a && self.waiting == 0 => self.bytes[flow] as f64 / b.since(a).as_secs_f64(),
            _ => f64::NAN,
        }
    }
}
