//! What a run has to ask the machine: whether there is memory left.

use crosswind_base::ConfigError;

/// Packets below this number are no danger to any machine, and not worth a question to it.
const MANY_PACKETS: usize = 1 << 20;
/// What a run leaves to others.
const RESERVE_BYTES: u64 = 200 << 20;
/// What a packet takes once more when the lists that hold it grow: they double, in the pool and where it waits.
const GROWTH_BYTES: u64 = 256;

/// Whether a run with so many packets in its network should end before the machine has no memory left: queues that are
/// allowed to hold more than it has are part of no estimate.
pub fn is_short(packets: usize) -> bool {
    // Asking the machine takes longer than many a run.
    packets >= MANY_PACKETS && is_dangerous(packets, available_bytes())
}

fn is_dangerous(packets: usize, free_bytes: Option<u64>) -> bool {
    let needed = RESERVE_BYTES.saturating_add((packets as u64).saturating_mul(GROWTH_BYTES));
    packets >= MANY_PACKETS && free_bytes.is_some_and(|free| free < needed)
}

/// How many directed links are made before somebody looks whether the machine has memory for more.
const LINKS_A_TIME: usize = 1024;

/// Refuses to make more of `all` directed links when the machine is about to have no memory left: what queues hold of their own, such
/// as the buckets of CAKE, is part of no estimate.
pub fn room_for_more(made: usize, all: usize) -> Result<(), ConfigError> {
    if made % LINKS_A_TIME != LINKS_A_TIME - 1 { Ok(()) } else { links_fit(made, all, available_bytes()) }
}

fn links_fit(made: usize, all: usize, free_bytes: Option<u64>) -> Result<(), ConfigError> {
    if free_bytes.is_none_or(|free| free >= RESERVE_BYTES) {
        return Ok(());
    }
    let found = format!("no memory after {made} of {all} directed links (two of each link)");
    let hint = "fewer links, fewer workers, or queues that hold less of their own than CAKE";
    Err(ConfigError::new("link", found, "links and queues that fit into the memory that is free").hint(hint))
}

/// Memory that this machine can still give; `None` where it does not tell.
#[expect(clippy::disallowed_methods, reason = "whether a run fits is a question about the machine")]
pub fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_while_there_is_memory_and_then_refused_in_one_line() {
        assert!(links_fit(1024, 4000, Some(RESERVE_BYTES)).is_ok() && links_fit(1024, 4000, None).is_ok());
        let e = links_fit(1024, 4000, Some(RESERVE_BYTES - 1)).unwrap_err();
        assert_eq!(e.path, "link");
        let told = e.to_string();
        assert!(told.contains("1024 of 4000") && told.lines().count() == 1, "{told}");
    }

    #[test]
    fn only_a_full_network_on_a_machine_without_memory_ends_a_run() {
        let needed = RESERVE_BYTES + MANY_PACKETS as u64 * GROWTH_BYTES;
        assert!(is_dangerous(MANY_PACKETS, Some(needed - 1)));
        assert!(!is_dangerous(MANY_PACKETS, Some(needed)));
        assert!(is_dangerous(2 * MANY_PACKETS, Some(needed)), "what there is has to grow");
        assert!(!is_dangerous(MANY_PACKETS - 1, Some(0)) && !is_dangerous(MANY_PACKETS, None));
    }
}
