//! Judges: was the last timeout or reduction a mistake? One file per judge.

pub mod frto;
#[cfg(test)]
mod frto_oracle;

/// What a judge says after an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// No opinion, or not under way.
    None,
    /// Still open: send up to two new segments and wait for the next ACK.
    ProbeWithNewData,
    /// Still open: wait.
    Wait,
    /// The timeout was spurious.
    Spurious,
    /// The timeout was genuine: recover conventionally, with this window in segments.
    Genuine { window_segments: u32 },
}
