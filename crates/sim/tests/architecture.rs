//! The arrows between crates, read from Cargo itself (invariants A1 and A2 of ARCHITECTURE.md).

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// What each crate may depend on. A new crate must be placed here before it compiles into anything.
const ARROWS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("net", &["base"]),
    ("transport", &["base"]),
    ("record", &["base"]),
    // The event loop of simulator and emulator.
    ("engine", &["base", "net"]),
    ("sim", &["base", "net", "engine", "transport", "record", "stacks"]),
    // In emulation the hosts are kernels: never transport, never sim.
    ("emu", &["base", "net", "engine", "record"]),
    // Stacks of other people: the simulator compiles without them.
    ("stacks", &["base", "transport"]),
    ("py", &["base", "net", "transport", "record", "sim", "emu", "host"]),
    // Only ever a dependency of tests.
    ("testkit", &["base", "net", "transport"]),
    ("lab", &["base", "record", "sim", "transport"]),
    // Crosswind's own TCP opposite a kernel: the emulator itself stays without a transport.
    ("host", &["base", "emu", "record", "stacks", "transport"]),
];

/// Crates that are told the time and may not reach for threads, files or sockets, not even through others.
const LOWER: [&str; 5] = ["base", "net", "engine", "transport", "record"];
const NOT_BELOW_THE_SIMULATOR: [&str; 6] = ["rayon", "tokio", "crossbeam", "mio", "socket2", "rustix"];

struct Arrow {
    to: String,
    is_for_tests: bool,
}

/// Every crate of the workspace with its direct dependencies.
fn crates() -> BTreeMap<String, Vec<Arrow>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", manifest])
        .output()
        .expect("cargo runs this test, so it can be run");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).expect("cargo writes JSON");
    let text = |v: &Value| v.as_str().expect("names are text").to_string();
    let packages = metadata["packages"].as_array().expect("a workspace has packages");
    let arrows = |p: &Value| {
        let list = p["dependencies"].as_array().expect("a package has a list of dependencies");
        list.iter().map(|d| Arrow { to: text(&d["name"]), is_for_tests: d["kind"] == "dev" }).collect()
    };
    packages.iter().map(|p| (short(&text(&p["name"])).to_string(), arrows(p))).collect()
}

fn short(name: &str) -> &str {
    name.strip_prefix("crosswind-").unwrap_or(name)
}

fn allowed(name: &str) -> BTreeSet<&'static str> {
    let row = ARROWS.iter().find(|(n, _)| *n == name);
    row.unwrap_or_else(|| panic!("crate `{name}` has no row in ARROWS")).1.iter().copied().collect()
}

#[test]
fn crates_depend_only_downwards() {
    let crates = crates();
    assert!(crates.len() >= 7, "found only {:?}", crates.keys());
    for (name, arrows) in &crates {
        let allowed = allowed(name);
        for a in arrows.iter().filter(|a| !a.is_for_tests && a.to.starts_with("crosswind-")) {
            assert!(allowed.contains(short(&a.to)), "`{name}` must not depend on `{}`", a.to);
        }
    }
}

#[test]
fn queues_and_transports_do_not_know_each_other_and_emulation_knows_no_transport() {
    // The table itself, followed through all arrows: a row that is edited carelessly fails here.
    let reach = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut todo = vec![from.to_string()];
        while let Some(name) = todo.pop() {
            for next in allowed(&name) {
                if seen.insert(next) {
                    todo.push(next.to_string());
                }
            }
        }
        seen
    };
    assert!(!reach("net").contains("transport") && !reach("transport").contains("net"), "A1");
    assert!(!reach("emu").contains("transport") && !reach("emu").contains("sim"), "A2");
    assert!(LOWER.iter().all(|c| reach(c).is_subset(&BTreeSet::from(["base", "net"]))));
}

#[test]
fn the_lower_crates_bring_no_threads_files_or_sockets_with_them() {
    for (name, arrows) in crates().iter().filter(|(n, _)| LOWER.contains(&n.as_str())) {
        for a in arrows.iter().filter(|a| !a.is_for_tests) {
            assert!(!NOT_BELOW_THE_SIMULATOR.contains(&a.to.as_str()), "`{name}` must not depend on `{}`", a.to);
        }
    }
}

#[test]
fn the_testkit_is_only_for_tests() {
    for (name, arrows) in crates() {
        let used = arrows.iter().find(|a| a.to == "crosswind-testkit" && !a.is_for_tests);
        assert!(used.is_none(), "`{name}` uses the testkit outside tests");
    }
}
