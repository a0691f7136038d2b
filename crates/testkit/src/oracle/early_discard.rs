//! MTQ and QTL as igarashi's pseudo-code has them, on a list of lengths, with times in whole nanoseconds.

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub mtq: Option<u64>,
    pub qtl: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    Overflow,
    Mtq,
    Qtl,
}

pub struct Node {
    pub bits_per_s: u64,
    pub limit_packets: usize,
    /// A wait as long as the limit is in time.
    pub equal_is_in_time: bool,
    pub queue: Vec<u64>,
}

impl Node {
    /// Admits the packet with what is left of its budget, and the wait that it was told of; or says why not.
    pub fn arrive(&mut self, len: u64, p: Limits) -> Result<(Limits, u64), Cause> {
        if self.queue.len() == self.limit_packets {
            return Err(Cause::Overflow);
        }
        let queued_bits: u64 = self.queue.iter().map(|l| l * 8).sum();
        let d = (queued_bits as u128 * 1_000_000_000 + self.bits_per_s as u128 / 2) / self.bits_per_s as u128;
        let d = d as u64;
        // "Larger than the calculated queuing delay .. will be queued."
        if let Some(mtq) = p.mtq
            && !(mtq > d || self.equal_is_in_time && mtq == d)
        {
            return Err(Cause::Mtq);
        }
        let mut left = p;
        if let Some(qtl) = p.qtl {
            // "Discarded if the updated QTL value is not positive."
            let updated = qtl as i64 - d as i64;
            if updated < 0 || updated == 0 && !self.equal_is_in_time {
                return Err(Cause::Qtl);
            }
            left.qtl = Some(updated as u64);
        }
        self.queue.push(len);
        Ok((left, d))
    }
    pub fn depart(&mut self) {
        if !self.queue.is_empty() {
            self.queue.remove(0);
        }
    }
}
