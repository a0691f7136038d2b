//! The DS byte of the IP header: six bits that choose the treatment in routers (RFC 2474), two bits of ECN (RFC 3168).

use crate::Ecn;
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
