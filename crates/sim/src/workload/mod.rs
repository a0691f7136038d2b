//! Workloads: what applications do with their connections. One file each, one variant of [`App`], one of
//! [`crate::scenario::WorkloadParams`].

pub mod bulk;

use crosswind_transport::tcp::{Connection, Io};

/// The application at one end of a flow.
pub enum App {
    Bulk(bulk::Sender),
    /// Reads everything at once and closes when the peer does.
    Sink,
}

impl App {
    /// Called after anything that may have changed what the application can do.
    #[inline]
    pub fn run(&mut self, conn: &mut Connection, io: &mut impl Io) {
        match self {
            App::Bulk(b) => b.run(conn, io),
            App::Sink => {}
        }
    }
}

/// One kind of workload in the registry.
pub struct Row {
    pub name: &'static str,
    pub schema: fn() -> schemars::Schema,
    source: &'static str,
}

impl Row {
    pub fn title(&self) -> String {
        crosswind_base::doc::title(self.source)
    }
    pub fn doc(&self) -> String {
        crosswind_base::doc::header(self.source)
    }
}

/// Every workload, in the order of the reference.
pub const ROWS: &[Row] =
    &[Row { name: "bulk", schema: || schemars::schema_for!(crate::scenario::Bulk), source: include_str!("bulk.rs") }];
