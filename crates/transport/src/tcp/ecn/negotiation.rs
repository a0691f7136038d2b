//! # ECN negotiation
//!
//! **Source**: rfc9768 section 3.1 (tables 2 and 3) and 3.2.2.1 (the third segment); rfc3168 section 6.1.1; linux-6.18 `tcp_ecn.h`.
//!
//! **Idea**: AE, CWR and ECE of SYN and SYN-ACK, read as one number ACE, say what each end can. A SYN with 7 asks for AccECN, with 3 for
//! classic ECN; the SYN-ACK's number says what was agreed and, for AccECN, in which code point the SYN arrived. So does the client's
//! first pure ACK for the SYN-ACK. What is agreed never changes afterwards. A SYN that stays unanswered is sent once more with the same
//! request, then without one.
//!
//! | parameter | unit | default | origin of the default |
//! |---|---|---|---|
//! | `ecn` | - | `off` | per scenario: `off`, `classic`, `dctcp`, `accurate` |
//! | `ecn_rules.request` | - | `mode` | ours; `classic` and `nothing` are `net.ipv4.tcp_ecn` 4 and 5 of Linux |
//! | `codepoint` | - | `ect0` | rfc3168 section 5; `ect1` is rfc9331 |
//!
//! **Deviations**: 1. A classic server answers only a SYN with 3 or 7, whatever the lowest bits of the byte above. 2. Two SYNs of one
//! handshake that ask for different things do not reset the connection; the first counts, and a server that has seen both ways sends
//! no ECT.
//!
//! **Checked by**: unit tests (both tables, row by row), tapes `accecn_*`.

use super::{Agreed, EcnMode, PathTest, Request};
use crate::tcp::params::TcpParams;
use crosswind_base::Ecn;

/// What a SYN asks for, as a number in its flags; `tries` before it have not been answered.
pub fn request(p: &TcpParams, tries: u32) -> u8 {
    match (p.ecn.mode, p.ecn.ecn_rules.request) {
        (EcnMode::Off, _) | (_, Request::Nothing) => 0,
        (EcnMode::Accurate, Request::Mode) => {
            if tries < 2 {
                7
            } else {
                0
            }
        }
        _ => 3,
    }
}

/// The number that tells the peer in which code point its packet arrived (RFC 9768 table 3).
pub fn told(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 2,
        Ecn::Ect1 => 3,
        Ecn::Ect0 => 4,
        Ecn::Ce => 6,
    }
}

/// The code point that such a number tells of.
pub fn heard(ace: u8) -> Option<Ecn> {
    match ace {
        2 => Some(Ecn::NotEct),
        3 => Some(Ecn::Ect1),
        4 => Some(Ecn::Ect0),
        6 => Some(Ecn::Ce),
        _ => None,
    }
}

/// The server: what its SYN-ACK says to a SYN, and what is agreed with that.
pub fn answer(own: EcnMode, syn_ace: u8, arrived: Ecn) -> (Agreed, u8) {
    match (own, syn_ace) {
        (EcnMode::Off, _) | (_, 0) => (Agreed::Nothing, 0),
        (EcnMode::Accurate, 3) => (Agreed::Classic, 1),
        // Numbers that nobody sends today are taken for a request by those who come later.
        (EcnMode::Accurate, _) => (Agreed::Accurate, told(arrived)),
        (EcnMode::Classic, 3 | 7) => (Agreed::Classic, 1),
        (EcnMode::Dctcp, 3 | 7) => (Agreed::Dctcp, 1),
        _ => (Agreed::Nothing, 0),
    }
}

/// The client: what a SYN-ACK has agreed to.
pub fn conclude(own: EcnMode, request: Request, synack_ace: u8) -> Agreed {
    match (own, request, synack_ace) {
        (EcnMode::Off, ..) | (_, Request::Nothing, _) | (.., 0 | 7) => Agreed::Nothing,
        (EcnMode::Accurate, Request::Mode, 1) => Agreed::Classic,
        (EcnMode::Accurate, Request::Mode, _) => Agreed::Accurate,
        (EcnMode::Dctcp, _, 1 | 5) => Agreed::Dctcp,
        (_, _, 1 | 5) => Agreed::Classic,
        _ => Agreed::Nothing,
    }
}

