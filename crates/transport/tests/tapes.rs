//! Plays every tape of `tests/tapes`; the language is described in `testkit::tcp::tape`.

use crosswind_testkit::tcp::tape::play;
use std::path::Path;

fn tapes() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tapes");
    #[expect(clippy::disallowed_methods, reason = "tests read their tapes")]
    let mut out: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the folder of tapes is beside this file")
        .map(|e| e.expect("a readable folder").path())
        .filter(|p| p.extension().is_some_and(|x| x == "tape"))
        .map(|p| {
            (p.file_name().expect("a file").to_string_lossy().into_owned(), std::fs::read_to_string(p).expect("text"))
        })
        .collect();
    out.sort();
    out
}

#[test]
fn every_tape_plays_as_written() {
    let tapes = tapes();
    assert!(tapes.len() >= 50, "only {} tapes were found", tapes.len());
    let wrong: Vec<String> =
        tapes.iter().filter_map(|(file, text)| play(file, text).err()).map(|e| e.to_string()).collect();
    assert!(wrong.is_empty(), "{} of {} tapes:\n{}", wrong.len(), tapes.len(), wrong.join("\n"));
}

#[test]
fn every_tape_says_what_it_shows() {
    for (file, text) in tapes() {
        assert!(text.starts_with("# "), "{file} does not begin with a sentence");
    }
}

fn error(text: &str) -> String {
    play("x.tape", text).expect_err("the tape is wrong").to_string()
}

#[test]
fn a_wrong_tape_names_file_line_expected_and_found() {
    let head = "params preset=rfc mss=\"1000 B\"\nhandshake 0.1 win 65535\n+0 write 1000\n";
    let e = error(&format!("{head}+0 > . 1:2001\n"));
    assert!(e.starts_with("x.tape:4: expected `> . 1:2001`, found `> . 1:1001 ack 1"), "{e}");
    let e = error(&format!("{head}+0.5 > . 1:1001\n"));
    assert!(e.starts_with("x.tape:4: expected `> . 1:1001` at 0.600000000s, found"), "{e}");
    let e = error(&format!("{head}+0.5 expect cwnd 3\n"));
    assert!(e.starts_with("x.tape:4: expected nothing to be sent, found `. 1:1001"), "{e}");
    let e = error(&format!("{head}+0 > . 1:1001\n+0 expect cwnd 3\n"));
    assert_eq!(e, "x.tape:5: expected cwnd 3, found cwnd 10000");
    let e = error(&format!("{head}+0 > . 1:1001\n+0 expect cwmd 3\n"));
    assert_eq!(e, "x.tape:5: expected a known quantity after `expect`, found `cwmd`");
    let e = error("params preset=rfc msss=3\n");
    assert!(e.starts_with("x.tape:1: expected valid parameters, found params.msss"), "{e}");
    let e = error(&format!("{head}+0 > . 1:1001\n+0 < Q\n"));
    assert_eq!(e, "x.tape:5: expected flags out of `SFR.EW`, found `Q`");
    assert!(error("0 open\n").starts_with("x.tape:1: expected `params` first"));
    assert!(error(&format!("{head}-1 open\n")).contains("time"));
    // What nobody asked for is an error at the end as well.
    assert!(error(head).starts_with("x.tape:3: expected nothing to be sent"));
}
