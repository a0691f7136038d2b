//! Packets: one cache line of hot fields in a slab, and a side table for what few packets carry.

use crate::ds::{DsByte, Dscp, Ecn};
use crate::{Dur, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Index of a packet in its [`Pool`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PacketId(pub u32);

/// Number of a flow within its scenario, in order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u32);

/// TCP header flags with their bits on the wire (RFC 9293, RFC 3168), but for AE: on the wire it is the lowest bit of the byte before; here it
/// stands in the place of URG, which nobody sends.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    pub const FIN: TcpFlags = TcpFlags(0x01);
    pub const SYN: TcpFlags = TcpFlags(0x02);
    pub const RST: TcpFlags = TcpFlags(0x04);
    pub const PSH: TcpFlags = TcpFlags(0x08);
    pub const ACK: TcpFlags = TcpFlags(0x10);
    /// RFC 9768; before, the nonce sum.
    pub const AE: TcpFlags = TcpFlags(0x20);
    pub const ECE: TcpFlags = TcpFlags(0x40);
    pub const CWR: TcpFlags = TcpFlags(0x80);

    #[inline]
    pub fn has(self, f: TcpFlags) -> bool {
        self.0 & f.0 != 0
    }
    #[inline]
    pub fn with(self, f: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | f.0)
    }
    /// AE, CWR and ECE read as one number (RFC 9768 section 3): 4 AE + 2 CWR + ECE.
    #[inline]
    pub fn ace(self) -> u8 {
        (self.0 & 0x20) >> 3 | self.0 >> 6
    }
    /// The same flags with another number in AE, CWR and ECE.
    #[inline]
    pub fn with_ace(self, ace: u8) -> TcpFlags {
        TcpFlags(self.0 & 0x1f | (ace & 4) << 3 | (ace & 3) << 6)
    }
}

impl std::fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names =
            [(0x02, 'S'), (0x01, 'F'), (0x04, 'R'), (0x08, 'P'), (0x10, '.'), (0x40, 'E'), (0x80, 'W'), (0x20, 'A')];
        names.iter().filter(|(b, _)| self.0 & b != 0).try_for_each(|(_, c)| write!(f, "{c}"))
    }
}

/// Up to four SACK blocks `[left, right)`, newest first (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackList {
    blocks: [(u64, u64); 4],
    n: u8,
}

impl SackList {
    pub const EMPTY: SackList = SackList { blocks: [(0, 0); 4], n: 0 };

    /// Adds a block; returns false (and ignores it) when four are held already.
    pub fn push(&mut self, left: u64, right: u64) -> bool {
        if self.n as usize == self.blocks.len() {
            return false;
        }
        self.blocks[self.n as usize] = (left, right);
        self.n += 1;
        true
    }
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..self.n as usize]
    }
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
    pub fn len(&self) -> usize {
        self.n as usize
    }
    /// Keeps so many of the first.
    pub fn truncate(&mut self, most: usize) {
        for b in self.blocks.iter_mut().skip(most) {
            *b = (0, 0);
        }
        self.n = self.n.min(most as u8);
    }
}

/// How long a packet may wait in queues, and how long it has waited. Queues that know these options reckon with the wait
/// that they expect when the packet arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// The longest wait in any one queue (MTQ).
    pub longest: Option<Dur>,
    /// What is left of the sum of all waits (QTL).
    pub left: Option<Dur>,
    /// Sum of the waits so far. For measurements only.
    pub so_far: Dur,
}

impl Waiting {
    /// No limit, and no wait so far.
    pub const NONE: Waiting = Waiting { longest: None, left: None, so_far: Dur::ZERO };
}

/// Until when a packet is worth having.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// So long from here; routers take off what they spend of it.
    Left(Dur),
    /// Until then. Needs clocks that agree.
    Until(Time),
}

/// What becomes of a packet whose lifetime is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expired {
    /// It goes on all the same.
    Forward,
    /// It is dropped.
    #[default]
    Discard,
    /// It goes on without its payload.
    Headers,
}

/// What a packet says of itself to the links on its way: the cross-layer option of gurtov-2004 section 5.1.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Life {
    pub lifetime: Lifetime,
    pub expired: Expired,
    /// A link has taken its payload away.
    pub is_cut: bool,
}

impl Life {
    /// Bytes of the option in the IP header.
    pub const OPTION_BYTES: u16 = 8;
}

