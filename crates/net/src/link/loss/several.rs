//! # Several losses on one link
//!
//! **Source**: ns-2.35 (several error models in a row on one link).
//!
//! **Idea**: every packet passes all models, in order; it is lost when one of them loses it. Each counts and draws as if it were
//! alone, on random numbers of its own. `loss = [{ .. }, { .. }]` is short for `loss = { type = "several", of = [{ .. }, { .. }] }`.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `of` | losses | [] | ours: nothing is lost until asked |
//!
//! **Deviations**: 1. A model sees packets that another one before it loses. 2. All stand at the same point of the link (`at`).
//!
//! **Checked by**: conformance suite; unit tests below.

use super::{BoxLoss, LossModel, LossPoint};
use crate::build::{BuildCx, Kind};
use crate::params::{Complete, Params};
use crosswind_base::{ConfigError, DropReason, Ecn, Packet, PacketId, Setting, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A loss inside this one: a table with its `type`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct One(Value);

impl JsonSchema for One {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "One".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"$ref": "#/$defs/loss"})
    }
}

/// Parameters of several losses.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SeveralParams {
    /// The losses, in order.
    pub of: Vec<One>,
}

/// The name of this row.
const SEVERAL: &str = "several";

impl Params for SeveralParams {
    fn complete(&mut self, inside: &Complete) -> Result<(), ConfigError> {
        for (i, one) in self.of.iter_mut().enumerate() {
            let at = format!("of[{i}]");
            let name = one.0.get("type").and_then(Value::as_str).or(one.0.as_str());
            match name {
                None => return Err(ConfigError::new(format!("{at}.type"), "nothing", "the type of the loss")),
                Some(SEVERAL) => return Err(ConfigError::new(format!("{at}.type"), SEVERAL, "a single loss")),
                Some(_) => one.0 = inside(Kind::Loss, &one.0, &at)?,
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ConfigError> {
        let points: Vec<&Value> = self.of.iter().filter_map(|one| one.0.get("at")).collect();
        match points.iter().position(|p| *p != points[0]) {
            Some(i) => Err(ConfigError::new(format!("of[{i}].at"), points[i].to_string(), "the same for all losses")),
            None => Ok(()),
        }
    }
}

/// Loses what one of its models loses.
pub struct Several {
    models: Vec<BoxLoss>,
    rewrites: Option<Ecn>,
}

/// Each model gets random streams of its own.
pub fn build(p: SeveralParams, cx: &BuildCx<'_>) -> Result<Several, ConfigError> {
    let make = |(i, one): (usize, &One)| {
        let own = format!("{}/{i}", cx.below(""));
        cx.elements().loss(&one.0, &format!("of[{i}]"), &cx.inside(&own, None))
    };
    let models = p.of.iter().enumerate().map(make).collect::<Result<_, _>>()?;
    Ok(Several { models, rewrites: None })
}

impl Several {
    /// All of them are asked; the first reason counts.
    fn ask(&mut self, mut lose: impl FnMut(&mut BoxLoss) -> Option<DropReason>) -> Option<DropReason> {
        self.rewrites = None;
        let mut why = None;
        for m in &mut self.models {
            let own = lose(m);
            why = why.or(own);
            self.rewrites = m.rewrites().or(self.rewrites);
        }
        why
    }
}

impl LossModel for Several {
    fn point(&self) -> LossPoint {
        self.models.first().map_or(LossPoint::Exit, |m| m.point())
    }
    fn arrives(&mut self, id: PacketId) {
        self.models.iter_mut().for_each(|m| m.arrives(id));
    }
    fn lose(&mut self, p: &Packet, now: Time) -> Option<DropReason> {
        self.ask(|m| m.lose(p, now))
    }
    fn lose_known(&mut self, id: PacketId, p: &Packet, now: Time) -> Option<DropReason> {
        self.ask(|m| m.lose_known(id, p, now))
    }
    /// What the last says that rewrites the packet.
    fn rewrites(&self) -> Option<Ecn> {
        self.rewrites
    }
    /// `of` is a list as long as there are models; empty tables leave theirs as they are.
    fn read_change(&self, set: &Map<String, Value>) -> Result<Setting, ConfigError> {
        let n = self.models.len();
        let all = match (set.len(), set.get("of").and_then(Value::as_array)) {
            (1, Some(all)) if all.len() == n => all,
            _ => {
                let found = Value::Object(set.clone()).to_string();
                return Err(ConfigError::new("of", found, format!("a list of {n} tables with the keys that change")));
            }
        };
        let mut new = Vec::with_capacity(n);
        for (i, (m, one)) in self.models.iter().zip(all).enumerate() {
            let wrong = || ConfigError::new(format!("of[{i}]"), one.to_string(), "a table of the keys that change");
            let keys = one.as_object().ok_or_else(wrong)?;
            let read = |m: &BoxLoss| m.read_change(keys).map_err(|e| e.under(&format!("of[{i}]")));
            new.push(if keys.is_empty() { None } else { Some(read(m)?) });
        }
        Ok(Setting::new(new))
    }
    fn change(&mut self, new: &Setting, now: Time) -> Result<(), ConfigError> {
        let all: Vec<Option<Setting>> = new.get();
        for (i, (m, new)) in self.models.iter_mut().zip(&all).enumerate() {
            if let Some(new) = new {
                m.change(new, now).map_err(|e| e.under(&format!("of[{i}]")))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::loss::packet_with_payload as packet;
    use crate::{params, registry};
    use crosswind_base::Streams;
    use serde_json::json;

    fn several(of: Value) -> Result<Several, ConfigError> {
        let p: SeveralParams = params::read_with(&json!({ "of": of }), "loss", &registry::normalise)?;
        build(p, &BuildCx::new(&Streams::new(1), "link/l/forward").with_elements(&registry::Registered))
    }

    #[test]
    fn a_packet_is_lost_when_one_of_them_loses_it() {
        let mut m =
            several(json!([{"type": "list", "packets": [2]}, {"type": "list", "packets": [4], "counts": "all"}]))
                .expect("two lists");
        let lost = |payload| m.lose(&packet(payload), Time::ZERO).is_some();
        // The second list counts bare packets too, and sees what the first one loses.
        assert_eq!([0, 500, 500, 500, 500].map(lost), [false, false, true, true, false]);
    }

    #[test]
    fn they_draw_from_streams_of_their_own() {
        let uniform = json!({"type": "uniform", "probability": 0.5});
        let share = |of| {
            let mut m = several(of).expect("losses");
            (0..10_000).filter(|_| m.lose(&packet(500), Time::ZERO).is_some()).count()
        };
        // With the same draws two would lose as many as one. Four standard deviations are 200 and 173.
        assert!(share(json!([uniform])).abs_diff(5000) < 200);
        assert!(share(json!([uniform, uniform])).abs_diff(7500) < 173);
    }

    #[test]
    fn each_of_them_may_change() {
        let mut m = several(json!([{"type": "list"}, {"type": "uniform"}])).expect("two losses");
        let mut set = |v: Value| m.read_and_change(v.as_object().expect("a table"), Time::ZERO);
        set(json!({"of": [{}, {"probability": 1.0}]})).expect("the second changes");
        assert_eq!(set(json!({"of": [{}]})).expect_err("too short").path, "of");
        assert_eq!(
            set(json!({"of": [{}, {"probability": 2.0}]})).expect_err("no probability").path,
            "of[1].probability"
        );
        assert!(m.lose(&packet(500), Time::ZERO).is_some());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let path = |of| several(of).err().expect("refused").path;
        assert_eq!(path(json!([{"packets": [1]}])), "loss.of[0].type");
        assert_eq!(path(json!([{"type": "several"}])), "loss.of[0].type");
        assert_eq!(path(json!(["list", {"type": "list", "at": "entry"}])), "loss.of[1].at");
        assert_eq!(path(json!(["list", {"type": "list", "packets": [0]}])), "loss.of[1].packets[0]");
    }
}
