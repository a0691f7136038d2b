//! One row of a result table while it is being filled.

use crate::world::World;
use crosswind_base::{Dur, Histogram, Metrics, Time};
use crosswind_record::{ColumnType, Table};

/// Puts one cell of the row that is being filled.
pub(super) struct Row<'a>(pub(super) &'a mut Table);

impl Row<'_> {
    pub(super) fn int(&mut self, name: &str, v: impl Into<u64>) -> &mut Self {
        let c = self.0.column(name, ColumnType::U64);
        self.0.put(c, v.into());
        self
    }
    pub(super) fn float(&mut self, name: &str, v: f64) -> &mut Self {
        let c = self.0.column(name, ColumnType::F64);
        self.0.put(c, v);
        self
    }
    pub(super) fn text(&mut self, name: &str, v: &str) -> &mut Self {
        let c = self.0.column(name, ColumnType::Text);
        self.0.put(c, v);
        self
    }
    /// -1 when there is none.
    pub(super) fn time(&mut self, name: &str, v: Option<Time>) -> &mut Self {
        let c = self.0.column(name, ColumnType::I64);
        self.0.put(c, v);
        self
    }
    pub(super) fn span(&mut self, name: &str, v: Option<Dur>) -> &mut Self {
        let c = self.0.column(name, ColumnType::I64);
        self.0.put(c, v);
        self
    }
    pub(super) fn end(&mut self) {
        self.0.end_row();
    }
}

pub(super) fn quantiles(row: &mut Row<'_>, what: &str, h: &Histogram) {
    let empty = h.count() == 0;
    let exact = |v: u64| if empty { f64::NAN } else { v as f64 };
    row.float(&format!("{what}_min_ns"), exact(h.min()))
        .float(&format!("{what}_mean_ns"), h.mean())
        .float(&format!("{what}_p50_ns"), h.quantile(0.5))
        .float(&format!("{what}_p95_ns"), h.quantile(0.95))
        .float(&format!("{what}_p99_ns"), h.quantile(0.99))
        .float(&format!("{what}_max_ns"), exact(h.max()));
}

/// Turns a stage's report into cells of one row.
pub(super) struct StageRow<'a, 'b>(pub(super) &'b mut Row<'a>);

impl Metrics for StageRow<'_, '_> {
    fn value(&mut self, name: &'static str, v: f64) {
        if name.ends_with("_packets") || name.ends_with("_bytes") && !name.contains("mean") {
            self.0.int(name, v as u64);
        } else {
            self.0.float(name, v);
        }
    }
    fn histogram(&mut self, name: &'static str, h: &Histogram) {
        if let Some(what) = name.strip_suffix("_ns") {
            quantiles(self.0, what, h);
        } else if let Some(what) = name.strip_suffix("_bytes") {
            self.0.float(&format!("{what}_p95_bytes"), h.quantile(0.95));
        }
    }
}

pub(super) fn entity(w: &World<'_>, egress: usize) -> String {
    let e = &w.plan.egresses[egress];
    format!("{}/{}", e.name, e.direction.word())
}
