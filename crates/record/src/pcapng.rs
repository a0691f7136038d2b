//! A capture of both ends of every flow, streamed in the pcapng format that Wireshark, tshark and libpcap read.
//!
//! A capture of both ends has two interfaces, `sender` (0) and `receiver` (1), which see the packets that leave or
//! reach that end of their flow; `frame.interface_id == 0` in Wireshark shows one of them. Programs that know nothing
//! of interfaces (tcptrace) would take the second sight of a packet for a duplicate: capture one vantage for them, see
//! [`Vantages`]; the file then has one interface.
//!
//! Frames are bare IPv4 packets as [`crate::wire`] builds them. Time stamps have nanoseconds; every run is shown as if it
//! had started at [`START_UNIX_S`].

use crate::flows::Flows;
use crate::option::START_UNIX_S;
use crate::wire::{Framed, Framer};
use crosswind_base::{Event, FlowId, Observer, Packet, Pool, TcpFlags, Time, Vantage};
use std::io::{self, Write};

/// Bare IPv4 packets, the type of files with two interfaces: libpcap refuses a second interface whose type has another
/// number inside libpcap than in the file, as type 101 has.
const LINKTYPE_IPV4: u16 = 228;
/// Bare IP packets, the type of files with one interface: older programs (tcptrace) know no other for bare IP.
const LINKTYPE_RAW: u16 = 101;
/// No IPv4 packet is longer.
const FULL_BYTES: u32 = 65_535;
/// The longest headers there are: 28 of IPv4 with its option, and 60 of TCP.
const HEADERS_BYTES: u32 = 88;

/// How much of a packet is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snap {
    /// All of it: analysers can check the transport checksums of data.
    Full,
    /// The first bytes; never less than the longest headers (88). The original length is kept.
    Bytes(u32),
}

impl Snap {
    fn limit_bytes(self) -> u32 {
        match self {
            Snap::Full => FULL_BYTES,
            Snap::Bytes(n) => n.clamp(HEADERS_BYTES, FULL_BYTES),
        }
    }
}

impl Default for Snap {
    fn default() -> Snap {
        Snap::Bytes(128)
    }
}

/// Where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Vantages {
    #[default]
    Both,
    Only(Vantage),
}

impl Vantages {
    /// One per interface of the file.
    fn list(self) -> &'static [Vantage] {
        match self {
            Vantages::Both => &[Vantage::Sender, Vantage::Receiver],
            Vantages::Only(Vantage::Sender) => &[Vantage::Sender],
            Vantages::Only(Vantage::Receiver) => &[Vantage::Receiver],
        }
    }
    fn linktype(self) -> u16 {
        match self {
            Vantages::Both => LINKTYPE_IPV4,
            Vantages::Only(_) => LINKTYPE_RAW,
        }
    }
    /// Number of the interface that captures what is seen there.
    fn interface(self, seen: Vantage) -> Option<u32> {
        self.list().iter().position(|v| *v == seen).map(|i| i as u32)
    }
}

/// What to capture.
#[derive(Clone, Debug)]
pub struct PcapngOptions {
    pub snap: Snap,
    pub vantages: Vantages,
    pub flows: Flows,
}

impl Default for PcapngOptions {
    /// Both ends of all flows, 128 bytes a packet.
    fn default() -> PcapngOptions {
        PcapngOptions { snap: Snap::default(), vantages: Vantages::Both, flows: Flows::All }
    }
}

/// What a capture holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PcapngSummary {
    pub written_packets: u64,
    /// Of these, packets whose real headers are longer (or shorter) than the transport had counted; the capture shows
    /// the length of the real ones.
    pub relabelled_packets: u64,
}

/// Writes every packet that it is shown. It makes one small write per packet: give it a buffered writer.
pub struct PcapngWriter<W: Write> {
    out: W,
    options: PcapngOptions,
    framer: Framer,
    summary: PcapngSummary,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the section header and the interfaces.
    pub fn new(mut out: W, options: PcapngOptions) -> io::Result<PcapngWriter<W>> {
        let mut block = Vec::new();
        section_header(&mut block);
        for seen in options.vantages.list() {
            interface(*seen, &options, &mut block);
        }
        out.write_all(&block)?;
        Ok(PcapngWriter { out, options, framer: Framer::new(), summary: PcapngSummary::default(), error: None, block })
    }

    /// Writes a whole frame as it is: of what is no simulated packet.
    pub fn frame(&mut self, at: Time, seen: Vantage, frame: &[u8]) {
        let Some(interface) = self.options.vantages.interface(seen).filter(|_| self.error.is_none()) else { return };
        let start = begin_block(6, &mut self.block);
        self.block.resize(start + 28, 0);
        self.block.extend_from_slice(frame);
        let framed = Framed { header_bytes: frame.len(), payload_bytes: 0, is_relabelled: false };
        enhanced_packet(Sight { at, interface, snap: self.options.snap, framed }, &mut self.block);
        match self.out.write_all(&self.block) {
            Ok(()) => self.summary.written_packets += 1,
            Err(e) => self.error = Some(e),
        }
    }

