//! Layers: transports know the vocabulary of `base` and nothing else of this workspace.

fn manifest() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    #[expect(clippy::disallowed_methods, reason = "a test reads its manifest")]
    std::fs::read_to_string(path).expect("the manifest is beside the sources")
}

/// The names in one table of the manifest.
fn table<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|l| l.trim() != format!("[{name}]")).skip(1);
    let lines = lines.take_while(|l| !l.trim_start().starts_with('['));
    lines.filter_map(|l| l.split_once(['=', '.'])).map(|(n, _)| n.trim()).collect()
}

#[test]
fn transport_depends_on_base_alone() {
    let text = manifest();
    let ours: Vec<&str> = table(&text, "dependencies").into_iter().filter(|n| n.starts_with("crosswind")).collect();
    assert_eq!(ours, ["crosswind-base"]);
    assert!(table(&text, "dependencies").contains(&"serde"), "the table was read");
}

#[test]
fn nothing_in_transport_names_a_queue_a_link_or_the_simulator() {
    fn walk(folder: &std::path::Path, found: &mut Vec<String>, files: &mut usize) {
        #[expect(clippy::disallowed_methods, reason = "a test reads the sources")]
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                walk(&path, found, files);
                continue;
            }
            *files += 1;
            #[expect(clippy::disallowed_methods, reason = "a test reads the sources")]
            let text = std::fs::read_to_string(&path).expect("text");
            let bad = ["crosswind_net", "crosswind_sim", "crosswind_record", "std::time", "std::thread", "std::fs"];
            found.extend(bad.iter().filter(|b| text.contains(**b)).map(|b| format!("{}: {b}", path.display())));
        }
    }
    let (mut found, mut files) = (Vec::new(), 0);
    walk(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found, &mut files);
    assert!(files > 15, "only {files} files were read");
    assert!(found.is_empty(), "{found:?}");
}
