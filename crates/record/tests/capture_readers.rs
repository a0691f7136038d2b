//! A small connection, written as a capture and read back by independent programs.
//!
//! The tests need tshark and tcptrace and say so loudly when one is missing. Set `KEEP_CAPTURE=1` to look at the files
//! afterwards.
#![expect(clippy::disallowed_methods, reason = "other programs read the capture from a file")]

use crosswind_base::packet::{Ext, Meta, Proto};
use crosswind_base::{Ecn, FlowId, Observer, Packet, PacketId, Pool, SackList, TcpFlags, Time, Vantage};
use crosswind_record::{PcapngOptions, PcapngWriter, Snap, TcpOptions, Vantages, tcp_header_len};
use std::path::{Path, PathBuf};
use std::process::Command;

const ACK: TcpFlags = TcpFlags::ACK;
const DELAY_NS: u64 = 50_000_000;

/// The packets of a script with the times at which they leave; each arrives 50 ms later unless it is lost.
#[derive(Default)]
struct Script {
    pool: Pool,
    /// (when, arrives, packet)
    sent: Vec<(u64, bool, PacketId)>,
}

impl Script {
    fn send(&mut self, at_ms: u64, mut p: Packet, ext: Option<Ext>) {
        p.sent_at = Time(at_ms * 1_000_000);
        let transport = match p.proto {
            Proto::Tcp => tcp_header_len(&TcpOptions::of(&p, ext.as_ref())) as u16,
            Proto::Icmp => 36,
            Proto::Udp(_) => 8,
        };
        p.len = 20 + transport + p.payload;
        let id = self.pool.insert(p);
        if let Some(e) = ext {
            self.pool.attach(id, e);
        }
        self.sent.push((p.sent_at.0, true, id));
    }
    fn lose_last(&mut self) {
        self.sent.last_mut().unwrap().1 = false;
    }
    /// Shows all sights in the order of time.
    fn play(&self, o: &mut impl Observer) {
        let mut sights = Vec::new();
        for (at, arrives, id) in &self.sent {
            let (near, far) = match self.pool.get(*id).meta.is_reverse() {
                false => (Vantage::Sender, Vantage::Receiver),
                true => (Vantage::Receiver, Vantage::Sender),
            };
            sights.push((*at, near, *id));
            if *arrives {
                sights.push((*at + DELAY_NS, far, *id));
            }
        }
        sights.sort_by_key(|s| s.0);
        sights.iter().for_each(|(at, seen, id)| o.packet(Time(*at), *seen, self.pool.get(*id), &self.pool));
    }
}

fn forward(flags: TcpFlags) -> Packet {
    let mut p = Packet::default();
    (p.flow, p.flags, p.wnd, p.seq, p.ack, p.ts_val, p.ts_ecr) = (FlowId(258), flags, 64_000, 1, 1, 100, 90);
    p
}

fn data(seq: u64) -> Packet {
    let mut p = forward(ACK);
    (p.seq, p.payload, p.ds) = (seq, 1000, Ecn::Ect0.into());
    p
}

fn reverse(flags: TcpFlags, ack: u64) -> Packet {
    let mut p = forward(flags);
    (p.meta, p.ack, p.wnd) = (Meta(Meta::REVERSE), ack, 48_000);
    p
}

fn syn_ext(wscale: u8) -> Option<Ext> {
    Some(Ext { mss: 1460, wscale: Some(wscale), sack_permitted: true, ..Ext::default() })
}

fn sack(blocks: &[(u64, u64)]) -> Option<Ext> {
    let mut list = SackList::EMPTY;
    blocks.iter().for_each(|(l, r)| assert!(list.push(*l, *r)));
    Some(Ext { sack: list, ..Ext::default() })
}

