//! What a stack would draw from the operating system, from a seed: keys, connection ids, its generator.

use super::proto::crypto::{CryptoError, HmacKey};
use super::proto::{ConnectionId, ConnectionIdGenerator, TimeSource};
use crosswind_base::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of a connection id.
const CID_BYTES: usize = 8;

/// 32 bytes of a random stream.
pub fn seed(rng: &mut Rng) -> [u8; 32] {
    let mut out = [0; 32];
    out.chunks_mut(8).for_each(|c| c.copy_from_slice(&rng.bits().to_le_bytes()));
    out
}

/// Connection ids that count, each far from the next.
pub struct Counting {
    next: u64,
}

impl Counting {
    pub fn from(first: u64) -> Counting {
        Counting { next: first }
    }

    pub fn id(n: u64) -> ConnectionId {
        ConnectionId::new(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
    }
}

impl ConnectionIdGenerator for Counting {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next = self.next.wrapping_add(1);
        Counting::id(self.next)
    }
    fn cid_len(&self) -> usize {
        CID_BYTES
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// A keyed sum instead of a signature: nobody attacks a simulation.
pub struct Key(pub u64);

impl Key {
    fn sum(&self, data: &[u8]) -> u64 {
        data.iter().fold(self.0, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5))
    }
}

impl HmacKey for Key {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        let sum = self.sum(data);
        for (i, chunk) in out.chunks_mut(8).enumerate() {
            let word = sum.wrapping_mul(2 * i as u64 + 1).to_be_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 32];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl Key {
    /// Another key, which follows from this one.
    pub(super) fn derived(&self, from: &[u8]) -> Key {
        Key(self.sum(from))
    }
    /// Appends a sum of the text and of what goes with it.
    pub(super) fn sealed(&self, text: &mut Vec<u8>, more: &[u8]) {
        let sum = self.sum(text) ^ self.sum(more);
        text.extend_from_slice(&sum.to_be_bytes());
    }
    /// The text without its sum, if it is right.
    pub(super) fn opened<'a>(&self, data: &'a mut [u8], more: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let at = data.len().checked_sub(8).ok_or(CryptoError)?;
        let (text, sum) = data.split_at_mut(at);
        if *sum != (self.sum(text) ^ self.sum(more)).to_be_bytes() {
            return Err(CryptoError);
        }
        Ok(text)
    }
}

/// The date, for what is stamped with it: the run began with the epoch.
#[derive(Clone, Debug, Default)]
pub struct Date(Arc<AtomicU64>);

impl Date {
    pub fn set(&self, now_ns: u64) {
        self.0.store(now_ns, Ordering::Relaxed);
    }

    /// Since the epoch.
    pub fn ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl TimeSource for Date {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.ns())
    }
}
