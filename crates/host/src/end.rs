//! An own end: Crosswind's TCP in real bytes, and its application.

use crate::transfer::Transfer;
use crosswind_base::{Ecn, Time};
use crosswind_stacks::tcp::OwnTcp;
use crosswind_transport::stack::{Cut, Stack, State};
use std::collections::VecDeque;

/// How often application and stack may answer each other at one instant.
const ROUNDS_MAX: u32 = 10_000;

pub struct End {
    pub stack: OwnTcp,
    pub transfer: Transfer,
    pub cuts: Vec<Cut>,
}

impl End {
    pub fn new(stack: OwnTcp, transfer: Transfer) -> End {
        End { stack, transfer, cuts: Vec::new() }
    }

    /// It opens its connection, if it is the one that does. Whatever leaves is put into `out`, here and below.
    pub fn open(&mut self, now: Time, out: &mut VecDeque<Vec<u8>>) {
        self.stack.open(now);
        self.drive(now, out);
    }

    pub fn on_frame(&mut self, now: Time, frame: &[u8], out: &mut VecDeque<Vec<u8>>) {
        // The second byte of the header ends in the ECN field.
        self.stack.on_datagram(now, frame.to_vec(), Ecn::from_bits(frame[1]));
        self.drive(now, out);
    }

    pub fn on_timer(&mut self, now: Time, out: &mut VecDeque<Vec<u8>>) {
        self.stack.on_timer(now);
        self.drive(now, out);
    }

    /// When it wants to be woken.
    pub fn next_timer(&self) -> Time {
        self.stack.next_timer().unwrap_or(Time::NEVER)
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.stack.state(), State::Failed(_))
    }

    /// Application and stack have their turns until neither has anything to do.
    fn drive(&mut self, now: Time, out: &mut VecDeque<Vec<u8>>) {
        for _ in 0..ROUNDS_MAX {
            let did = self.transfer.run(&mut self.stack, now);
            let before = out.len();
            self.stack.transmit(now, &mut |bytes, _| out.push_back(bytes.to_vec()));
            if !did && out.len() == before {
                break;
            }
        }
        let cuts = &mut self.cuts;
        self.stack.cuts(&mut |c| cuts.push(c));
    }
}
