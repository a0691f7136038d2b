//! What the handshake does about ECN: who asks, what is agreed, and what the first segments tell of the path.

use super::super::ecn::feedback::Feedback;
use super::super::ecn::negotiation::{answer, conclude, heard, is_mangled, request, told};
use super::super::ecn::{Agreed, CodePoints, OptionRule};
use super::super::law::Controller;
use super::state::AckNow;
use super::wire::OPTION_MAX;
use super::{Connection, State};
use crate::tcp::facts::Trigger;
use crosswind_base::packet::{AccEcnOption, Ext};
use crosswind_base::{Ecn, Packet, TcpFlags};

/// SYN-ACKs that still ask; the option leaves with the first alone.
const ANSWERS_WITH_ACE: u32 = 2;

impl Connection {
    /// The flags, code point and option of a SYN or SYN-ACK.
    pub(super) fn ask_for_ecn(&mut self) -> (TcpFlags, Ecn, Option<AccEcnOption>) {
        let (p, agreed) = (&self.params, self.rx.feedback.agreed);
        if self.state != State::SynReceived {
            let ace = request(p, self.syn_retransmissions);
            let ecn = if ace == 0 { Ecn::NotEct } else { CodePoints::of_syn(p) };
            return (TcpFlags::SYN.with_ace(ace), ecn, None);
        }
        let flags = TcpFlags::SYN.with(TcpFlags::ACK);
        let tries = self.shaking.answers;
        self.shaking.answers += 1;
        match agreed {
            Agreed::Nothing => (flags, Ecn::NotEct, None),
            Agreed::Classic => (flags.with_ace(1), Ecn::NotEct, None),
            Agreed::Dctcp => (flags.with_ace(1), CodePoints::of_syn(p), None),
            Agreed::Accurate if tries >= ANSWERS_WITH_ACE => {
                self.shaking.is_spoilt = true;
                (flags, Ecn::NotEct, None)
            }
            Agreed::Accurate => {
                let option = Feedback::first_option(p.ecn.ecn_rules.option).filter(|_| tries == 0);
                (flags.with_ace(told(self.shaking.syn_arrived)), CodePoints::of_syn(p), option)
            }
        }
    }

    /// The peer's SYN or SYN-ACK: what is agreed. The first of them decides.
    pub(super) fn agree_on_ecn(&mut self, p: &Packet, ext: Option<&Ext>) {
        let (params, is_answer) = (&self.params, p.flags.has(TcpFlags::ACK));
        let agreed = match is_answer {
            true => conclude(params.ecn.mode, params.ecn.ecn_rules.request, p.flags.ace()),
            false => answer(params.ecn.mode, p.flags.ace(), p.ecn()).0,
        };
        self.shaking.syn_arrived = p.ecn();
        self.agreed.codepoints = CodePoints::of(agreed, params, self.policies.retransmission_ect);
        self.rx.feedback.begin(agreed, params.ecn.ecn_rules.option);
        let has_option = ext.is_some_and(|e| e.accecn.is_some());
        if agreed == Agreed::Accurate {
            let reserves = params.ecn.ecn_rules.option == OptionRule::Always && (has_option || !is_answer);
            self.agreed.option_room = if reserves { OPTION_MAX } else { 0 };
            if has_option {
                self.rx.feedback.hear_option();
            }
            if is_answer {
                self.hear_syn_ack(p);
            }
        }
        let params = self.params.clone();
        if let Some(tx) = self.tx.get_mut() {
            tx.ecn.begin(agreed, &params);
        }
    }

    /// What the SYN-ACK tells of the SYN.
    fn hear_syn_ack(&mut self, p: &Packet) {
        self.rx.feedback.on_syn_ack(p.ecn());
        let sent = if request(&self.params, self.syn_retransmissions) == 0 {
            Ecn::NotEct
        } else {
            CodePoints::of_syn(&self.params)
        };
        let Some(arrived) = heard(p.flags.ace()) else { return };
        self.shaking.syn_was_marked = arrived == Ecn::Ce;
        if is_mangled(sent, arrived, self.params.ecn.ecn_rules.path_test) {
            self.agreed.codepoints = CodePoints::NONE;
        }
    }

    /// The SYN came again. The latest is what the answer tells of.
    pub(super) fn hear_syn_again(&mut self, p: &Packet) {
        if self.rx.feedback.agreed == Agreed::Accurate {
            self.shaking.syn_arrived = p.ecn();
            self.shaking.is_spoilt |= p.flags.ace() == 0;
        }
    }

    /// The SYN-ACK came again.
    pub(super) fn hear_syn_ack_again(&mut self, p: &Packet) {
        self.rx.feedback.on_syn_ack(p.ecn());
    }

    /// The client has what it needs: a marked SYN costs a reduction.
    pub(super) fn conclude_ecn(&mut self) {
        if std::mem::take(&mut self.shaking.syn_was_marked) {
            self.reduce_for_handshake();
        }
        self.time_beacon();
    }

    /// The third segment of the handshake, at the server.
    pub(super) fn hear_third(&mut self, p: &Packet, ext: Option<&Ext>) {
        self.time_beacon();
        if self.rx.feedback.agreed != Agreed::Accurate {
            return;
        }
        if self.shaking.is_spoilt {
            self.agreed.codepoints = CodePoints::NONE;
        }
        let is_bare = p.payload == 0 && !p.flags.has(TcpFlags::FIN) && ext.is_none_or(|e| e.sack.is_empty());
        // The first segment with data is a count already.
        if !is_bare || p.flags.has(TcpFlags::SYN) {
            return;
        }
        self.shaking.is_third = true;
        let params = self.params.clone();
        let ace = p.flags.ace();
        if ace == 0 {
            self.agreed.codepoints = CodePoints::NONE;
            self.sender().ecn.is_deaf = true;
        }
        let Some(arrived) = heard(ace) else { return };
        if is_mangled(CodePoints::of_syn(&params), arrived, params.ecn.ecn_rules.path_test) {
            self.agreed.codepoints = CodePoints::NONE;
        }
        if arrived == Ecn::Ce {
            if let Some(c) = &mut self.sender().ecn.counting {
                c.count_handshake();
            }
            self.reduce_for_handshake();
        }
    }

    /// A SYN or SYN-ACK was marked: the window is answered for before it is used.
    fn reduce_for_handshake(&mut self) {
        let base = self.sender().law.cwnd();
        self.sender().law.reduce(Trigger::Echo, base);
    }

    fn time_beacon(&mut self) {
        if self.rx.feedback.counts_packets()
            && let Some(rtt) = self.tx.rtt(&self.params).srtt
        {
            self.rx.feedback.set_beacon(rtt);
        }
    }

    /// AccECN counts every packet, and hears of options in any.
    pub(super) fn on_counted(&mut self, p: &Packet, ext: Option<&Ext>) -> AckNow {
        let option = ext.and_then(|e| e.accecn);
        if option.is_some() {
            self.rx.feedback.hear_option();
        }
        let is_third = std::mem::take(&mut self.shaking.is_third);
        if let Some(tx) = self.tx.get_mut() {
            tx.ecn.hear(option, is_third);
        }
        if self.rx.feedback.count(p) { AckNow::Yes } else { AckNow::No }
    }
}
