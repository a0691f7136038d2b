//! The rows of the table `class`: what the classes of a link's queue and the flow queues in it did.

use crate::{ColumnType, Tables};
use crosswind_base::{ClassTotals, DropReason, Histogram, Metrics};

/// What no queue does to a packet.
const NOT_BY_QUEUES: [DropReason; 5] =
    [DropReason::LinkError, DropReason::Listed, DropReason::NoEndpoint, DropReason::Policed, DropReason::TooBig];

/// Takes the report of one direction of a link, and keeps the classes.
pub struct ClassRows<'a> {
    pub tables: &'a mut Tables,
    pub link: &'a str,
    pub direction: &'a str,
}

impl Metrics for ClassRows<'_> {
    fn value(&mut self, _: &'static str, _: f64) {}
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn wants_histograms(&self) -> bool {
        false
    }
    fn class(&mut self, name: &str, c: &ClassTotals) {
        let t = self.tables.table("class");
        for (column, text) in [("link", self.link), ("direction", self.direction), ("class", name)] {
            let at = t.column(column, ColumnType::Text);
            t.put(at, text);
        }
        let mut int = |column: &str, v: u64| {
            let at = t.column(column, ColumnType::U64);
            t.put(at, v);
        };
        int("arrived_packets", c.arrived_packets);
        int("arrived_bytes", c.arrived_bytes);
        int("sent_packets", c.sent_packets);
        int("sent_bytes", c.sent_bytes);
        int("marks_packets", c.marks_packets);
        int("drops_packets", c.drops_packets.iter().sum());
        for (why, (reason, n)) in DropReason::NAMES.iter().zip(c.drops_packets).enumerate() {
            if !NOT_BY_QUEUES.iter().any(|r| *r as usize == why) {
                int(&format!("drops_{reason}_packets"), n);
            }
        }
        let h = &c.queue_delay_ns;
        let exact = |v: u64| if h.count() == 0 { f64::NAN } else { v as f64 };
        for (column, v) in [
            ("queue_delay_min_ns", exact(h.min())),
            ("queue_delay_mean_ns", h.mean()),
            ("queue_delay_p50_ns", h.quantile(0.5)),
            ("queue_delay_p95_ns", h.quantile(0.95)),
            ("queue_delay_p99_ns", h.quantile(0.99)),
            ("queue_delay_max_ns", exact(h.max())),
        ] {
            let at = t.column(column, ColumnType::F64);
            t.put(at, v);
        }
        t.end_row();
    }
}
