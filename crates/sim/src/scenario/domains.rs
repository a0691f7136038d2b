//! Domains and contracts: what happens to traffic where it enters a DiffServ domain (RFC 2475).
//!
//! A domain is a set of routers. A contract says what the domain promises to some of the traffic that enters it: who is
//! covered (`flow`, `from`, `dscp`), how it is metered, and what becomes of packets inside and outside the contract. The
//! places where traffic enters follow from the routes.

use super::catalogue::{Catalogue, Kind, object};
use crosswind_base::{Colour, ConfigError, Dscp, Dur};
use crosswind_net::diffserv::conditioner::Action;
use crosswind_net::sched::classify::AnyOf;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Routers under one administration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The routers of the domain. Traffic enters it on the links that lead to one of them from anywhere else.
    pub nodes: Vec<String>,
}

/// What a domain promises to some of the traffic that enters it. A packet belongs to at most one contract of a domain;
/// what belongs to none passes as it is. Contracts cover what a flow's sender sends, not what comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The domain whose boundary keeps the contract.
    pub domain: String,
    /// Flows or groups of flows. Left out: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<AnyOf<String>>,
    /// The domain, or the node, that the traffic comes from. Left out: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Code points that packets come with. Left out: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<AnyOf<Dscp>>,
    /// Whether all that is covered is metered together, or each flow for itself.
    #[serde(default)]
    pub per: Per,
    /// What the traffic is compared with. Left out: packets keep their colour, and have green if they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "meter_reference")]
    pub meter: Option<Value>,
    /// The class that packets are marked for: `AF1` to `AF4` (by colour), `EF` (green; the rest is dropped) or `BE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What becomes of green packets: a code point, `keep` or `drop`. Left out: as the class says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub green: Option<Treatment>,
    /// What becomes of yellow packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yellow: Option<Treatment>,
    /// What becomes of red packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red: Option<Treatment>,
    /// The longest wait in any one queue that packets are given; queues of type `early-discard` enforce it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtq: Option<Dur>,
    /// The sum of all waits that packets are given; queues of type `early-discard` enforce it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qtl: Option<Dur>,
    /// A queue, such as one of type `tbf`, that packets wait in before they enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "queue_reference")]
    pub shape: Option<Value>,
    /// Whether the times between packets that come green are recorded (metric `green_interval_ns` of the table `hist`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub intervals: Recording,
}

fn is_default<T: Default + PartialEq>(v: &T) -> bool {
    *v == T::default()
}
fn meter_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/meter"})
}
fn queue_reference(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"$ref": "#/$defs/queue"})
}

/// What one meter sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Everything that the contract covers.
    #[default]
    Aggregate,
    /// One flow.
    Flow,
}

/// Whether something is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    #[default]
    Off,
    On,
}

/// A class of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Class {
    #[serde(rename = "AF1")]
    Af1,
    #[serde(rename = "AF2")]
    Af2,
    #[serde(rename = "AF3")]
    Af3,
    #[serde(rename = "AF4")]
    Af4,
    #[serde(rename = "EF")]
    Ef,
    #[serde(rename = "BE")]
    Be,
}

impl Class {
    fn treatment(self, colour: Colour) -> Treatment {
        match (self, colour) {
            (Class::Ef, Colour::Green) => Treatment::Mark(Dscp::EXPEDITED),
            (Class::Ef, _) => Treatment::Drop,
            (Class::Be, _) => Treatment::Mark(Dscp::DEFAULT),
            _ => Dscp::assured(self as u8 + 1, colour).map_or(Treatment::Keep, Treatment::Mark),
        }
    }
}

/// What becomes of the packets of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    Keep,
    Drop,
    Mark(Dscp),
}

impl<'de> Deserialize<'de> for Treatment {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Treatment, D::Error> {
        let v = Value::deserialize(d)?;
        match v.as_str() {
            Some("keep") => Ok(Treatment::Keep),
            Some("drop") => Ok(Treatment::Drop),
            _ => serde_json::from_value(v).map(Treatment::Mark).map_err(|_| {
                D::Error::custom(
                    "expected \"keep\", \"drop\" or a code point such as \"AF12\" or a number from 0 to 63",
                )
            }),
        }
    }
}

impl Serialize for Treatment {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Treatment::Keep => s.serialize_str("keep"),
            Treatment::Drop => s.serialize_str("drop"),
            Treatment::Mark(d) => d.serialize(s),
        }
    }
}

impl JsonSchema for Treatment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Treatment".into()
    }
    fn json_schema(g: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let dscp = g.subschema_for::<Dscp>();
        schemars::json_schema!({"anyOf": [{"enum": ["keep", "drop"]}, dscp]})
    }
}

