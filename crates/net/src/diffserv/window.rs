//! The rate meter of the time sliding window (RFC 2859; Clark and Fang 1998).

use crosswind_base::{BitRate, ConfigError, Dur, Time, units};

/// An average rate that each packet moves: what the window would hold, over the time that it covers.
#[derive(Clone, Debug)]
pub struct SlidingWindow {
    win_s: f64,
    avg_bps: f64,
    t_front: Time,
}

impl SlidingWindow {
    /// Starts at the contracted rate.
    pub fn new(win: Dur, rate: BitRate) -> SlidingWindow {
        SlidingWindow { win_s: win.as_secs_f64(), avg_bps: rate.as_f64(), t_front: Time::ZERO }
    }

    /// The average after a packet.
    #[inline]
    pub fn after(&mut self, len: u32, now: Time) -> f64 {
        let bits = self.avg_bps * self.win_s + f64::from(len) * 8.0;
        self.avg_bps = bits / (now.since(self.t_front).as_secs_f64() + self.win_s);
        self.t_front = now;
        self.avg_bps
    }
}

/// A window from a microsecond to an hour.
pub fn check_window(win: Dur) -> Result<(), ConfigError> {
    if (1_000..=3_600_000_000_000).contains(&win.0) {
        return Ok(());
    }
    Err(ConfigError::new("window", units::show_dur(win), "a window from 1 us to 1 h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_is_measured_at_its_rate_whatever_the_window_began_with() {
        let mut w = SlidingWindow::new(Dur::from_secs(1), BitRate(1_000_000));
        let mut avg = 0.0;
        for i in 1..=10_000u64 {
            // 1000 bytes every 4 ms: 2 Mbit/s.
            avg = w.after(1000, Time(i * 4_000_000));
        }
        assert!((avg / 2e6 - 1.0).abs() < 1e-6, "{avg}");
        // After a pause of one window half of it is left, and the packet.
        let paused = w.after(1000, Time(40_000_000_000 + 1_000_000_000));
        assert!((paused - (2e6 + 8000.0) / 2.0).abs() < 1.0, "{paused}");
    }
}
