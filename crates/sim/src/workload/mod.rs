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
