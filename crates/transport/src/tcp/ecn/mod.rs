//! Explicit congestion notification as an axis of its own: what is agreed, which packets may be marked, what the receiver tells of
//! marks, and what the sender makes of it.
//!
//! | file | the question that it answers |
//! |---|---|
//! | [`negotiation`] | what do SYN, SYN-ACK and the third segment agree on? |
//! | [`feedback`] | what does the receiver say of marks, and when? |
//! | [`counting`] | how many packets does an ACK of AccECN report? |
//! | [`super::signal::ecn`] | is a report answered now? |

pub mod counting;
#[cfg(test)]
mod counting_oracle;
pub mod feedback;
pub mod negotiation;
pub mod rules;

use super::params::TcpParams;
use super::policies::RetransmissionEct;
use crosswind_base::Ecn;
pub use rules::{Agreed, Capable, Codepoint, EcnMode, EcnRules, Marks, OptionRule, PathTest, Request, Thinning};

/// The code points of a connection's packets, by what they are. Settled once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CodePoints {
    /// New data.
    pub data: Ecn,
    /// Data retransmitted.
    pub again: Ecn,
    /// Pure ACKs, FIN, probes of a window.
    pub control: Ecn,
}

impl CodePoints {
    pub const NONE: CodePoints = CodePoints { data: Ecn::NotEct, again: Ecn::NotEct, control: Ecn::NotEct };

    /// After the handshake. L4S is only for those who hear of every mark (RFC 9331 section 4.2).
    pub fn of(agreed: Agreed, p: &TcpParams, again: RetransmissionEct) -> CodePoints {
        let ect = match (agreed, p.ecn.codepoint) {
            (Agreed::Nothing, _) => return CodePoints::NONE,
            (Agreed::Classic, Codepoint::Ect1) if p.ecn.mode == EcnMode::Accurate => return CodePoints::NONE,
            (_, Codepoint::Ect0) => Ecn::Ect0,
            (_, Codepoint::Ect1) => Ecn::Ect1,
        };
        let most = match (p.ecn.ecn_rules.capable, agreed) {
            (Capable::Data, _) | (Capable::Mode, Agreed::Classic) => false,
            _ if agreed == Agreed::Classic => false,
            _ => true,
        };
        let control = if most { ect } else { Ecn::NotEct };
        let again = if again == RetransmissionEct::AsData { ect } else { control };
        CodePoints { data: ect, again, control }
    }

    /// Of SYN and SYN-ACK.
    pub fn of_syn(p: &TcpParams) -> Ecn {
        let all = match (p.ecn.ecn_rules.capable, p.ecn.mode) {
            (_, EcnMode::Off | EcnMode::Classic) => false,
            (Capable::All, _) | (Capable::Mode, EcnMode::Dctcp) => true,
            _ => false,
        };
        match (all, p.ecn.codepoint) {
            (false, _) => Ecn::NotEct,
            (true, Codepoint::Ect0) => Ecn::Ect0,
            (true, Codepoint::Ect1) => Ecn::Ect1,
        }
    }
}
