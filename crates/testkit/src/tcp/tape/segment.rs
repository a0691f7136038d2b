//! One segment as a tape writes it, and how it is compared with one that has left.

use super::mismatch::{Mismatch, differ};
use crosswind_base::packet::{AccEcnOption, AccEcnOrder, Ext};
use crosswind_base::{Ecn, Packet, TcpFlags};

/// A timestamp of a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stamp {
    Is(u32),
    /// Of a segment that leaves: whatever it is. Of one that arrives: the value that was sent last.
    Any,
}

impl Stamp {
    fn read(word: &str) -> Result<Stamp, Mismatch> {
        if word == "*" { Ok(Stamp::Any) } else { Ok(Stamp::Is(number(Some(word), "ts")?)) }
    }
    fn covers(self, found: u32) -> bool {
        self == Stamp::Any || self == Stamp::Is(found)
    }
    pub fn or(self, last: u32) -> u32 {
        match self {
            Stamp::Is(v) => v,
            Stamp::Any => last,
        }
    }
}

/// An IP packet with headers of 40 bytes holds no more.
const BYTES_MAX: u64 = 65_535 - 40;

/// A segment as a tape writes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    pub flags: u8,
    pub range: Option<(u64, u64)>,
    pub ack: Option<u64>,
    pub win: Option<u32>,
    pub sack: Vec<(u64, u64)>,
    pub mss: Option<u16>,
    pub wscale: Option<u8>,
    pub sackok: bool,
    /// Value and echo, where the tape names them.
    pub ts: Option<(Stamp, Stamp)>,
    pub ecn: Option<Ecn>,
    pub len: Option<u16>,
    pub again: bool,
    /// It may be a retransmission or not.
    pub perhaps_again: bool,
    /// A SYN with whatever options.
    pub any_options: bool,
    pub accecn: Wanted,
}

pub(super) fn number<T: std::str::FromStr>(word: Option<&str>, what: &str) -> Result<T, Mismatch> {
    let w = word.unwrap_or("nothing");
    w.parse().or_else(|_| differ(format!("a number for `{what}`"), format!("`{w}`")))
}

fn pair<T: std::str::FromStr>(word: &str, what: &str) -> Result<(T, T), Mismatch> {
    let (a, b) = word.split_once(':').ok_or_else(|| (format!("`a:b` for {what}"), format!("`{word}`")))?;
    Ok((number(Some(a), what)?, number(Some(b), what)?))
}

fn flags(word: &str) -> Result<u8, Mismatch> {
    let bit = |c| match c {
        'S' => Some(TcpFlags::SYN),
        'F' => Some(TcpFlags::FIN),
        'R' => Some(TcpFlags::RST),
        '.' => Some(TcpFlags::ACK),
        'E' => Some(TcpFlags::ECE),
        'W' => Some(TcpFlags::CWR),
        'A' => Some(TcpFlags::AE),
        _ => None,
    };
    word.chars().try_fold(0, |f, c| match bit(c) {
        Some(b) => Ok(f | b.0),
        None => differ("flags out of `SFR.EWA`", format!("`{word}`")),
    })
}

/// The bytes that a segment carries: no more than fit into an IP packet.
fn bytes(word: &str) -> Result<(u64, u64), Mismatch> {
    let (first, end): (u64, u64) = pair(word, "first:end")?;
    if first > end || end - first > BYTES_MAX {
        return differ(format!("`first:end` with at most {BYTES_MAX} bytes"), format!("`{word}`"));
    }
    Ok((first, end))
}

pub(super) fn segment(words: &[&str]) -> Result<Segment, Mismatch> {
    let mut w = words.iter().copied();
    let mut s = Segment { flags: flags(w.next().unwrap_or(""))?, ..Segment::default() };
    while let Some(key) = w.next() {
        match key {
            "ack" => s.ack = Some(number(w.next(), key)?),
            "win" => s.win = Some(number(w.next(), key)?),
            "mss" => s.mss = Some(number(w.next(), key)?),
            "wscale" => s.wscale = Some(number(w.next(), key)?),
            "len" => s.len = Some(number(w.next(), key)?),
            "ts" => {
                let word = w.next().unwrap_or("");
                let (a, b) = word.split_once(':').ok_or_else(|| ("`value:echo` for ts".into(), format!("`{word}`")))?;
                s.ts = Some((Stamp::read(a)?, Stamp::read(b)?));
            }
            "sack" => {
                for b in w.next().unwrap_or("").split(',') {
                    s.sack.push(pair(b, key)?);
                }
            }
            "sackok" => s.sackok = true,
            "perhaps-again" => s.perhaps_again = true,
            "any-options" => s.any_options = true,
            "again" | "rexmit" => s.again = true,
            "ace" => s.flags = TcpFlags(s.flags).with_ace(number(w.next(), key)?).0,
            "accecn0" => s.accecn = Wanted::Is(option(AccEcnOrder::Ect0First, w.next().unwrap_or(""))?),
            "accecn1" => s.accecn = Wanted::Is(option(AccEcnOrder::Ect1First, w.next().unwrap_or(""))?),
            "no-accecn" => s.accecn = Wanted::None,
            "ect1" => s.ecn = Some(Ecn::Ect1),
            "ect" => s.ecn = Some(Ecn::Ect0),
            "not-ect" => s.ecn = Some(Ecn::NotEct),
            "ce" => s.ecn = Some(Ecn::Ce),
            range if range.contains(':') => s.range = Some(bytes(range)?),
            other => return differ("a part of a segment (see the head of the parser)", format!("`{other}`")),
        }
    }
    Ok(s)
}

