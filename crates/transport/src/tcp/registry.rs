//! The elements of TCP that have a reference page: one row each. The name is the one used in scenario files.

use crosswind_base::doc;

/// One element.
pub struct Row {
    pub kind: &'static str,
    pub name: &'static str,
    source: &'static str,
}

impl Row {
    pub fn title(&self) -> String {
        doc::title(self.source)
    }
    pub fn doc(&self) -> String {
        doc::header(self.source)
    }
}

macro_rules! rows {
    ($($kind:literal $name:literal $file:literal;)*) => {
        &[$(Row { kind: $kind, name: $name, source: include_str!($file) }),*]
    };
}

pub const ROWS: &[Row] = rows! {
    "law" "reno" "law/reno.rs";
    "detector" "newreno" "detect/newreno.rs";
    "detector" "sack" "detect/sack.rs";
    "detector" "ns2-sack1" "detect/ns2_sack1.rs";
    "signal" "ecn" "signal/ecn.rs";
    "undo" "frto" "undo/frto.rs";
    "share" "ssthresh" "share/mod.rs";
    "timer" "rto" "conn/rtt.rs";
    "receiver" "receiver" "conn/receiver.rs";
};
