//! Where a line of a tape and the connection disagree.

/// Expected and found; the player adds file and line.
pub type Mismatch = (String, String);

pub fn differ<T>(expected: impl Into<String>, found: impl Into<String>) -> Result<T, Mismatch> {
    Err((expected.into(), found.into()))
}
