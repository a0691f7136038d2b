//! What is still in the network when all flows are over is there for a reason, and leaves it.

use crate::common::*;
use serde_json::{Value, json};

fn flow(workload: Value, tcp: &Value) -> Value {
    json!({ "from": "a", "to": "b", "workload": workload, "tcp": tcp })
}

#[test]
fn a_page_that_gives_up_beside_an_endless_flow_leaves_nothing_behind() {
    let tcp = json!({ "rto_initial": "20 ms", "retries_max": 0 });
    for delay in ["5 ms", "10 ms", "20 ms", "30 ms"] {
        for rate in ["100 kbit/s", "2 Mbit/s", "10 Mbit/s"] {
            for (reverse, objects) in [(false, 0), (true, 0), (false, 1), (true, 3)] {
                let mut page = flow(json!({ "type": "page", "objects": objects }), &tcp);
                if reverse {
                    (page["from"], page["to"]) = ("b".into(), "a".into());
                }
                let s = json!({ "name": "pages", "duration": "20 s",
                    "link": { "l": { "from": "a", "to": "b", "rate": rate, "delay": delay } },
                    "flow": { "page": page, "bulk": flow(json!({ "type": "bulk" }), &json!({})) } });
                let t = run(&s);
                assert_eq!(text(table(&t, "run"), "outcome", 0), "duration reached", "an endless flow goes on");
            }
        }
    }
}

#[test]
fn a_line_may_take_hours_for_what_is_left() {
    for rate in ["0.5 bit/s", "2 bit/s", "10 bit/s"] {
        for kind in [
            json!({ "type": "bulk", "size": "2 kB" }),
            json!({ "type": "page", "objects": 2, "body": "300 B", "object": "200 B" }),
        ] {
            let s = json!({ "name": "slow", "duration": "100000 s",
                "link": { "l": { "from": "a", "to": "b", "rate": rate, "delay": "20 ms" } },
                "flow": { "f": flow(kind, &json!({ "retries_max": 2, "rto_max": "2 s" })) } });
            run(&s);
        }
    }
}
