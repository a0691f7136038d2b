//! From the parameters of a connection to what its law begins with.

use super::hystart::SlowStart;
use super::table::{Law, LawName};
use super::window::{Ramp, Start, Window};
use super::{own, tabulated};
use crate::tcp::pace;
use crate::tcp::params::TcpParams;
use crosswind_base::ConfigError;

impl Law {
    /// The law of a connection, in its first state.
    pub fn new(p: &TcpParams) -> Law {
        Law::of(&p.controller, Start::of(p))
    }
}

impl Start {
    pub fn of(p: &TcpParams) -> Start {
        let mss = p.connection.mss.0 as f64;
        let window = Window {
            cwnd: mss * p.window.initial_window_segments as f64,
            ssthresh: p.window.initial_ssthresh.0 as f64,
            mss,
            ramp: ramp(p),
        };
        Start { window, counting: p.window.avoidance_counting }
    }
}

fn ramp(p: &TcpParams) -> Ramp {
    match p.controller.slow_start {
        SlowStart::Standard | SlowStart::Hystart | SlowStart::Search => Ramp::ByCounting,
        SlowStart::HystartPlus => Ramp::Counted { most: segments_per_ack(p), share: 1.0 },
        SlowStart::Limited => Ramp::Limited { above: f64::from(p.controller.hystart.limit_segments) },
    }
}

/// What one ACK counts for in HyStart++, in segments.
pub fn segments_per_ack(p: &TcpParams) -> f64 {
    let is_paced = pace::is_asked(p);
    p.controller.hystart.segments_per_ack.unwrap_or(if is_paced { f64::INFINITY } else { 8.0 })
}

/// Refuses settings of any law that make no sense, whichever law is chosen.
pub fn check(p: &TcpParams, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
    let c = &p.controller;
    tabulated::check(c.law == LawName::Tabulated, &c.law_table, at)?;
    own::check(c.law == LawName::Own, &c.own_law, at)?;
    c.fast.check_growth(p.window.grow_when).map_err(|e| e.under(&at("fast")))?;
    c.check_tables(at)
}
