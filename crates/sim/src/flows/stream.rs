//! What reliable transports offer to applications.

use super::port::EndIo;

/// What a write did at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrote {
    /// Some of it has left.
    Sent,
    /// It waits in the socket.
    Kept,
}

/// Bytes in order, both ways: what applications write to and read from.
pub trait Stream {
    /// Both ends may write.
    fn is_established(&self) -> bool;
    /// Both directions are finished, or the connection was given up.
    fn has_ended(&self) -> bool;
    /// Bytes that the socket takes in all.
    fn buffer(&self) -> u64;
    /// Bytes that can be written now.
    fn space(&self) -> u64;
    /// Writes bytes, no more than there is space for.
    fn write(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) -> Wrote;
    /// Bytes of which it is certain that writing them sends nothing now: such writes may be made together.
    fn quiet_space(&self) -> u64 {
        0
    }
    /// Writes so many bytes of the quiet space.
    fn keep(&mut self, _bytes: u64) {}
    /// Writes the last bytes and closes this direction.
    fn finish(&mut self, bytes: u64, io: &mut EndIo<'_, '_>) {
        self.write(bytes, io);
        self.close(io);
    }
    /// No more will be written.
    fn close(&mut self, io: &mut EndIo<'_, '_>);
    /// Bytes that have arrived in order.
    fn delivered(&self) -> u64;
    /// The peer has closed its direction, and all of it has arrived.
    fn has_all(&self) -> bool {
        false
    }
    /// Takes back what has been written and not sent: so many bytes.
    fn take_back(&mut self) -> u64 {
        0
    }
    /// This direction has been closed, whether or not the peer knows.
    fn is_closing(&self) -> bool {
        false
    }
    /// From now on the application says when it reads.
    fn wait_for_reads(&mut self) {}
    /// From now on whatever comes counts as read.
    fn read_at_once(&mut self) {}
    /// Bytes that have arrived in order and that nobody has read.
    fn unread(&self) -> u64 {
        0
    }
    /// The application reads up to so many bytes; returns how many.
    fn read(&mut self, _bytes: u64, _io: &mut EndIo<'_, '_>) -> u64 {
        0
    }
    /// This end closes when its application says so, not when the peer does.
    fn close_by_itself(&mut self) {}
}