/// Handshake, five segments of which the second is lost and the third marked, recovery, tear-down, one datagram.
fn script() -> Script {
    let mut s = Script::default();
    let mut syn = forward(TcpFlags::SYN.with(TcpFlags::ECE).with(TcpFlags::CWR));
    (syn.seq, syn.ack, syn.ts_ecr) = (0, 0, 0);
    s.send(0, syn, syn_ext(7));
    let mut syn_ack = reverse(TcpFlags::SYN.with(ACK).with(TcpFlags::ECE), 1);
    syn_ack.seq = 0;
    s.send(50, syn_ack, syn_ext(2));
    s.send(100, forward(ACK), None);
    for (i, seq) in [1, 1001, 2001, 3001, 4001].into_iter().enumerate() {
        let mut p = data(seq);
        if i == 2 {
            p.set_ecn(Ecn::Ce);
        }
        s.send(101 + i as u64, p, None);
        if i == 1 {
            s.lose_last();
        }
    }
    s.send(151, reverse(ACK, 1001), None);
    s.send(153, reverse(ACK.with(TcpFlags::ECE), 1001), sack(&[(2001, 3001)]));
    s.send(154, reverse(ACK.with(TcpFlags::ECE), 1001), sack(&[(2001, 4001)]));
    s.send(155, reverse(ACK.with(TcpFlags::ECE), 1001), sack(&[(2001, 5001), (1, 501), (501, 801), (801, 901)]));
    let mut retransmit = data(1001);
    (retransmit.ds, retransmit.meta) = (Ecn::NotEct.into(), Meta(Meta::REXMIT));
    s.send(205, retransmit, None);
    let mut cwr = data(5001);
    cwr.flags = ACK.with(TcpFlags::CWR).with(TcpFlags::PSH);
    s.send(206, cwr, None);
    s.send(256, reverse(ACK, 6001), None);
    let mut fin = forward(ACK.with(TcpFlags::FIN));
    fin.seq = 6001;
    s.send(310, fin, None);
    s.send(360, reverse(ACK.with(TcpFlags::FIN), 6002), None);
    let mut last = forward(ACK);
    (last.seq, last.ack) = (6002, 2);
    s.send(410, last, None);
    let mut datagram = Packet::default();
    (datagram.flow, datagram.proto, datagram.payload) = (FlowId(9), Proto::UDP, 47);
    s.send(420, datagram, None);
    s
}

fn write_capture(name: &str, vantages: Vantages) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let options = PcapngOptions { snap: Snap::Full, vantages, ..PcapngOptions::default() };
    let mut w = PcapngWriter::new(file, options).unwrap();
    script().play(&mut w);
    let (_, summary) = w.finish().unwrap();
    assert_eq!(summary.relabelled_packets, 0, "the script counts header bytes by the public rule");
    // Nineteen packets, one of which never arrives.
    let sights = match vantages {
        Vantages::Both => 37,
        Vantages::Only(Vantage::Sender) => 19,
        Vantages::Only(Vantage::Receiver) => 18,
    };
    assert_eq!(summary.written_packets, sights);
    path
}

/// `make test` counts a test that says so as skipped (`tools/check.py`).
fn skipped(program: &str) {
    eprintln!("SKIPPED: {program} is not installed: captures were not checked by it");
}

/// One row per packet, one text per field; None when tshark is not installed.
fn tshark(capture: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut c = Command::new("tshark");
    c.arg("-r").arg(capture).args(["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
    c.args(["-o", "udp.check_checksum:TRUE", "-T", "fields", "-E", "separator=|"]);
    fields.iter().for_each(|f| {
        c.args(["-e", f]);
    });
    let out = match c.output() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            skipped("tshark");
            return None;
        }
        other => other.unwrap(),
    };
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "tshark cannot read the capture: {said}");
    let text = String::from_utf8(out.stdout).unwrap();
    Some(text.lines().map(|l| l.split('|').map(String::from).collect()).collect())
}

fn clean_up(capture: &Path) {
    if std::env::var_os("KEEP_CAPTURE").is_none() {
        std::fs::remove_file(capture).unwrap();
    }
}

#[test]
fn an_independent_reader_finds_every_checksum_right_at_both_vantages() {
    let file = write_capture("checksums.pcapng", Vantages::Both);
    let fields = [
        "ip.checksum.status",
        "tcp.checksum.status",
        "udp.checksum.status",
        "frame.interface_name",
        "_ws.malformed",
        "frame.len",
        "ip.len",
    ];
    if let Some(rows) = tshark(&file, &fields) {
        assert_eq!(rows.len(), 37);
        for (i, r) in rows.iter().enumerate() {
            let transport = format!("{}{}", r[1], r[2]);
            assert_eq!((r[0].as_str(), transport.as_str()), ("1", "1"), "packet {}: {r:?}", i + 1);
            assert_eq!((r[4].as_str(), &r[5]), ("", &r[6]), "packet {}: {r:?}", i + 1);
        }
        let at = |name: &str| rows.iter().filter(|r| r[3] == name).count();
        assert_eq!((at("sender"), at("receiver")), (19, 18), "the lost segment was seen once");
    }
    clean_up(&file);
}

