//! Emulation: the queues and links of a scenario between real hosts, in real time.
//!
//! | module | holds |
//! |---|---|
//! | [`spec`] | what is emulated, as plain data |
//! | [`frame`] | IP headers: reading them, and changing ECN and DSCP |
//! | [`life`] | lifetimes in IP options: reading them, and writing back what is left |
//! | [`too_big`] | what a router does with packets that are too big for a link |
//! | [`network`] | stages and the event loop of the simulator around them, told the time; nothing in it waits |
//! | [`delivery`] | what leaves the network |
//! | [`hosts`] | the frames of packets, and the ways between hosts |
//! | [`journal`] | what was decided, packet by packet |
//! | [`tape`] | arrivals, recorded and played again |
//! | [`driver`] | the loop that joins a network with a clock and with ports |
//! | [`wait`] | how long to sleep and when to spin |
//! | [`live`] | the clock of the machine and TUN devices (Linux) |
//!
//! Only [`live`], [`tun`] and [`bench`] know of a machine. There is no transport in here: in emulation the kernels are the hosts.

mod acknowledgement;
#[cfg(target_os = "linux")]
pub mod bench;
pub mod change;
pub mod delivery;
pub mod driver;
pub mod flows;
pub mod frame;
pub mod host_port;
mod hosts;
pub mod journal;
pub mod life;
#[cfg(target_os = "linux")]
pub mod live;
pub mod network;
pub mod report;
#[cfg(target_os = "linux")]
pub mod run;
pub mod spec;
pub mod tape;
pub mod too_big;
#[cfg(target_os = "linux")]
pub mod tun;
#[cfg(target_os = "linux")]
pub mod wait;
