//! Schedulers and shapers: disciplines that hold other disciplines.
//!
//! A classful discipline classifies an arriving packet ([`classify`]), hands it to the discipline of its class
//! ([`children`]), and decides, when the link asks, which class is served. A link asks only when it is free, so its
//! back-pressure reaches every class; a discipline that could send later says when through `next_wake`.

pub mod bucket;
pub mod charge;
pub mod children;
pub mod classify;
pub mod drr;
pub mod htb;
pub mod prio;
pub mod tbf;