#[test]
fn an_independent_reader_sees_the_handshake_sack_blocks_ecn_and_windows() {
    let file = write_capture("fields.pcapng", Vantages::Only(Vantage::Sender));
    let fields = [
        "frame.time_relative",
        "tcp.flags.str",
        "tcp.seq",
        "tcp.ack",
        "tcp.window_size",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.sack_perm",
        "tcp.options.timestamp.tsval",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "ip.dsfield.ecn",
        "tcp.analysis.fast_retransmission",
        "tcp.analysis.duplicate_ack",
        "ip.src",
    ];
    if let Some(rows) = tshark(&file, &fields) {
        let of = |field: &str| fields.iter().position(|f| *f == field).unwrap();
        let column = |field: &str| -> Vec<&str> { rows.iter().map(|r| r[of(field)].as_str()).collect() };
        let some = |field: &str| -> Vec<&str> { column(field).into_iter().filter(|t| !t.is_empty()).collect() };
        assert_eq!(rows.len(), 19);
        assert_eq!(some("tcp.options.mss_val"), ["1460", "1460"]);
        assert_eq!(some("tcp.options.wscale.shift"), ["7", "2"]);
        assert_eq!(some("tcp.options.sack_perm").len(), 2);
        assert_eq!(some("tcp.options.timestamp.tsval").len(), 18, "every segment");
        // Arrival order at the sender: SYN, SYN-ACK, ACK, five segments, ...
        assert_eq!(column("tcp.seq")[..8], ["0", "0", "1", "1", "1001", "2001", "3001", "4001"]);
        assert_eq!(column("tcp.ack")[8..16], ["1001", "1001", "1001", "1001", "1", "1", "6001", "1"]);
        // Three of the four blocks fit beside timestamps.
        assert_eq!(some("tcp.options.sack_le"), ["2001", "2001", "2001,1,501"]);
        assert_eq!(some("tcp.options.sack_re"), ["3001", "4001", "5001,501,801"]);
        assert_eq!(column("ip.dsfield.ecn").iter().filter(|e| **e == "3").count(), 1);
        assert_eq!(column("ip.dsfield.ecn").iter().filter(|e| **e == "2").count(), 5);
        assert_eq!(column("tcp.window_size")[..4], ["64000", "48000", "64000", "64000"]);
        assert_eq!(rows[8][of("ip.src")], "10.1.2.2");
        assert_eq!(some("tcp.analysis.fast_retransmission").len(), 1);
        assert_eq!(some("tcp.analysis.duplicate_ack").len(), 3);
    }
    clean_up(&file);
}

/// tcptrace's report on a capture of one vantage; None when it is not installed.
fn tcptrace(capture: &Path) -> Option<String> {
    match Command::new("tcptrace").args(["-lnr"]).arg(capture).output() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            skipped("tcptrace");
            None
        }
        other => {
            let out = other.unwrap();
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(!said.contains("PCAP error"), "{said}");
            Some(String::from_utf8_lossy(&out.stdout).into_owned())
        }
    }
}

/// The two values, sender's and receiver's, of a line of tcptrace's report.
fn both(report: &str, line: &str) -> [String; 2] {
    let row = report.lines().find(|l| l.trim_start().starts_with(line)).unwrap_or_else(|| panic!("{line}: {report}"));
    let mut values = row.split(line).skip(1).map(|v| v.split_whitespace().next().unwrap().to_string());
    [values.next().unwrap(), values.next().unwrap()]
}

#[test]
fn tcptrace_counts_retransmissions_at_the_sender_and_disorder_at_the_receiver() {
    for (seen, again, disordered) in [(Vantage::Sender, "1", "0"), (Vantage::Receiver, "0", "1")] {
        let file = write_capture(&format!("tcptrace-{seen:?}.pcapng"), Vantages::Only(seen));
        if let Some(report) = tcptrace(&file) {
            assert!(report.contains("complete conn: yes"), "{report}");
            assert!(report.contains("elapsed time:  0:00:00.410000"), "{report}");
            assert_eq!(both(&report, "rexmt data pkts:"), [again, "0"], "{seen:?}");
            assert_eq!(both(&report, "outoforder pkts:"), [disordered, "0"], "{seen:?}");
            assert_eq!(both(&report, "sack pkts sent:"), ["0", "3"]);
            assert_eq!(both(&report, "unique bytes sent:"), ["6000", "0"]);
            assert_eq!(both(&report, "max win adv:"), ["64000", "48000"]);
        }
        clean_up(&file);
    }
}
