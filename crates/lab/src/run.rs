//! What came out of a run.

use crate::figure::Figure;
use crate::watched::{Log, Sent};
use crosswind_record::{Column, Table, Tables};
use crosswind_transport::stack::{Cut, CutBecause, Role};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// What came out of a run: the tables of Crosswind, and for each stack what it sent and how it cut its windows.
pub struct Run {
    pub tables: Tables,
    logs: BTreeMap<&'static str, Log>,
    again: String,
}

/// One flow of a run.
pub struct OfFlow<'a> {
    run: &'a Run,
    name: String,
    row: usize,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent: BTreeMap<_, _> = self.logs.iter().map(|(name, log)| (name, log.sent.len())).collect();
        f.debug_struct("Run").field("sent", &sent).finish_non_exhaustive()
    }
}

impl Run {
    pub(crate) fn new(tables: Tables, logs: BTreeMap<&'static str, Log>, again: String) -> Run {
        Run { tables, logs, again }
    }

    /// A flow by name. Panics, with the names there are, when there is none.
    #[track_caller]
    pub fn flow(&self, name: &str) -> OfFlow<'_> {
        let flows = self.table("flow");
        let names: Vec<&str> = match flows.get("name") {
            Some(Column::Text(t)) => t.iter().collect(),
            _ => Vec::new(),
        };
        let row = names.iter().position(|n| *n == name);
        let row = row.unwrap_or_else(|| panic!("no flow `{name}`: there are {}", names.join(", ")));
        OfFlow { run: self, name: name.to_string(), row }
    }

    /// Every datagram that a stack handed over, in order.
    #[track_caller]
    pub fn sent(&self, stack: &str) -> &[Sent] {
        &self.log(stack).sent
    }

    /// Reductions of windows, as the controllers of a stack made them: number of the connection, and the reduction. Only of
    /// stacks that tell them.
    #[track_caller]
    pub fn cuts(&self, stack: &str) -> &[(u32, Cut)] {
        &self.log(stack).cuts
    }

    /// The factor that a stack left of its window at losses, one by one.
    #[track_caller]
    pub fn loss_factors(&self, stack: &str) -> Vec<f64> {
        let losses = self.cuts(stack).iter().filter(|(_, c)| c.why == CutBecause::Loss);
        losses.map(|(_, c)| c.after_bytes as f64 / c.before_bytes as f64).collect()
    }

    /// Where another run of the same lab sent something else first; `None` where it did not.
    pub fn differs_from(&self, other: &Run) -> Option<String> {
        for (name, log) in &self.logs {
            let there = &other.logs.get(name)?.sent;
            let first = log.sent.iter().zip(there).position(|(a, b)| a != b);
            let shorter = log.sent.len().min(there.len());
            if let Some(at) = first.or((log.sent.len() != there.len()).then_some(shorter)) {
                let (here, there) = (log.sent.get(at), there.get(at));
                return Some(format!("`{name}`, datagram {at}:\n  {here:?}\n  {there:?}"));
            }
        }
        None
    }

    #[track_caller]
    fn log(&self, stack: &str) -> &Log {
        let names: Vec<&str> = self.logs.keys().copied().collect();
        self.logs.get(stack).unwrap_or_else(|| panic!("no stack `{stack}`: there are {}", names.join(", ")))
    }

    #[track_caller]
    fn table(&self, name: &str) -> &Table {
        self.tables.get(name).unwrap_or_else(|| panic!("no table `{name}`"))
    }
}

impl OfFlow<'_> {
    /// A cell of the table `flow` as a number.
    #[track_caller]
    pub fn number(&self, column: &str) -> f64 {
        let flows = self.run.table("flow");
        match flows.get(column) {
            Some(Column::U64(v)) => v[self.row] as f64,
            Some(Column::I64(v)) => v[self.row] as f64,
            Some(Column::F64(v)) => v[self.row],
            Some(Column::U32(v)) => f64::from(v[self.row]),
            Some(Column::Text(_)) => panic!("`{column}` holds text"),
            None => {
                let names: Vec<&str> = flows.columns().iter().map(|(name, _)| name.as_str()).collect();
                panic!("flows have no column `{column}`: they have {}", names.join(", "))
            }
        }
    }

    /// How it ended: `complete`, `gave up`, `cut off` ...
    #[track_caller]
    pub fn outcome(&self) -> &str {
        match self.run.table("flow").get("outcome") {
            Some(Column::Text(t)) => t.iter().nth(self.row).unwrap_or_default(),
            _ => panic!("flows have no outcome"),
        }
    }

    /// Bytes that reached the application, over the time that they took.
    #[track_caller]
    pub fn goodput_mbit(&self) -> Figure {
        self.figure(self.number("goodput_bps") / 1e6, "goodput in Mbit/s")
    }

    /// The median delay of its packets through the network, one way.
    #[track_caller]
    pub fn delay_p50_ms(&self) -> Figure {
        self.figure(self.number("delay_p50_ns") / 1e6, "median delay in ms")
    }

    #[track_caller]
    pub fn delay_p99_ms(&self) -> Figure {
        self.figure(self.number("delay_p99_ns") / 1e6, "99th percentile of the delay in ms")
    }

    /// Its share of what it and another flow got together.
    #[track_caller]
    pub fn share_beside(&self, other: &str) -> Figure {
        let (own, others) = (self.number("goodput_bps"), self.run.flow(other).number("goodput_bps"));
        self.figure(own / (own + others), format!("share beside `{other}`"))
    }

    /// The most datagrams of one client that followed each other within a time. The flow is called like its stack.
    #[track_caller]
    pub fn longest_burst(&self, within: Duration) -> Figure {
        let mut last = BTreeMap::new();
        let mut most = 0;
        for s in self.run.sent(&self.name).iter().filter(|s| s.role == Role::Client) {
            let (at, n) = last.get(&s.connection).copied().unwrap_or((s.at, 0u32));
            let n = if s.at.since(at).0 <= within.as_nanos() as u64 { n + 1 } else { 1 };
            last.insert(s.connection, (s.at, n));
            most = most.max(n);
        }
        self.figure(most.into(), format!("longest burst within {within:?}"))
    }

    fn figure(&self, value: f64, what: impl fmt::Display) -> Figure {
        Figure::new(value, format!("flow `{}`: {what}", self.name), &self.run.again)
    }
}
