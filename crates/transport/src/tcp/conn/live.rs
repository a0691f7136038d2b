//! Parameters that a connection reads anew whenever it needs them, so that they may change while it lives. All others count
//! when a connection begins: what both ends agree on, and what law, detectors and timer are made from.

use super::{Connection, State};
use crate::tcp::TcpParams;
use std::sync::Arc;

macro_rules! live {
    ($($group:ident: $($key:ident)*;)*) => {
        /// Keys that may change while a connection lives.
        pub const KEYS: &[&str] = &[$($(stringify!($key)),*),*];

        impl TcpParams {
            /// Takes these over, and leaves the others as they are.
            pub fn adopt(&mut self, new: &TcpParams) {
                $($(self.$group.$key = new.$group.$key;)*)*
            }
        }
    };
}

live! {
    timers: rto_min rto_max restart_timer_on_retransmission retries_max timeout_threshold backoff_end;
    recovery: timeout_in_recovery retransmit_overdue sack_after_timeout limited_transmit;
    undo: spurious_response spurious_timer spurious_timer_step spurious_unlock;
    window: idle_restart max_burst_segments window_limit_segments window_moderation grow_when;
    host: nagle final_segment send_buffer;
    receiver: delayed_ack delayed_ack_timer ack_every_segments sack_blocks timestamp_echo;
}

impl Connection {
    /// It has been opened, by either end.
    pub fn has_begun(&self) -> bool {
        self.opened_at.is_some() || self.state != State::Closed
    }

    /// Other parameters: all of them before it begins, afterwards those that may change ([`KEYS`]). One that has not begun is made
    /// anew: whoever has given it habits and dice gives them again.
    pub fn retune(&mut self, new: &Arc<TcpParams>) {
        if !self.has_begun() {
            *self = Connection::new(new.clone(), self.peer, self.close_with_peer);
        } else {
            let mut own = (*self.params).clone();
            own.adopt(new);
            self.rx.retime(&own);
            self.params = Arc::new(own);
        }
    }
}