/// The AccECN option (RFC 9768 section 3.2.3): counters of bytes by code point, 24 bits each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccEcnOption {
    pub order: AccEcnOrder,
    /// As many of [`AccEcnOrder::fields`] as the option has room for, from the first on.
    pub fields: u8,
    /// Bytes of payload that arrived CE, as ECT(0), as ECT(1).
    pub ceb: u32,
    pub e0b: u32,
    pub e1b: u32,
}

/// In which order the fields stand, which the kind of the option says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AccEcnOrder {
    /// Kind 172: ECT(0), CE, ECT(1).
    Ect0First,
    /// Kind 174: ECT(1), CE, ECT(0).
    #[default]
    Ect1First,
}

impl AccEcnOrder {
    pub fn kind(self) -> u8 {
        match self {
            AccEcnOrder::Ect0First => 172,
            AccEcnOrder::Ect1First => 174,
        }
    }
}

impl AccEcnOption {
    /// The fields, in the order in which they stand.
    pub fn in_order(&self) -> impl Iterator<Item = u32> {
        let all = match self.order {
            AccEcnOrder::Ect0First => [self.e0b, self.ceb, self.e1b],
            AccEcnOrder::Ect1First => [self.e1b, self.ceb, self.e0b],
        };
        all.into_iter().take(self.fields.into())
    }
    /// Bytes in a header, padded to words.
    pub fn padded_bytes(self) -> u16 {
        (2 + 3 * u16::from(self.fields)).next_multiple_of(4)
    }
    /// Writes it as it stands in a header, padded to words with no-operations before it.
    pub fn write(&self, out: &mut Vec<u8>) {
        let length = 2 + 3 * self.fields;
        out.extend(std::iter::repeat_n(1, usize::from(self.padded_bytes()) - usize::from(length)));
        out.extend([self.order.kind(), length]);
        for field in self.in_order() {
            out.extend(&field.to_be_bytes()[1..]);
        }
    }
    /// Reads what stands behind kind and length; nothing where it is another option, or has no whole fields.
    pub fn read(kind: u8, body: &[u8]) -> Option<AccEcnOption> {
        let order = [AccEcnOrder::Ect0First, AccEcnOrder::Ect1First].into_iter().find(|o| o.kind() == kind)?;
        let mut found = AccEcnOption { order, fields: (body.len() / 3) as u8, ..AccEcnOption::default() };
        if body.len() % 3 != 0 || body.len() > 9 {
            return None;
        }
        let mut fields = body.chunks(3).map(|f| u32::from_be_bytes([0, f[0], f[1], f[2]]));
        let [first, marked, last] = [(); 3].map(|()| fields.next().unwrap_or(0));
        (found.ceb, found.e0b, found.e1b) = match order {
            AccEcnOrder::Ect0First => (marked, first, last),
            AccEcnOrder::Ect1First => (marked, last, first),
        };
        Some(found)
    }
    /// A counter of this code point that the option holds.
    pub fn get(&self, of: Ecn) -> Option<u32> {
        let first = (self.order == AccEcnOrder::Ect1First) == (of == Ecn::Ect1);
        let needs = match of {
            Ecn::NotEct => return None,
            Ecn::Ce => 2,
            _ if first => 1,
            _ => 3,
        };
        let value = match of {
            Ecn::Ce => self.ceb,
            Ecn::Ect0 => self.e0b,
            _ => self.e1b,
        };
        (self.fields >= needs).then_some(value)
    }
}

/// What the header of an acknowledgement says, of a packet whose own fields hold other things: where frames travel with their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AckHeader {
    pub ack: u64,
    pub ts_val: u32,
    pub ts_ecr: u32,
    /// It has options beside SACK and timestamps.
    pub has_others: bool,
}

/// What few packets carry: SACK blocks, options of a SYN, counters of AccECN, limits of waiting, a lifetime.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ext {
    pub sack: SackList,
    pub wait: Waiting,
    pub life: Option<Life>,
    /// Options of a SYN: maximum segment size, window scale, SACK-permitted.
    pub mss: u16,
    pub wscale: Option<u8>,
    pub sack_permitted: bool,
    pub accecn: Option<AccEcnOption>,
    pub ack: Option<AckHeader>,
    /// Index + 1 of the real bytes that it carries; 0 = none. Use [`Pool::keep_bytes`] and [`Pool::take_bytes`].
    pub bytes: u32,
}

/// What the payload is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proto {
    /// A message of a router about a packet: the first byte of its payload is in [`Packet::seq`], what would fit in [`Packet::wnd`].
    Icmp,
    #[default]
    Tcp,
    Udp(Datagram),
}

impl Proto {
    /// A datagram of which only the application knows more.
    pub const UDP: Proto = Proto::Udp(Datagram::Plain);
    /// UDP in the IP header.
    pub const UDP_NUMBER: u8 = 17;

