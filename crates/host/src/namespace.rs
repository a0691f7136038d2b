//! A network namespace for the kernel's side; it is gone with the value.

use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static MADE: AtomicU32 = AtomicU32::new(0);

/// A namespace with a name of its own.
pub struct Namespace {
    name: String,
}

/// Runs `ip` (iproute2); what it says is the error.
fn ip(words: &[&str]) -> io::Result<()> {
    let out = Command::new("ip").args(words).output()?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr).trim().to_string();
    Err(io::Error::other(format!("ip {}: {said}", words.join(" "))))
}

impl Namespace {
    /// Needs the privilege to make one (CAP_SYS_ADMIN).
    pub fn new() -> io::Result<Namespace> {
        let name = format!("crosswind-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &name])?;
        Ok(Namespace { name })
    }

    pub fn path(&self) -> String {
        format!("/run/netns/{}", self.name)
    }

    /// Gives a device an address and lets it run. `mtu` is in bytes. Its own queue never overflows.
    pub fn raise(&self, device: &str, address: &str, mtu: usize) -> io::Result<()> {
        ip(&["-n", &self.name, "address", "add", address, "dev", device])?;
        ip(&["-n", &self.name, "link", "set", device, "up", "mtu", &mtu.to_string(), "txqueuelen", "20000"])
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // Nothing can be done about one that stays.
        let _ = ip(&["netns", "delete", &self.name]);
    }
}
