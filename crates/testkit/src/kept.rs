//! Results of tests that are kept as one hash each, in a file beside the test: what is not meant to move does not, and what
//! no other test looks at is looked at all the same.
//!
//! A hash says that something has moved, not what is right. After a change that is meant to move results, write the files anew
//! and look at the difference: `CROSSWIND_WRITE_KEPT=1 cargo test -p <crate> --test all kept`. A new element is no failure: it is
//! not in the file before that is written anew. Some elements use `exp` and `ln` of the system's mathematical library; another
//! library may round differently and move them.

use std::collections::BTreeMap;
use std::fmt::Write;

/// FNV-1a over words of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub fn word(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    pub fn words(&mut self, words: &[u64]) {
        words.iter().for_each(|w| self.word(*w));
    }
    pub fn number(&mut self, v: f64) {
        self.word(v.to_bits());
    }
    pub fn text(&mut self, text: &str) {
        text.bytes().for_each(|b| self.word(u64::from(b)));
        self.word(u64::MAX);
    }
    pub fn value(self) -> u64 {
        self.0
    }
    /// The hash of one text.
    pub fn of(text: &str) -> u64 {
        let mut h = Hash::default();
        h.text(text);
        h.0
    }
}

/// Names and hashes, as a file has them.
pub type Hashes = BTreeMap<String, Hash>;

#[expect(clippy::disallowed_methods, reason = "writing the stored file is asked for through the environment")]
fn is_asked_to_write() -> bool {
    std::env::var("CROSSWIND_WRITE_KEPT").is_ok_and(|v| v == "1")
}

#[expect(clippy::disallowed_methods, reason = "what is kept is a file of the test")]
fn write(path: &str, found: &Hashes) {
    let mut text = String::from("# name hash; written by the test, see crates/testkit/src/kept.rs\n");
    for (name, hash) in found {
        writeln!(text, "{name} {:016x}", hash.0).expect("text grows as it must");
    }
    std::fs::write(path, text).expect("the folder of the test can be written");
}

/// Compares with what is stored at `path`.
pub fn check(stored: &str, path: &str, found: &Hashes) {
    if is_asked_to_write() {
        return write(path, found);
    }
    let lines = stored.lines().filter(|l| !l.starts_with('#'));
    let stored: BTreeMap<&str, &str> = lines.filter_map(|l| l.rsplit_once(' ')).collect();
    let differs = |(name, hash): &(&&str, &&str)| found.get(**name).is_none_or(|f| format!("{:016x}", f.0) != **hash);
    let moved: Vec<&str> = stored.iter().filter(differs).map(|(name, _)| *name).collect();
    assert!(!stored.is_empty(), "{path} holds nothing");
    let total = stored.len();
    assert!(
        moved.is_empty(),
        "{} of {total} kept results have moved or are gone (crates/testkit/src/kept.rs says what to do):\n{}",
        moved.len(),
        moved.join("\n")
    );
}