    /// In the IP header.
    pub fn number(self) -> u8 {
        match self {
            Proto::Icmp => 1,
            Proto::Tcp => 6,
            Proto::Udp(_) => Proto::UDP_NUMBER,
        }
    }
    #[inline]
    pub fn is_udp(self) -> bool {
        matches!(self, Proto::Udp(_))
    }
}

/// What a datagram is to a transport that runs over UDP. The numbers are what events show of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Datagram {
    /// The application's own, or one of which nobody here knows more.
    #[default]
    Plain = 0,
    TfrcData = 0x08,
    TfrcFeedback = 0x10,
    UdtData = 0x18,
    UdtAck = 0x20,
    UdtNak = 0x28,
    UdtAck2 = 0x30,
    /// A control interval of SABUL is over.
    SabulSyn = 0x38,
}

impl Datagram {
    /// It carries the application's data, or did before a router cut it off.
    pub fn is_data(self) -> bool {
        matches!(self, Datagram::Plain | Datagram::TfrcData | Datagram::UdtData)
    }
    /// Of a packet over UDP; of any other there is no more to know.
    #[inline]
    pub fn of(p: &Packet) -> Datagram {
        match p.proto {
            Proto::Udp(kind) => kind,
            Proto::Tcp | Proto::Icmp => Datagram::Plain,
        }
    }
}

/// Facts about a packet that measurements need and no algorithm may read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Meta(pub u8);

impl Meta {
    /// A retransmission of data sent before.
    pub const REXMIT: u8 = 1;
    /// Sent by the flow's receiver towards its sender.
    pub const REVERSE: u8 = 2;

    pub fn is_rexmit(self) -> bool {
        self.0 & Meta::REXMIT != 0
    }
    pub fn is_reverse(self) -> bool {
        self.0 & Meta::REVERSE != 0
    }
}

/// The hot part of a packet: exactly one cache line.
///
/// Sequence and acknowledgement numbers are 64-bit offsets from the initial sequence number (SYN = 0, first data
/// byte = 1), so nothing wraps inside; captures fold them into 32 bits.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Packet {
    /// When the transport handed it to the network.
    pub sent_at: crate::Time,
    /// `sent_at` of the packet that caused this one (an ACK's data segment). For measurements only.
    pub cause: crate::Time,
    pub seq: u64,
    pub ack: u64,
    pub flow: FlowId,
    /// Receive window in bytes, after scaling.
    pub wnd: u32,
    /// Cursor into the driver's table of routes: the stage that gets the packet next.
    pub hop: u32,
    /// Index + 1 of the side-table entry; 0 = none. Use [`Pool::ext`].
    pub ext: u32,
    /// RFC 7323 timestamps in ticks of the sender's clock; 0/0 when the option is absent.
    pub ts_val: u32,
    pub ts_ecr: u32,
    /// Bytes on the wire, IP header included.
    pub len: u16,
    /// Transport payload bytes.
    pub payload: u16,
    pub flags: TcpFlags,
    /// Code point and ECN bits; see [`Packet::ecn`] and [`Packet::dscp`].
    pub ds: DsByte,
    pub proto: Proto,
    pub meta: Meta,
}

const _: () = assert!(std::mem::size_of::<Packet>() == 64, "a packet is one cache line");

impl Default for Packet {
    fn default() -> Packet {
        Packet {
            sent_at: crate::Time::ZERO,
            cause: crate::Time::ZERO,
            seq: 0,
            ack: 0,
            flow: FlowId(0),
            wnd: 0,
            hop: 0,
            ext: 0,
            ts_val: 0,
            ts_ecr: 0,
            len: 0,
            payload: 0,
            flags: TcpFlags::default(),
            ds: DsByte::default(),
            proto: Proto::Tcp,
            meta: Meta::default(),
        }
    }
}

impl Packet {
    #[inline]
    pub fn ecn(&self) -> Ecn {
        self.ds.ecn()
    }
    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.ds = self.ds.with_ecn(ecn);
    }
    #[inline]
    pub fn dscp(&self) -> Dscp {
        self.ds.dscp()
    }
    #[inline]
    pub fn set_dscp(&mut self, dscp: Dscp) {
        self.ds = self.ds.with_dscp(dscp);
    }
}

