//! One measured number, and what a test says of it.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// A number with its unit, and how to get it again.
#[derive(Clone, Debug)]
pub struct Figure {
    pub value: f64,
    what: String,
    again: String,
}

impl Figure {
    pub(crate) fn new(value: f64, what: impl Display, again: &str) -> Figure {
        Figure { value, what: what.to_string(), again: again.to_string() }
    }

    /// Panics unless the value lies between two bounds, both included.
    #[track_caller]
    pub fn assert_within(&self, bounds: RangeInclusive<f64>) {
        let expected = format!("from {} to {}", bounds.start(), bounds.end());
        self.assert(bounds.contains(&self.value), &expected);
    }

    #[track_caller]
    pub fn assert_at_most(&self, most: f64) {
        self.assert(self.value <= most, &format!("at most {most}"));
    }

    #[track_caller]
    pub fn assert_at_least(&self, least: f64) {
        self.assert(self.value >= least, &format!("at least {least}"));
    }

    #[track_caller]
    fn assert(&self, holds: bool, expected: &str) {
        assert!(holds, "{}: measured {}, expected {expected}\n{}", self.what, self.value, self.again);
    }
}