/// The AccECN option of a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Wanted {
    /// The tape does not say.
    #[default]
    Unsaid,
    None,
    Is(AccEcnOption),
}

impl Wanted {
    pub fn given(self) -> Option<AccEcnOption> {
        if let Wanted::Is(option) = self { Some(option) } else { None }
    }
    fn covers(self, found: Option<AccEcnOption>) -> bool {
        let Wanted::Is(want) = self else { return self == Wanted::Unsaid || found.is_none() };
        found.is_some_and(|o| o.order == want.order && o.in_order().eq(want.in_order()))
    }
}

/// Fields in the order in which they stand.
fn option(order: AccEcnOrder, word: &str) -> Result<AccEcnOption, Mismatch> {
    let mut fields = [0; 3];
    let words: Vec<&str> = word.split(',').collect();
    if words.len() > 3 {
        return differ("up to three fields", format!("`{word}`"));
    }
    for (field, word) in fields.iter_mut().zip(&words) {
        *field = number(Some(word), "a field of the option")?;
    }
    let [first, ceb, last] = fields;
    let (e0b, e1b) = if order == AccEcnOrder::Ect0First { (first, last) } else { (last, first) };
    Ok(AccEcnOption { order, fields: words.len() as u8, ceb, e0b, e1b })
}

pub(super) fn show(p: &Packet, ext: Option<&Ext>) -> String {
    let mut t = format!("{:?} {}:{} ack {} win {}", p.flags, p.seq, p.seq + p.payload as u64, p.ack, p.wnd);
    if let Some(e) = ext {
        let blocks: Vec<String> = e.sack.as_slice().iter().map(|b| format!("{}:{}", b.0, b.1)).collect();
        if !blocks.is_empty() {
            t += &format!(" sack {}", blocks.join(","));
        }
        if let Some(o) = e.accecn {
            let fields: Vec<String> = o.in_order().map(|f| f.to_string()).collect();
            t += &format!(" accecn{} {}", u8::from(o.order == AccEcnOrder::Ect1First), fields.join(","));
        }
        if p.flags.has(TcpFlags::SYN) {
            t += &format!(" mss {} wscale {:?} sackok {}", e.mss, e.wscale, e.sack_permitted);
        }
    }
    if p.ts_val != 0 {
        t += &format!(" ts {}:{}", p.ts_val, p.ts_ecr);
    }
    t + &format!(" {:?} len {}{}", p.ecn(), p.len, if p.meta.is_rexmit() { " again" } else { "" })
}

impl Segment {
    /// Whether the connection's packet is the one that the tape asks for.
    pub fn matches(&self, p: &Packet, ext: Option<&Ext>) -> bool {
        let e = ext.copied().unwrap_or_default();
        let syn = p.flags.has(TcpFlags::SYN);
        let range = self.range.unwrap_or(if syn { (0, 0) } else { (p.seq, p.seq) });
        let options = !syn
            || self.any_options
            || self.mss.is_none_or(|m| m == e.mss)
                && self.wscale == e.wscale
                && self.sackok == e.sack_permitted
                && self.ts.is_some() == (p.ts_val != 0);
        p.flags.0 & !TcpFlags::PSH.0 == self.flags
            && range == (p.seq, p.seq + p.payload as u64)
            && self.sack == e.sack.as_slice()
            && options
            && self.accecn.covers(e.accecn)
            && self.ack.is_none_or(|a| a == p.ack)
            && self.win.is_none_or(|w| w == p.wnd)
            && self.ts.is_none_or(|t| p.ts_val != 0 && t.0.covers(p.ts_val) && t.1.covers(p.ts_ecr))
            && self.ecn.is_none_or(|x| x == p.ecn())
            && self.len.is_none_or(|l| l == p.len)
            && (self.perhaps_again || self.again == p.meta.is_rexmit())
    }
}
