//! By what quinn's CUBIC multiplies its window at each loss:
//!
//! ```text
//! cargo run -p crosswind-stacks --example reductions
//! ```
//!
//! One endless flow over 20 Mbit/s and 60 ms with a queue of 100 packets, 60 s. One factor a line, in the order of time.
//! `make stack-versions` runs it on older releases of quinn-proto.
#![expect(clippy::print_stdout, clippy::disallowed_macros, reason = "an example for people")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Little, Path, pairs};
use crosswind_base::Time;
use crosswind_stacks::ROWS;
use crosswind_transport::stack::CutBecause;
use serde_json::json;

fn main() {
    let row = ROWS.iter().find(|r| r.name == "quinn").expect("quinn is built in");
    let (_, make) = (row.build.read)(&json!({ "congestion": "cubic" }), "quinn").expect("its own parameters");
    let mut world = Little::new(Path::new(20, 100, 60), pairs(1, 7, |role, rng| make(role, rng)), 1 << 50);
    world.run(Time::from_secs_f64(60.0));
    for cut in world.cuts.iter().filter(|c| c.why == CutBecause::Loss) {
        println!("{:.4}", cut.after_bytes as f64 / cut.before_bytes as f64);
    }
}