    /// A packet that is not shown: what it says of later ones is remembered.
    pub fn overhears(&mut self, p: &Packet, pool: &Pool) {
        if p.flags.has(TcpFlags::SYN) && self.options.flows.contains(p.flow) {
            self.block.clear();
            self.framer.frame(p, pool.ext(p), &mut self.block);
        }
    }

    /// Flushes and gives the writer back; an observer cannot complain earlier, so errors of all writes end up here.
    pub fn finish(mut self) -> io::Result<(W, PcapngSummary)> {
        if let Some(e) = self.error {
            return Err(e);
        }
        self.out.flush()?;
        Ok((self.out, self.summary))
    }
}

impl<W: Write> Observer for PcapngWriter<W> {
    fn wants(&self, _flow: FlowId) -> bool {
        false
    }
    fn event(&mut self, _e: Event) {}

    fn packet(&mut self, at: Time, seen: Vantage, p: &Packet, pool: &Pool) {
        if self.error.is_some() || !self.options.flows.contains(p.flow) {
            return;
        }
        // The framer learns window scales from SYNs, so it sees the packets of both vantages.
        let start = begin_block(6, &mut self.block);
        self.block.resize(start + 28, 0);
        let framed = self.framer.frame(p, pool.ext(p), &mut self.block);
        let Some(interface) = self.options.vantages.interface(seen) else { return };
        enhanced_packet(Sight { at, interface, snap: self.options.snap, framed }, &mut self.block);
        match self.out.write_all(&self.block) {
            Ok(()) => {
                self.summary.written_packets += 1;
                self.summary.relabelled_packets += u64::from(framed.is_relabelled);
            }
            Err(e) => self.error = Some(e),
        }
    }
}

/// Clears `block` and starts one in it; returns where it starts.
fn begin_block(kind: u32, block: &mut Vec<u8>) -> usize {
    block.clear();
    append_block_head(kind, block)
}

/// Type and a length that [`end_block`] fills in.
fn append_block_head(kind: u32, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    start
}

/// Pads the block that began at `start` and writes its length at both ends.
fn end_block(start: usize, out: &mut Vec<u8>) {
    pad(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

/// Blocks and options are whole words; every block starts on one.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

fn option(code: u16, value: &[u8], out: &mut Vec<u8>) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out);
}

const END_OF_OPTIONS: [u8; 4] = [0; 4];

fn section_header(out: &mut Vec<u8>) {
    let start = append_block_head(0x0a0d_0d0a, out);
    out.extend(0x1a2b_3c4du32.to_le_bytes());
    out.extend([1, 0, 0, 0]); // version 1.0
    out.extend(u64::MAX.to_le_bytes()); // the length of the section is not known in advance
    option(4, concat!("Crosswind ", env!("CARGO_PKG_VERSION")).as_bytes(), out);
    out.extend(END_OF_OPTIONS);
    end_block(start, out);
}

fn interface(seen: Vantage, options: &PcapngOptions, out: &mut Vec<u8>) {
    let name = match seen {
        Vantage::Sender => "sender",
        Vantage::Receiver => "receiver",
    };
    let start = append_block_head(1, out);
    out.extend(options.vantages.linktype().to_le_bytes());
    out.extend([0, 0]);
    out.extend(options.snap.limit_bytes().to_le_bytes());
    option(2, name.as_bytes(), out);
    option(3, format!("packets that leave or reach the {name} of their flow").as_bytes(), out);
    option(9, &[9], out); // time stamps in 10^-9 s
    out.extend(END_OF_OPTIONS);
    end_block(start, out);
}

/// One packet at one place.
struct Sight {
    at: Time,
    interface: u32,
    snap: Snap,
    framed: Framed,
}