/// A slab of packets. Freed slots are reused first; nothing is allocated once the peak has been reached.
#[derive(Default)]
pub struct Pool {
    slots: Vec<Packet>,
    free: Vec<u32>,
    exts: Vec<Ext>,
    free_exts: Vec<u32>,
    /// How long each has been in queues on its way so far. A packet is full, and no queue may read this.
    in_queues: Vec<Dur>,
    live: Vec<bool>,
    /// Real bytes, of the few packets that have any.
    bytes: Vec<Vec<u8>>,
    free_bytes: Vec<u32>,
}

impl Pool {
    pub fn new() -> Pool {
        Pool::default()
    }

    /// Always inlined: a packet is made in its slot, and not made elsewhere and copied.
    #[inline(always)]
    pub fn insert(&mut self, mut p: Packet) -> PacketId {
        p.ext = 0;
        let i = self.free.pop().unwrap_or_else(|| self.grow());
        self.slots[i as usize] = p;
        self.in_queues[i as usize] = Dur::ZERO;
        if cfg!(debug_assertions) {
            self.live[i as usize] = true;
        }
        PacketId(i)
    }

    /// One more slot.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let i = u32::try_from(self.slots.len()).expect("fewer than 2^32 packets are in flight");
        self.slots.push(Packet::default());
        self.in_queues.push(Dur::ZERO);
        if cfg!(debug_assertions) {
            self.live.push(false);
        }
        i
    }

    /// Gives a packet its side-table entry.
    pub fn attach(&mut self, id: PacketId, ext: Ext) {
        debug_assert!(self.slots[id.0 as usize].ext == 0, "a packet has one side-table entry");
        let i = match self.free_exts.pop() {
            Some(i) => {
                self.exts[i as usize] = ext;
                i
            }
            None => {
                self.exts.push(ext);
                self.exts.len() as u32 - 1
            }
        };
        self.slots[id.0 as usize].ext = i + 1;
    }

    #[inline]
    pub fn ext(&self, p: &Packet) -> Option<&Ext> {
        if p.ext == 0 { None } else { Some(&self.exts[p.ext as usize - 1]) }
    }

    /// The packet's side-table entry, to be written; an empty one is attached when it has none.
    pub fn ext_mut(&mut self, id: PacketId) -> &mut Ext {
        if self.slots[id.0 as usize].ext == 0 {
            self.attach(id, Ext::default());
        }
        &mut self.exts[self.slots[id.0 as usize].ext as usize - 1]
    }

    /// It has been in one more queue for so long. For measurements only.
    #[inline]
    pub fn note_in_queue(&mut self, id: PacketId, time: Dur) {
        self.in_queues[id.0 as usize].0 += time.0;
    }

    /// The time that it has spent in the queues of all links so far.
    #[inline]
    pub fn in_queues(&self, id: PacketId) -> Dur {
        self.in_queues[id.0 as usize]
    }

    #[inline]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.slots[id.0 as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.0 as usize]
    }

    /// Tells the processor that the packet will be wanted soon: what has been under way for a round trip is no longer in
    /// its cache.
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        if let (Some(p), Some(waited)) = (self.slots.get(id.0 as usize), self.in_queues.get(id.0 as usize)) {
            crate::prefetch(p);
            crate::prefetch(waited);
        }
    }

    /// Takes a packet out of the world: delivered to its endpoint, or dropped (through [`crate::Cx::drop`] only).
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        if cfg!(debug_assertions) {
            assert!(std::mem::replace(&mut self.live[id.0 as usize], false), "packet {id:?} was freed twice");
        }
        let ext = self.slots[id.0 as usize].ext;
        if ext != 0 {
            let bytes = self.exts[ext as usize - 1].bytes;
            if bytes != 0 {
                self.free_bytes.push(bytes - 1);
            }
            self.free_exts.push(ext - 1);
        }
        self.free.push(id.0);
    }

    /// Puts real bytes beside the packets; the number goes into [`Ext::bytes`] of the one that carries them.
    pub fn keep_bytes(&mut self, content: Vec<u8>) -> u32 {
        match self.free_bytes.pop() {
            Some(i) => {
                self.bytes[i as usize] = content;
                i + 1
            }
            None => {
                self.bytes.push(content);
                self.bytes.len() as u32
            }
        }
    }

    /// The real bytes of a packet that is about to leave the world; empty when it has none.
    pub fn take_bytes(&mut self, id: PacketId) -> Vec<u8> {
        let number = self.ext(&self.slots[id.0 as usize]).map_or(0, |e| e.bytes);
        number.checked_sub(1).map_or_else(Vec::new, |i| std::mem::take(&mut self.bytes[i as usize]))
    }

    /// Packets that exist now. A finished world must account for every one of them.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    /// The most packets that ever existed at once.
    pub fn peak(&self) -> usize {
        self.slots.len()
    }
}
