//! Time series on their way into the table `sample`.

use crate::{Column, Table};
use crosswind_base::Time;
use std::collections::BTreeMap;

/// A flow or a link that values are sampled of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entity(u32);

/// What a value is of: codes of an entity and of a metric.
type Cell = (u32, u32);

/// What was sampled at one time: the values of the first `rows` cells of a layout.
#[derive(Clone, Copy, Debug)]
struct Frame {
    at: Time,
    layout: u32,
    rows: u32,
}

/// Rows of the table `sample`. Most samples are of the same gauges in the same order as the one before: what they are of is
/// kept once, so that a value costs eight bytes until the table is made.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    frames: Vec<Frame>,
    values: Vec<f64>,
    layouts: Vec<Vec<Cell>>,
    /// The layout of the last frame, and how many of its values have come.
    layout: usize,
    filled: usize,
    entities: Vec<String>,
    index: BTreeMap<String, u32>,
    metrics: Vec<&'static str>,
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

    fn metric(&mut self, name: &'static str) -> u32 {
        let known = self.metrics.iter().position(|m| *m == name);
        known.unwrap_or_else(|| {
            self.metrics.push(name);
            self.metrics.len() - 1
        }) as u32
    }

    /// What is pushed from now on was sampled at this time.
    pub fn begin(&mut self, at: Time) {
        self.end_frame();
        self.frames.push(Frame { at, layout: 0, rows: 0 });
    }

    fn end_frame(&mut self) {
        if let Some(f) = self.frames.last_mut() {
            (f.layout, f.rows) = (self.layout as u32, self.filled as u32);
        }
        self.filled = 0;
    }

    #[inline]
    pub fn push(&mut self, of: Entity, metric: &'static str, value: f64) {
        let cell = self.layouts.get(self.layout).and_then(|l| l.get(self.filled));
        // The same metric has the same text in memory: comparing addresses decides nearly always.
        let is_expected = cell.is_some_and(|c| c.0 == of.0 && std::ptr::eq(self.metrics[c.1 as usize], metric));
        if !is_expected {
            self.put_into_layout(of, metric);
        }
        self.filled += 1;
        self.values.push(value);
    }

    /// This value is not what stood at its place before. Frames know how much of a layout is theirs, so one may grow.
    #[cold]
    fn put_into_layout(&mut self, of: Entity, metric: &'static str) {
        let cell = (of.0, self.metric(metric));
        if self.layouts.is_empty() {
            self.layouts.push(Vec::new());
        }
        let layout = &mut self.layouts[self.layout];
        if layout.get(self.filled) == Some(&cell) {
            return;
        }
        if self.filled == layout.len() {
            layout.push(cell);
        } else {
            let mut other = Vec::with_capacity(layout.len());
            other.extend_from_slice(&layout[..self.filled]);
            other.push(cell);
            self.layout = self.layouts.len();
            self.layouts.push(other);
        }
    }

    /// The table `sample`, without the columns of the run key.
    pub fn into_table(mut self) -> Table {
        self.end_frame();
        let rows = self.values.len();
        let (mut time_ns, mut entity, mut metric) =
            (Vec::with_capacity(rows), Vec::with_capacity(rows), Vec::with_capacity(rows));
        for f in &self.frames {
            let cells = self.layouts.get(f.layout as usize).map_or(&[][..], |l| &l[..f.rows as usize]);
            time_ns.extend(std::iter::repeat_n(f.at.0, cells.len()));
            entity.extend(cells.iter().map(|c| c.0));
            metric.extend(cells.iter().map(|c| c.1));
        }
        let entities: Vec<&str> = self.entities.iter().map(String::as_str).collect();
        let columns = [
            ("time_ns", Column::U64(time_ns)),
            ("entity", Column::from_codes(entity, &entities)),
            ("metric", Column::from_codes(metric, &self.metrics)),
            ("value", Column::F64(self.values)),
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
            s.begin(Time(at));
            s.push(flow, "cwnd_bytes", 10.0);
            s.push(flow, "rto_ns", 11.0);
            s.push(link, "queue_bytes", 12.0);
        }
        s.begin(Time(3));
        s.push(link, "rto_ns", 13.0);
        let t = s.into_table();
        let words = |name: &str| match t.get(name) {
            Some(Column::Text(t)) => t.iter().map(String::from).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        assert_eq!(t.get("time_ns"), Some(&Column::U64(vec![1, 1, 1, 2, 2, 2, 3])));
        assert_eq!(words("entity")[..3], ["bulk-1", "bulk-1", "path/forward"]);
        assert_eq!(words("metric")[2..], ["queue_bytes", "cwnd_bytes", "rto_ns", "queue_bytes", "rto_ns"]);
    }

    #[test]
    fn flows_come_and_go_between_samples() {
        let mut s = Samples::default();
        let of: Vec<Entity> = (0..5).map(|i| s.entity(&format!("flow-{i}"))).collect();
        let mut expected = Vec::new();
        for (at, open) in [0b00001, 0b00011, 0b00010, 0b00000, 0b11010, 0b00010, 0b11111].into_iter().enumerate() {
            s.begin(Time(at as u64));
            for i in (0..5).filter(|i| open >> i & 1 == 1) {
                for metric in ["cwnd_bytes", "rto_ns"] {
                    s.push(of[i], metric, (10 * at + i) as f64);
                    expected.push((at as u64, format!("flow-{i}"), metric.to_string(), (10 * at + i) as f64));
                }
            }
        }
        let t = s.into_table();
        let (Some(Column::U64(at)), Some(Column::F64(value))) = (t.get("time_ns"), t.get("value")) else { panic!() };
        let (Some(Column::Text(entity)), Some(Column::Text(metric))) = (t.get("entity"), t.get("metric")) else {
            panic!()
        };
        let names = entity.iter().zip(metric.iter());
        let rows = at.iter().zip(names).zip(value).map(|((t, (e, m)), v)| (*t, e.to_string(), m.to_string(), *v));
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
}
