//! Time series on their way into the table `sample`: four numbers a row, names looked up once.

use crate::{Column, Table};
use crosswind_base::Time;
use std::collections::BTreeMap;

/// A flow or a link that values are sampled of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entity(u32);

/// Rows of the table `sample`.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    time_ns: Vec<u64>,
    entity: Vec<u32>,
    metric: Vec<u32>,
    value: Vec<f64>,
    entities: Vec<String>,
    index: BTreeMap<String, u32>,
    metrics: Vec<&'static str>,
    /// Where the last metric was found: the next one is most often its neighbour.
    last: usize,
}

impl Samples {
    /// The entity of that name.
    pub fn entity(&mut self, name: &str) -> Entity {
        let next = self.entities.len() as u32;
        let number = *self.index.entry(name.to_string()).or_insert(next);
        if number == next {
            self.entities.push(name.to_string());
        }
        Entity(number)
    }

    #[inline]
    fn metric(&mut self, name: &'static str) -> u32 {
        // The same metric has the same text in memory: comparing addresses decides nearly always.
        let is_here = |m: &&'static str| std::ptr::eq(*m, name);
        let next = self.last + 1;
        self.last = if self.metrics.get(next).is_some_and(is_here) {
            next
        } else {
            let known = self.metrics.iter().position(is_here);
            known.or_else(|| self.metrics.iter().position(|m| *m == name)).unwrap_or_else(|| {
                self.metrics.push(name);
                self.metrics.len() - 1
            })
        };
        self.last as u32
    }

    #[inline]
    pub fn push(&mut self, at: Time, of: Entity, metric: &'static str, value: f64) {
        let metric = self.metric(metric);
        self.time_ns.push(at.0);
        self.entity.push(of.0);
        self.metric.push(metric);
        self.value.push(value);
    }

    /// The table `sample`, without the columns of the run key.
    pub fn into_table(self) -> Table {
        let entities: Vec<&str> = self.entities.iter().map(String::as_str).collect();
        let columns = [
            ("time_ns", Column::U64(self.time_ns)),
            ("entity", Column::from_codes(self.entity, &entities)),
            ("metric", Column::from_codes(self.metric, &self.metrics)),
            ("value", Column::F64(self.value)),
        ];
        Table::from_columns("sample", columns.map(|(n, c)| (n.to_string(), c)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rows_with_names() {
        let mut s = Samples::default();
        let (flow, link) = (s.entity("bulk-1"), s.entity("path/forward"));
        for at in [1, 2] {
            s.push(Time(at), flow, "cwnd_bytes", 10.0);
            s.push(Time(at), flow, "rto_ns", 11.0);
            s.push(Time(at), link, "queue_bytes", 12.0);
        }
        s.push(Time(3), link, "rto_ns", 13.0);
        let t = s.into_table();
        let words = |name: &str| match t.get(name) {
            Some(Column::Text(t)) => t.iter().map(String::from).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(t.get("time_ns"), Some(&Column::U64(vec![1, 1, 1, 2, 2, 2, 3])));
        assert_eq!(words("entity")[..3], ["bulk-1", "bulk-1", "path/forward"]);
        assert_eq!(words("metric")[2..], ["queue_bytes", "cwnd_bytes", "rto_ns", "queue_bytes", "rto_ns"]);
    }
}
