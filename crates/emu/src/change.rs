//! A change of a link while a network is emulated.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// New values for parameters of a link, from one moment on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub link: String,
    /// `forward` or `reverse`; both when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    pub set: Map<String, Value>,
}
