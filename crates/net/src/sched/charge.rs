//! What a shaper charges for a packet, and in which unit its rates are meant.

use crosswind_base::{BitRate, ConfigError, Size};

/// The length that a packet is charged with.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    /// Bytes of link-layer headers, added to the length of the IP packet.
    pub overhead: Size,
    /// No packet is charged less.
    pub mpu: Size,
    /// Lengths are charged in whole multiples of this.
    pub cell: Size,
}

impl Charge {
    #[inline]
    pub fn of(&self, len: u32) -> u64 {
        let whole = (len as u64 + self.overhead.0).max(self.mpu.0);
        if self.cell.0 < 2 { whole } else { (whole / self.cell.0 * self.cell.0).max(1) }
    }
    pub fn check(&self) -> Result<(), ConfigError> {
        for (key, size) in [("overhead", self.overhead), ("mpu", self.mpu), ("cell", self.cell)] {
            if size.0 > 65_535 {
                return Err(ConfigError::new(key, format!("{} B", size.0), "at most 65535 B"));
            }
        }
        Ok(())
    }
}

/// One byte: nothing is rounded.
pub fn no_cell() -> Size {
    Size(1)
}

/// A rate whose kbit has this many bits: early versions of `tc` read 1 kbit as 1024 bit.
pub fn scaled(rate: BitRate, kbit: u32) -> BitRate {
    BitRate((rate.0 as u128 * kbit as u128 / 1000) as u64)
}

/// 1000 or 1024.
pub fn check_kbit(kbit: u32) -> Result<(), ConfigError> {
    if kbit == 1000 || kbit == 1024 {
        return Ok(());
    }
    Err(ConfigError::new("kbit", kbit.to_string(), "1000, or 1024 as early versions of tc had it"))
}

/// A bucket that can hold something.
pub fn check_bucket(key: &str, size: Size) -> Result<(), ConfigError> {
    if (1..=1_000_000_000_000).contains(&size.0) {
        return Ok(());
    }
    Err(ConfigError::new(key, format!("{} B", size.0), "a bucket from 1 B to 1 TB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_table_with_cells_of_eight_bytes_charges_less_than_the_frame() {
        let ethernet = Charge { overhead: Size(14), mpu: Size(0), cell: Size(8) };
        assert_eq!((ethernet.of(1500), ethernet.of(132), ethernet.of(1)), (1512, 144, 8));
        let exact = Charge { cell: no_cell(), ..ethernet };
        assert_eq!((exact.of(1500), exact.of(132)), (1514, 146));
        assert_eq!(Charge { overhead: Size(0), ..ethernet }.of(5), 1, "nothing is free of charge");
    }
}
