//! Plain, slow, literal forms of published algorithms. They share no code with what they check.

pub mod ack_filter;
pub mod blue;
pub mod bounded;
pub mod cake;
pub mod cobalt;
pub mod codel;
pub mod droptail;
pub mod drr;
pub mod dualpi2;
pub mod early_discard;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod htb;
pub mod markers;
pub mod pi2;
pub mod pie;
pub mod red_floyd_jacobson;
pub mod red_linux;
pub mod red_ns2;
pub mod replay_window;
pub mod rio;
pub mod seawind;
pub mod sfb;
pub mod sfq;
pub mod tbf;

/// What an oracle says about an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    Admit,
    Mark,
    DropEarly,
    DropForced,
    DropFull,
}