/// Whether no router may have changed one code point into the other on the way (RFC 9768 section 3.2.2.3).
pub fn is_mangled(sent: Ecn, arrived: Ecn, rule: PathTest) -> bool {
    let broken = match (sent, arrived) {
        (a, b) if a == b => false,
        (Ecn::NotEct, _) | (_, Ecn::NotEct) | (Ecn::Ce, _) => true,
        _ => false,
    };
    broken && rule == PathTest::On
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ecn::{Ce, Ect0, Ect1, NotEct};

    #[test]
    fn a_server_answers_as_table_2_of_rfc_9768_has_it() {
        let can = [EcnMode::Accurate, EcnMode::Classic, EcnMode::Off];
        let answers = |ace, arrived| can.map(|own| answer(own, ace, arrived));
        for (arrived, ace) in [(NotEct, 2), (Ect1, 3), (Ect0, 4), (Ce, 6)] {
            let want = [(Agreed::Accurate, ace), (Agreed::Classic, 1), (Agreed::Nothing, 0)];
            assert_eq!(answers(7, arrived), want);
            for later in [1, 2, 4, 5, 6] {
                assert_eq!(answer(EcnMode::Accurate, later, arrived), want[0], "SYN {later}");
            }
        }
        assert_eq!(answers(3, NotEct), [(Agreed::Classic, 1), (Agreed::Classic, 1), (Agreed::Nothing, 0)]);
        assert_eq!(answers(0, Ect0), [(Agreed::Nothing, 0); 3]);
        assert_eq!(answer(EcnMode::Dctcp, 3, Ect0), (Agreed::Dctcp, 1));
    }

    #[test]
    fn a_client_concludes_as_table_2_of_rfc_9768_has_it() {
        use Agreed::{Accurate, Classic, Nothing};
        let all = |own, request| [0, 1, 2, 3, 4, 5, 6, 7].map(|ace| conclude(own, request, ace));
        let accurate = [Nothing, Classic, Accurate, Accurate, Accurate, Accurate, Accurate, Nothing];
        assert_eq!(all(EcnMode::Accurate, Request::Mode), accurate);
        let classic = [Nothing, Classic, Nothing, Nothing, Nothing, Classic, Nothing, Nothing];
        assert_eq!(all(EcnMode::Accurate, Request::Classic), classic);
        assert_eq!(all(EcnMode::Classic, Request::Mode), classic);
        assert_eq!(all(EcnMode::Accurate, Request::Nothing), [Nothing; 8]);
        assert_eq!(all(EcnMode::Off, Request::Mode), [Nothing; 8]);
        assert_eq!(conclude(EcnMode::Dctcp, Request::Mode, 1), Agreed::Dctcp);
    }

    #[test]
    fn what_is_told_of_a_packet_is_heard_as_it_was() {
        for arrived in [NotEct, Ect0, Ect1, Ce] {
            assert_eq!(heard(told(arrived)), Some(arrived));
        }
        assert_eq!([0, 1, 5, 7].map(heard), [None; 4]);
    }

    #[test]
    fn a_router_may_mark_and_nothing_else() {
        for (sent, arrived) in [(Ect0, Ce), (Ect1, Ce), (Ect0, Ect1), (Ect1, Ect0), (NotEct, NotEct), (Ce, Ce)] {
            assert!(!is_mangled(sent, arrived, PathTest::On), "{sent:?} {arrived:?}");
        }
        for (sent, arrived) in [(NotEct, Ect0), (NotEct, Ce), (Ect0, NotEct), (Ect1, NotEct), (Ce, Ect0)] {
            assert!(is_mangled(sent, arrived, PathTest::On) && !is_mangled(sent, arrived, PathTest::Off));
        }
    }
}
