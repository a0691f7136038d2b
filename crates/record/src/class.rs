//! What the classes of a link's queue and the flow queues in it did: rows of the table `class`, and their time series.

use crate::{ColumnType, Tables};
use crosswind_base::{Backlog, ClassTotals, DropReason, Histogram, Metrics};

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
    fn class(&mut self, name: &str, c: &ClassTotals, _: Backlog) {
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

/// The time series of the classes of one queue.
#[derive(Clone, Debug, Default)]
pub struct ClassSeries(Vec<Seen>);

/// What a class had sent by the sample before, and how long all of that had waited.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    packets: u64,
    bytes: u64,
    waited_ns: u128,
}

/// Where values go: the number of the class and its name, the metric, the value.
pub type ClassValues<'a> = dyn FnMut((usize, &str), &'static str, f64) + 'a;

impl ClassSeries {
    /// Takes a report, and tells what each class holds and what it sent in the `since_s` seconds since the report before.
    pub fn momentary<'a>(&'a mut self, since_s: f64, out: &'a mut ClassValues<'a>) -> impl Metrics + 'a {
        EachClass {
            next: 0,
            tell: move |class: (usize, &str), t: &ClassTotals, holds: Backlog| {
                if class.0 == self.0.len() {
                    self.0.push(Seen::default());
                }
                let h = &t.queue_delay_ns;
                let now = Seen { packets: t.sent_packets, bytes: t.sent_bytes, waited_ns: h.sum() };
                let before = std::mem::replace(&mut self.0[class.0], now);
                let waited_ns = (now.waited_ns - before.waited_ns) as f64;
                out(class, "queue_bytes", holds.bytes as f64);
                out(class, "queue_packets", f64::from(holds.packets));
                out(class, "queue_delay_ns", waited_ns / (now.packets - before.packets) as f64);
                out(class, "throughput_bps", (now.bytes - before.bytes) as f64 * 8.0 / since_s);
            },
        }
    }
}

/// Takes a report, and tells what each class has counted so far.
pub fn class_totals<'a>(out: &'a mut ClassValues<'a>) -> impl Metrics + 'a {
    EachClass {
        next: 0,
        tell: move |class: (usize, &str), t: &ClassTotals, _| {
            out(class, "arrived_packets", t.arrived_packets as f64);
            out(class, "sent_packets", t.sent_packets as f64);
            out(class, "sent_bytes", t.sent_bytes as f64);
            out(class, "drops_packets", t.drops_packets.iter().sum::<u64>() as f64);
            out(class, "marks_packets", t.marks_packets as f64);
        },
    }
}

/// Takes a report, and passes on its classes with their numbers.
struct EachClass<F> {
    next: usize,
    tell: F,
}

impl<F: FnMut((usize, &str), &ClassTotals, Backlog)> Metrics for EachClass<F> {
    fn value(&mut self, _: &'static str, _: f64) {}
    fn histogram(&mut self, _: &'static str, _: &Histogram) {}
    fn wants_histograms(&self) -> bool {
        false
    }
    fn class(&mut self, name: &str, totals: &ClassTotals, holds: Backlog) {
        (self.tell)((self.next, name), totals, holds);
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Time;

    fn look(series: &mut ClassSeries, t: &ClassTotals, holds: Backlog) -> Vec<(String, &'static str, f64)> {
        let mut seen = Vec::new();
        let mut out = |(i, name): (usize, &str), metric, v| seen.push((format!("{i} {name}"), metric, v));
        let mut m = series.momentary(0.5, &mut out);
        m.value("sent_bytes", 1.0);
        m.class("voice", t, holds);
        m.class("data", &ClassTotals::default(), Backlog::default());
        drop(m);
        seen
    }

    #[test]
    fn delay_and_throughput_are_those_since_the_sample_before() {
        let (mut series, mut t) = (ClassSeries::default(), ClassTotals::default());
        let holds = Backlog { bytes: 600, packets: 3 };
        (0..2).for_each(|_| t.sent(1000, Time::ZERO, Time(4_000)));
        let first = look(&mut series, &t, holds);
        let values = |seen: &[(String, &'static str, f64)]| seen.iter().map(|s| s.2).collect::<Vec<_>>();
        assert_eq!(values(&first[..4]), [600.0, 3.0, 4_000.0, 32_000.0]);
        assert_eq!((first[0].0.as_str(), first[4].0.as_str()), ("0 voice", "1 data"));
        assert!(first[6].2.is_nan(), "nothing left the other class");
        t.sent(500, Time::ZERO, Time(10_000));
        assert_eq!(values(&look(&mut series, &t, holds)[2..4]), [10_000.0, 8_000.0]);
        assert!(look(&mut series, &t, holds)[2].2.is_nan());
    }

    #[test]
    fn totals_count_from_the_start() {
        let mut t = ClassTotals::default();
        t.arrived(1000);
        t.drops_packets[DropReason::EarlyDrop as usize] = 2;
        t.drops_packets[DropReason::FatFlow as usize] = 3;
        t.marks_packets = 7;
        let mut seen = Vec::new();
        let mut out = |_: (usize, &str), metric, v| seen.push((metric, v));
        class_totals(&mut out).class("a", &t, Backlog::default());
        assert!(seen.contains(&("arrived_packets", 1.0)) && seen.contains(&("marks_packets", 7.0)), "{seen:?}");
        assert!(seen.contains(&("drops_packets", 5.0)));
    }
}
