//! Plays every tape of `tests/tapes`; the language is described in `testkit::tcp::tape`.

use crosswind_testkit::tcp::tape::{play, play_packetdrill};
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
    assert_eq!(e, "x.tape:5: expected flags out of `SFR.EWA`, found `Q`");
    assert!(error("0 open\n").starts_with("x.tape:1: expected `params` first"));
    assert!(error(&format!("{head}-1 open\n")).contains("time"));
    // What nobody asked for is an error at the end as well.
    assert!(error(head).starts_with("x.tape:3: expected nothing to be sent"));
}

/// A server that answers a request, loses a segment and repairs it, as a script of packetdrill has it.
const SCRIPT: &str = "\
// Fast retransmit on the third duplicate ACK.
--tolerance_usecs=4000
`sysctl -q net.ipv4.tcp_sack=1`
0.000 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 10000) = 10000
+0 > . 1:1001(1000) ack 1
+0 > . 1001:2001(1000) ack 1
+0 > . 2001:3001(1000) ack 1
+0 > P. 3001:4001(1000) ack 1
+.1 < . 1:1(0) ack 1 win 257 <sack 1001:2001,nop,nop>
+0 > . 4001:5001(1000) ack 1
+0 < . 1:1(0) ack 1 win 257 <sack 1001:3001,nop,nop>
+0 > . 5001:6001(1000) ack 1
+0 < . 1:1(0) ack 1 win 257 <nop,nop,sack 1001:4001>
+0 > . 1:1001(1000) ack 1
+0 %{ assert tcpi_snd_ssthresh == 2, tcpi_snd_ssthresh }%
+.1 < . 1:1(0) ack 6001 win 257
+0 > . 6001:7001(1000) ack 1
+0 > . 7001:8001(1000) ack 1
+0 close(4) = 0
+.1 < R. 1:1(0) ack 6001 win 257
";

const SERVER: &str = "params preset=rfc mss=\"1000 B\" initial_window_segments=4";

#[test]
fn a_script_of_packetdrill_plays_as_a_tape() {
    play_packetdrill("fast.pkt", SERVER, SCRIPT).unwrap_or_else(|e| panic!("{e}"));
    // The peer's window is scaled: 257 stands for 32896 bytes. In bytes it would hold nothing.
    let unscaled = SCRIPT.replace(",nop,nop,nop,wscale 7", "");
    let e = play_packetdrill("fast.pkt", SERVER, &unscaled).expect_err("a window of 257 bytes").to_string();
    assert!(e.starts_with("fast.pkt:13: "), "{e}");
}

#[test]
fn a_wrong_script_names_its_line() {
    let error = |from: &str, to: &str| {
        let text = SCRIPT.replace(from, to);
        play_packetdrill("x.pkt", SERVER, &text).expect_err("the script is wrong").to_string()
    };
    let e = error("+0 > P. 3001:4001(1000)", "+0 > P. 3001:4501(1500)");
    assert!(e.starts_with("x.pkt:16: expected `> . 3001:4501"), "{e}");
    let e = error("listen(3, 1)", "ioctl(3, 1)");
    assert!(e.starts_with("x.pkt:7: expected a call that is known"), "{e}");
    let e = error("tcpi_snd_ssthresh == 2", "tcpi_rtt == 2");
    assert!(e.starts_with("x.pkt:23: expected an assertion"), "{e}");
    let e = error("+.1 < . 1:1(0) ack 6001", "+.1~+.2 < . 1:1(0) ack 6001");
    assert!(e.starts_with("x.pkt:24: expected a single time"), "{e}");
}
