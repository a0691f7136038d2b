//! The DS byte of the IP header: six bits that choose the treatment in routers (RFC 2474), two bits of ECN (RFC 3168).

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A code point: which treatment a packet asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Dscp(u8);

/// Class selectors and default (RFC 2474), assured (RFC 2597) and expedited forwarding (RFC 3246), voice admit (RFC 5865),
/// lower effort (RFC 8622).
const NAMES: &[(&str, u8)] = &[
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

/// How readily a packet of an assured class is dropped, or what a meter thinks of it: green is within the contract.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Colour {
    Green = 0,
    Yellow = 1,
    Red = 2,
}

impl Colour {
    pub const ALL: [Colour; 3] = [Colour::Green, Colour::Yellow, Colour::Red];
    pub fn word(self) -> &'static str {
        ["green", "yellow", "red"][self as usize]
    }
}

const HELP: &str = "a code point: a name such as \"EF\", \"AF21\" or \"CS1\", or a number from 0 to 63";

impl Dscp {
    pub const DEFAULT: Dscp = Dscp(0);
    pub const EXPEDITED: Dscp = Dscp(46);

    /// The code point of these six bits; more do not fit.
    pub fn from_bits(bits: u8) -> Option<Dscp> {
        (bits < 64).then_some(Dscp(bits))
    }
    pub fn bits(self) -> u8 {
        self.0
    }
    /// Of an assured class (RFC 2597), the drop precedence; other code points have none.
    pub fn colour(self) -> Option<Colour> {
        let is_assured = (1..=4).contains(&(self.0 >> 3)) && self.0 & 1 == 0 && self.0 & 6 != 0;
        is_assured.then(|| Colour::ALL[(self.0 >> 1 & 3) as usize - 1])
    }
    /// The code point of an assured class, 1 to 4.
    pub fn assured(class: u8, colour: Colour) -> Option<Dscp> {
        (1..=4).contains(&class).then(|| Dscp(class << 3 | (colour as u8 + 1) << 1))
    }
    pub fn parse(text: &str) -> Option<Dscp> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim()));
        named.map(|(_, bits)| Dscp(*bits)).or_else(|| Dscp::from_bits(text.trim().parse().ok()?))
    }
    pub fn show(self) -> String {
        let named = NAMES.iter().find(|(_, bits)| *bits == self.0);
        named.map_or_else(|| self.0.to_string(), |(name, _)| name.to_string())
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Dscp, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Number(u8),
            Other(serde::de::IgnoredAny),
        }
        let read = match Written::deserialize(d)? {
            Written::Text(t) => Dscp::parse(&t),
            Written::Number(n) => Dscp::from_bits(n),
            Written::Other(_) => None,
        };
        read.ok_or_else(|| D::Error::custom(format!("expected {HELP}")))
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.show())
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dscp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": ["string", "integer"], "minimum": 0, "maximum": 63, "description": HELP})
    }
}

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Ecn {
    #[default]
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

impl Ecn {
    /// The packet may be marked instead of dropped.
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
    pub fn from_bits(b: u8) -> Ecn {
        match b & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// The byte itself, as it is on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DsByte(pub u8);

impl DsByte {
    #[inline]
    pub fn ecn(self) -> Ecn {
        Ecn::from_bits(self.0)
    }
    #[inline]
    pub fn dscp(self) -> Dscp {
        Dscp(self.0 >> 2)
    }
    #[inline]
    pub fn with_ecn(self, ecn: Ecn) -> DsByte {
        DsByte(self.0 & !3 | ecn as u8)
    }
    #[inline]
    pub fn with_dscp(self, dscp: Dscp) -> DsByte {
        DsByte(self.0 & 3 | dscp.0 << 2)
    }
}

impl From<Ecn> for DsByte {
    fn from(ecn: Ecn) -> DsByte {
        DsByte(ecn as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_fields_share_a_byte_without_touching_each_other() {
        let ef = Dscp::parse("ef").expect("a name");
        assert_eq!((ef, ef.bits(), ef.show().as_str()), (Dscp::EXPEDITED, 46, "EF"));
        let b = DsByte::from(Ecn::Ect0).with_dscp(ef);
        assert_eq!((b.0, b.ecn(), b.dscp()), (0xba, Ecn::Ect0, ef));
        let marked = b.with_ecn(Ecn::Ce);
        assert_eq!((marked.ecn(), marked.dscp()), (Ecn::Ce, ef));
        assert_eq!(marked.with_dscp(Dscp::DEFAULT), DsByte(3));
    }

    #[test]
    fn assured_classes_have_three_colours_each_and_nothing_else_has_one() {
        let coloured = (0..64).filter_map(Dscp::from_bits).filter(|d| d.colour().is_some());
        let names: Vec<String> = coloured.map(|d| d.show()).collect();
        let all = (1..=4).flat_map(|class| (1..=3).map(move |p| format!("AF{class}{p}")));
        assert_eq!(names, all.collect::<Vec<_>>());
        let af32 = Dscp::assured(3, Colour::Yellow).expect("a class");
        assert_eq!(
            (af32.show().as_str(), af32.colour(), Dscp::assured(5, Colour::Red)),
            ("AF32", Some(Colour::Yellow), None)
        );
    }

    #[test]
    fn code_points_are_read_by_name_and_by_number_and_written_by_name() {
        let read = |v: serde_json::Value| serde_json::from_value::<Dscp>(v).map(|d| d.show());
        for (written, shown) in
            [(serde_json::json!("AF21"), "AF21"), (serde_json::json!(18), "AF21"), (serde_json::json!("3"), "3")]
        {
            assert_eq!(read(written).expect("a code point"), shown);
        }
        for wrong in [serde_json::json!(64), serde_json::json!("AF14"), serde_json::json!(-1), serde_json::json!([46])]
        {
            let e = read(wrong.clone()).expect_err("no code point");
            assert!(e.to_string().contains("0 to 63"), "{wrong}: {e}");
        }
    }
}