/// Completes an enhanced packet block whose 28 bytes of head and whose headers are in `block`.
fn enhanced_packet(s: Sight, block: &mut Vec<u8>) {
    let original = (s.framed.header_bytes + s.framed.payload_bytes) as u32;
    let captured = original.min(s.snap.limit_bytes());
    let stamp = START_UNIX_S * 1_000_000_000 + s.at.0;
    let head = [s.interface, (stamp >> 32) as u32, stamp as u32, captured, original];
    for (slot, value) in block[8..28].chunks_exact_mut(4).zip(head) {
        slot.copy_from_slice(&value.to_le_bytes());
    }
    block.resize(28 + captured as usize, 0);
    end_block(0, block);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosswind_base::Ecn;
    use crosswind_base::packet::{Ext, Meta};

    fn u32_at(b: &[u8], i: usize) -> u32 {
        u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]])
    }

    /// Splits a capture into (type, body) and checks the two lengths of every block.
    fn blocks(mut b: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut all = Vec::new();
        while !b.is_empty() {
            let len = u32_at(b, 4) as usize;
            assert!(len.is_multiple_of(4) && u32_at(b, len - 4) as usize == len, "block {} of length {len}", all.len());
            all.push((u32_at(b, 0), b[8..len - 4].to_vec()));
            b = &b[len..];
        }
        all
    }

    fn capture(options: PcapngOptions, packets: &[(u64, Vantage, Packet)]) -> (Vec<u8>, PcapngSummary) {
        let mut w = PcapngWriter::new(Vec::new(), options).unwrap();
        packets.iter().for_each(|(at, seen, p)| w.packet(Time(*at), *seen, p, &Pool::new()));
        w.finish().unwrap()
    }

    fn data(flow: u32) -> Packet {
        packet!(Packet::default(); flow: FlowId(flow), len: 1041, payload: 1001, ds: Ecn::Ect0.into())
    }

    #[test]
    fn a_capture_starts_with_a_section_and_two_nanosecond_interfaces() {
        let all = blocks(&capture(PcapngOptions::default(), &[]).0);
        assert_eq!(all.iter().map(|(t, _)| *t).collect::<Vec<_>>(), [0x0a0d0d0a, 1, 1]);
        assert_eq!(u32_at(&all[0].1, 0), 0x1a2b3c4d);
        for ((_, body), name) in all[1..].iter().zip(["sender", "receiver"]) {
            assert_eq!((u32_at(body, 0), u32_at(body, 4)), (228, 128));
            assert_eq!(&body[12..12 + name.len()], name.as_bytes());
            assert!(body.windows(5).any(|w| w == [9, 0, 1, 0, 9]), "time stamps are nanoseconds");
        }
    }

    #[test]
    fn a_packet_keeps_its_time_its_vantage_and_both_lengths() {
        let at = 5_000_000_123;
        let (bytes, summary) = capture(PcapngOptions::default(), &[(at, Vantage::Receiver, data(1))]);
        let all = blocks(&bytes);
        let (kind, body) = &all[3];
        assert_eq!((*kind, u32_at(body, 0)), (6, 1));
        assert_eq!(u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)), 1_000_000_005_000_000_123);
        assert_eq!((u32_at(body, 12), u32_at(body, 16), body.len()), (128, 1041, 20 + 128));
        assert_eq!((body[20], body[21]), (0x45, Ecn::Ect0 as u8));
        assert_eq!(summary, PcapngSummary { written_packets: 1, relabelled_packets: 0 });
    }

    #[test]
    fn a_full_capture_holds_the_payload_padded_to_words() {
        let options = PcapngOptions { snap: Snap::Full, ..PcapngOptions::default() };
        let all = blocks(&capture(options, &[(0, Vantage::Sender, data(1))]).0);
        assert_eq!((u32_at(&all[3].1, 12), all[3].1.len()), (1041, 20 + 1044));
        assert!(all[3].1[60..].iter().all(|b| *b == 0));
    }

    #[test]
    fn headers_are_never_cut() {
        let options = PcapngOptions { snap: Snap::Bytes(1), ..PcapngOptions::default() };
        let all = blocks(&capture(options, &[(0, Vantage::Sender, data(1))]).0);
        assert_eq!(u32_at(&all[3].1, 12), 88);
    }

    #[test]
    fn one_vantage_and_chosen_flows_leave_the_others_out() {
        let options = PcapngOptions {
            vantages: Vantages::Only(Vantage::Sender),
            flows: Flows::only([FlowId(1)]),
            ..PcapngOptions::default()
        };
        let packets = [(0, Vantage::Sender, data(1)), (1, Vantage::Receiver, data(1)), (2, Vantage::Sender, data(0))];
        let (bytes, summary) = capture(options, &packets);
        let all = blocks(&bytes);
        assert_eq!((all.len(), summary.written_packets), (3, 1), "a section, one interface, one packet");
        assert_eq!(u32_at(&all[1].1, 0), 101);
    }

    #[test]
    fn one_vantage_still_learns_the_window_scale_of_a_syn_that_it_does_not_show() {
        let options = PcapngOptions { vantages: Vantages::Only(Vantage::Sender), ..PcapngOptions::default() };
        let mut w = PcapngWriter::new(Vec::new(), options).unwrap();
        let mut pool = Pool::new();
        for (seen, meta) in [(Vantage::Sender, 0), (Vantage::Receiver, Meta::REVERSE)] {
            let id = pool.insert(packet!(Packet::default(); flags: crosswind_base::TcpFlags::SYN, meta: Meta(meta)));
            pool.attach(id, Ext { wscale: Some(3), ..Ext::default() });
            w.packet(Time(0), seen, pool.get(id), &pool);
        }
        w.packet(Time(1), Vantage::Sender, &packet!(Packet::default(); wnd: 800), &pool);
        let all = blocks(&w.finish().unwrap().0);
        assert_eq!(all[3].1[20 + 34..20 + 36], [0, 100]);
    }

    /// Accepts some bytes, then fails.
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, b: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(b.len()).ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))?;
            Ok(b.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_of_the_writer_is_reported_at_the_end() {
        let mut w = PcapngWriter::new(Full(500), PcapngOptions::default()).unwrap();
        (0..10).for_each(|i| w.packet(Time(i), Vantage::Sender, &data(0), &Pool::new()));
        assert_eq!(w.finish().err().map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }
}
