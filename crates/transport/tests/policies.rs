//! History is a profile: what ns-2 or a kernel does differently is settled where scenarios and presets are read, and named for what
//! is done. The code that acts knows no system by name.

use crosswind_transport::tcp::policies::{AfterSynLoss, EchoAnswers, OptionBytes, Policies, SynOptions};
use crosswind_transport::tcp::preset::{PRESETS, preset};
use std::path::{Path, PathBuf};

/// Folders below `tcp/` that act; `table.rs` gives the names of scenario files their rules.
const ACTING: [&str; 9] = ["conn", "detect", "ecn", "pace", "reduction", "sender", "share", "signal", "undo"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    #[expect(clippy::disallowed_methods, reason = "a test reads the sources")]
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a readable folder").path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// The code of a file without comments, attributes, and the tests at its end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().take_while(|(_, l)| l.trim() != "mod tests {");
    lines.map(|(n, l)| (n + 1, l.split("//").next().unwrap_or(""))).filter(|(_, l)| !l.trim_start().starts_with("#["))
}

fn names_a_system(line: &str) -> bool {
    let line = line.to_lowercase();
    ["ns2", "ns_2", "linux", "freebsd", "windows_"].iter().any(|name| line.contains(name))
}

#[test]
fn no_code_that_acts_names_a_simulator_or_a_kernel() {
    let tcp = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tcp");
    let mut files = vec![tcp.join("sender.rs")];
    ACTING.iter().for_each(|folder| sources(&tcp.join(folder), &mut files));
    let mut found = Vec::new();
    let is_checked = |f: &&PathBuf| !f.ends_with("detect/table.rs") && !f.ends_with("detect/edges.rs");
    for file in files.iter().filter(is_checked).filter(|f| !f.to_string_lossy().contains("_oracle")) {
        #[expect(clippy::disallowed_methods, reason = "a test reads the sources")]
        let text = std::fs::read_to_string(file).expect("text");
        let bad = code(&text).filter(|(_, line)| names_a_system(line));
        found.extend(bad.map(|(n, line)| format!("{}:{n}: {}", file.display(), line.trim())));
    }
    assert!(files.len() > 50, "only {} files were read", files.len());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_search_finds_names_in_code_and_not_in_comments_or_attributes() {
    let text =
        "a(Handshake::Ns2); // why\n// Linux 2.4\n#[serde(rename = \"linux\")]\nlet linux = 1;\n\nmod tests {\nns2();";
    let found: Vec<usize> = code(text).filter(|(_, line)| names_a_system(line)).map(|(n, _)| n).collect();
    assert_eq!(found, [1, 4]);
}

#[test]
fn the_handshake_settles_what_is_done() {
    for p in PRESETS {
        let params = preset(p.name).expect("a preset");
        let policies = Policies::of(&params);
        let is_agent = p.name.starts_with("ns2-") || p.name.starts_with("gurtov-");
        assert_eq!(policies.syn_options == SynOptions::Assumed, is_agent, "{}", p.name);
        assert_eq!(policies.after_syn_loss == AfterSynLoss::WindowOfOne, is_agent, "{}", p.name);
        assert_eq!(policies.echo_answers == EchoAnswers::BeyondRecoveryPoint, is_agent, "{}", p.name);
        let bytes = OptionBytes { stamped_data: 12, stamped_ack: 12, around_blocks: 4 };
        assert_eq!(policies.option_bytes == bytes, !is_agent, "{}", p.name);
    }
}
