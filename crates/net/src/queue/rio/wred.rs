//! # Weighted RED
//!
//! **Source**: rfc2597 section 2 (drop precedences); ns-2.35 (diffserv/dsredq.cc, mode WRED).
//!
//! **Idea**: as `rio`, but one average of the whole queue serves all colours: they differ in thresholds and probability
//! only, and a long queue of yellow packets can cost green ones too.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `limit` | packets or bytes | 200 packets | as `rio` |
//! | `ecn` | - | drop | as `rio` |
//! | `average` | - | total | what makes it weighted RED |
//! | `profile` | - | ns2-red | as `rio` |
//! | `green` | - | 100 and 150 packets, 0.02 | as `rio` |
//! | `yellow` | - | 50 and 100 packets, 0.1 | as `rio` |
//! | `red` | - | as yellow | as `rio` |
//! | `others` | - | red | as `rio` |
//! | `w_q` | - | 0.002 | as `rio` |
//! | `mean_packet` | bytes | 1000 B | as `rio` |
//! | `gentle` | - | false | as `rio` |
//! | `wait` | - | true | as `rio` |
//! | `rate` | bit/s | the link's | - |
//!
//! **Deviations**: 1. As `rio`.
//!
//! **Checked by**: oracle `rio` with the total average; conformance suite.

use super::RioParams;
use crate::params::Params;
use crosswind_base::ConfigError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of weighted RED: those of RIO with another default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WredParams(pub RioParams);

impl Default for WredParams {
    fn default() -> Self {
        WredParams(RioParams { average: super::Average::Total, ..RioParams::default() })
    }
}

impl JsonSchema for WredParams {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WredParams".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = RioParams::json_schema(generator);
        if let Some(average) = schema.pointer_mut("/properties/average") {
            average["default"] = "total".into();
        }
        schema
    }
}

impl Params for WredParams {
    fn check(&self) -> Result<(), ConfigError> {
        self.0.check()
    }
    fn fill(written: &mut Map<String, Value>) {
        written.entry("average").or_insert_with(|| "total".into());
    }
}
