//! Workloads: what applications do with their connections. One file each, one variant of [`App`], one of
//! [`crate::scenario::WorkloadParams`].

pub mod bulk;
pub mod cbr;
pub mod page;
pub mod ping;
pub mod reader;
pub mod web;

use super::port::{EndIo, Milestone};
use super::stream::Stream;
use crate::scenario::{self, Changed, WorkloadParams};
use crosswind_base::Time;
use crosswind_base::registry::Row;
use schemars::schema_for;

/// The application at one end of a flow.
pub enum App {
    Bulk(bulk::Sender),
    /// The browser's side of one connection of a page.
    Fetch(Box<page::Fetch>),
    /// The server's side of it.
    Answer(Box<page::Answer>),
    Web(Box<web::Web>),
    /// Reads everything at once and closes when the peer does.
    Sink,
    /// Reads slowly, or has something to answer.
    Reader(Box<reader::Reader>),
    /// Makes messages in its own time.
    Source(Box<cbr::Source>),
    /// Answers every message with one of the same length.
    Echo,
}

impl App {
    /// Called after anything that may have changed what the application can do.
    #[inline(always)]
    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) -> Option<Milestone> {
        match self {
            App::Bulk(b) => b.run(conn, io),
            App::Sink | App::Echo => {}
            App::Source(s) => s.run(conn, io),
            App::Web(w) => w.run(conn, io),
            App::Reader(r) => r.run(conn, io),
            App::Fetch(f) => return f.run(conn, io),
            App::Answer(a) => a.run(conn, io),
        }
        None
    }

    /// When the application wants to act by itself.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        match self {
            App::Web(w) => w.next_at(),
            App::Reader(r) => r.next_wake(),
            App::Source(s) => s.next_at,
            _ => None,
        }
    }

    /// The timeline says what the workload is from now on.
    #[cold]
    pub fn go_on_as(&mut self, change: &Changed, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if let App::Source(source) = self {
            return source.go_on_as(&change.now);
        }
        let WorkloadParams::Bulk(new) = &change.now else { return };
        let WorkloadParams::Bulk(old) = &change.before else { return };
        let how = |b: &scenario::Bulk| (b.reading, b.read_rate, b.read_size);
        let reads_otherwise = how(old) != how(new);
        match self {
            App::Bulk(b) => b.go_on_as(old, new, conn),
            App::Sink if reads_otherwise => {
                let reader = reader::Reader::of(new).map(Box::new);
                if let Some(r) = &reader {
                    r.begin(conn);
                }
                *self = reader.map_or(App::Sink, App::Reader);
            }
            App::Reader(r) if reads_otherwise => r.go_on_as(new, conn, io),
            _ => {}
        }
        self.run(conn, io);
    }
}

const fn row(name: &'static str, source: &'static str, schema: fn() -> schemars::Schema) -> Row {
    Row { kind: "workload", name, source, schema: Some(schema), build: () }
}

/// Every workload, in the order of the reference.
pub const ROWS: &[Row] = &[
    row("bulk", include_str!("bulk.rs"), || schema_for!(scenario::Bulk)),
    row("page", include_str!("page.rs"), || schema_for!(scenario::Page)),
    row("cbr", include_str!("cbr.rs"), || schema_for!(scenario::Cbr)),
    row("on-off", include_str!("onoff.rs"), || schema_for!(scenario::OnOff)),
    row("ping", include_str!("ping.rs"), || schema_for!(scenario::Ping)),
    row("web", include_str!("web.rs"), || schema_for!(scenario::Web)),
];