impl Contract {
    /// What becomes of the packets of each colour: green, yellow, red.
    pub fn actions(&self) -> [Action; 3] {
        let own = [self.green, self.yellow, self.red];
        Colour::ALL.map(|c| {
            let of_class = || self.class.map(|class| class.treatment(c));
            match own[c as usize].or_else(of_class).unwrap_or(Treatment::Keep) {
                Treatment::Keep => Action::Keep,
                Treatment::Drop => Action::Drop,
                Treatment::Mark(d) => Action::Mark(d),
            }
        })
    }

    /// The first colour up to `worst` of which nothing is said.
    fn unsaid(&self, worst: Colour) -> Option<Colour> {
        let said = [self.green.is_some(), self.yellow.is_some(), self.red.is_some()];
        Colour::ALL.into_iter().find(|c| *c <= worst && self.class.is_none() && !said[*c as usize])
    }

    /// One bit for each code point that it covers.
    pub(super) fn dscps(&self) -> u64 {
        self.dscp.as_ref().map_or(u64::MAX, |d| d.items().iter().fold(0, |set, d| set | 1 << d.bits()))
    }
}

/// Fills in the defaults of meter and shaper, and checks what one contract says for itself.
pub(super) fn complete(c: Contract, cat: &dyn Catalogue, path: &str) -> Result<Contract, ConfigError> {
    let mut c = c;
    if let Some(meter) = &c.meter {
        let at = format!("{path}.meter");
        let keys = object(meter, &at, "a table such as { type = \"tsw2cm\", cir = \"1 Mbit/s\" }")?;
        if !keys.contains_key("cir") {
            return Err(ConfigError::new(format!("{at}.cir"), "nothing", "the committed rate, such as \"1 Mbit/s\""));
        }
        if !keys.contains_key("type") {
            return Err(ConfigError::new(format!("{at}.type"), "nothing", "the type of meter, such as \"tsw2cm\""));
        }
        c.meter = Some(cat.normalise(Kind::Meter, meter, &at)?);
    }
    if let Some(shape) = &c.shape {
        c.shape = Some(cat.normalise(Kind::Queue, shape, &format!("{path}.shape"))?);
    }
    for (key, limit) in [("mtq", c.mtq), ("qtl", c.qtl)] {
        if limit == Some(Dur::ZERO) {
            let expected = "a time above zero; leave the key out for no limit";
            return Err(ConfigError::new(format!("{path}.{key}"), "0 s", expected));
        }
    }
    if let (Some(mtq), Some(qtl)) = (c.mtq, c.qtl)
        && mtq > qtl
    {
        let found = crosswind_base::units::show_dur(mtq);
        let expected = format!("at most `qtl` ({}): a longer one has no effect", crosswind_base::units::show_dur(qtl));
        return Err(ConfigError::new(format!("{path}.mtq"), found, expected));
    }
    Ok(c)
}

/// A meter with the flows that it sees.
#[derive(Clone, Debug)]
pub struct ConditionerPlan {
    /// Index into [`BoundaryPlan::contracts`].
    pub contract: u32,
    /// Name below which its random streams are.
    pub component: String,
}

/// Which packets of a flow a conditioner gets.
#[derive(Clone, Copy, Debug)]
pub struct RulePlan {
    pub flow: u32,
    pub dscps: u64,
    /// Index into [`BoundaryPlan::conditioners`].
    pub conditioner: u32,
}

/// The boundary of one domain.
#[derive(Clone, Debug)]
pub struct BoundaryPlan {
    pub domain: String,
    pub contracts: Vec<(String, Contract)>,
    pub conditioners: Vec<ConditionerPlan>,
    pub rules: Vec<RulePlan>,
}

/// A flow's data passes a boundary behind one of the egresses of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossing {
    pub flow: u32,
    /// Position in the route of the egress that leads into the domain.
    pub behind: u32,
    /// Index into [`Plan::boundaries`].
    pub boundary: u32,
}

/// What only the built meter knows: that something is said of every colour it gives.
pub(crate) fn check_colours(name: &str, c: &Contract, worst: Colour) -> Result<(), ConfigError> {
    match c.unsaid(worst) {
        None => Ok(()),
        Some(colour) => {
            let path = format!("contract.{name}.{}", colour.word());
            let expected = "a code point, \"keep\" or \"drop\" for every colour that the meter gives";
            Err(ConfigError::new(path, "nothing", expected).hint("or a class, such as class = \"AF1\""))
        }
    }
}
