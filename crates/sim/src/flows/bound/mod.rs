//! The transports bound to the world: one file each, an `impl` of [`super::transport::Transport`].

pub mod rate;
pub mod stack;
pub mod tcp;
pub mod udp;
