//! The transports that send at a rate: one row each, with the file whose header is its page. Nothing else lists them.

use super::protocol::{RateRow, row};
use crate::tfrc::TfrcParams;
use crate::udt::UdtParams;

/// In the order of the reference.
pub static ROWS: &[RateRow] =
    &[row::<TfrcParams>(include_str!("../tfrc/mod.rs")), row::<UdtParams>(include_str!("../udt/mod.rs"))];

/// The transport of that name.
pub fn find(name: &str) -> Option<&'static RateRow> {
    ROWS.iter().find(|r| r.name == name)
}
