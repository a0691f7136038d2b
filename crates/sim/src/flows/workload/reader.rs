//! The reading end of a transfer: at once, or so fast; with an answer, perhaps, once everything has arrived.

use crate::flows::port::EndIo;
use crate::flows::stream::Stream;
use crate::scenario::{Activity, Bulk};
use crosswind_base::{BitRate, Size, Time};
use crosswind_transport::tcp::Io;

/// Bytes of a read, when nothing is said.
const READ: Size = Size(4096);

/// A program that reads a piece, is busy with it for a while, and reads on.
pub struct Reader {
    /// `None`: it takes no time.
    rate: Option<BitRate>,
    reading: Activity,
    size: u64,
    busy_until: Option<Time>,
    /// What is still to be sent when all has been read.
    answer: u64,
}

impl Reader {
    /// The reading end, where it does more than swallow what comes.
    pub fn of(b: &Bulk) -> Option<Reader> {
        (b.read_rate.is_some() || b.reading == Activity::Off || b.answer.is_some()).then(|| Reader::new(b))
    }

    fn new(b: &Bulk) -> Reader {
        let answer = b.answer.map_or(0, |a| a.0);
        Reader { rate: b.read_rate, reading: b.reading, size: b.read_size.unwrap_or(READ).0, busy_until: None, answer }
    }

    fn takes_its_time(&self) -> bool {
        self.rate.is_some() || self.reading == Activity::Off
    }

    /// Makes the connection one that is read by this program.
    pub fn begin(&self, conn: &mut (impl Stream + ?Sized)) {
        match self.takes_its_time() {
            true => conn.wait_for_reads(),
            false => conn.read_at_once(),
        }
        if self.answer > 0 {
            conn.close_by_itself();
        }
    }

    /// The timeline has changed how it reads. What it was busy with, it leaves.
    #[cold]
    pub fn go_on_as(&mut self, b: &Bulk, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        let answer = self.answer;
        *self = Reader { answer, ..Reader::new(b) };
        match self.takes_its_time() {
            true => conn.wait_for_reads(),
            false => {
                conn.read(u64::MAX, io);
                conn.read_at_once();
            }
        }
        self.run(conn, io);
    }

    pub fn next_wake(&self) -> Option<Time> {
        self.busy_until
    }

    pub fn run(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        if !conn.is_established() {
            self.busy_until = None;
            return;
        }
        self.read(conn, io);
        if self.answer > 0 && conn.has_all() && conn.unread() == 0 {
            let bytes = self.answer.min(conn.space());
            self.answer -= bytes;
            conn.write(bytes, io);
            if self.answer == 0 {
                conn.close(io);
            }
        }
    }

    fn read(&mut self, conn: &mut (impl Stream + ?Sized), io: &mut EndIo<'_, '_>) {
        let now = io.now();
        let is_free = self.reading == Activity::On && self.busy_until.is_none_or(|t| t <= now);
        let Some(rate) = self.rate.filter(|_| is_free) else { return };
        let taken = conn.read(self.size, io);
        self.busy_until = (taken > 0).then(|| now + rate.tx_time(taken));
    }
}
