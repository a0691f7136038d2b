//! Combinations of TCP parameters that make no sense.

use super::*;
use crate::tcp::{conn, law};
use crosswind_base::ConfigError;

impl TcpParams {
    /// Refuses combinations that make no sense. `path` is where the parameters stand in the scenario.
    pub fn check(&self, path: &str) -> Result<(), ConfigError> {
        let at = |key: &str| format!("{path}.{key}");
        let TcpParams { connection, window, controller, recovery, timers, undo, host, receiver, .. } = self;
        if !(1..=65_000).contains(&connection.mss.0) {
            return Err(ConfigError::new(at("mss"), format!("{} B", connection.mss.0), "a size from 1 B to 65000 B"));
        }
        if !(1..=10_000).contains(&window.initial_window_segments) {
            let found = window.initial_window_segments.to_string();
            return Err(ConfigError::new(at("initial_window_segments"), found, "1 to 10000 segments"));
        }
        if recovery.dupthresh == 0 || receiver.ack_every_segments == 0 {
            let key = if recovery.dupthresh == 0 { "dupthresh" } else { "ack_every_segments" };
            return Err(ConfigError::new(at(key), "0", "a number of at least 1"));
        }
        if timers.rto_min > timers.rto_max || timers.rto_initial > timers.rto_max || timers.rto_initial.0 == 0 {
            return Err(ConfigError::new(
                at("rto_max"),
                format!("{:?}", timers.rto_max),
                "a timeout with 0 < rto_initial and rto_min, rto_initial <= rto_max",
            ));
        }
        if receiver.receive_buffer.0 < connection.mss.0 || host.send_buffer.0 < connection.mss.0 {
            let receive = receiver.receive_buffer.0 < connection.mss.0;
            let (key, size) =
                if receive { ("receive_buffer", receiver.receive_buffer) } else { ("send_buffer", host.send_buffer) };
            let expected = format!("at least one segment (mss = {} B)", connection.mss.0);
            return Err(ConfigError::new(at(key), format!("{} B", size.0), expected));
        }
        if let Some(m) = connection.mss_option.filter(|m| !(64..=65_535).contains(&m.0)) {
            return Err(ConfigError::new(at("mss_option"), format!("{} B", m.0), "a size from 64 B to 65535 B"));
        }
        if host.pacing == Pacing::Never && host.pacing_limit.is_some() {
            return Err(ConfigError::new(at("pacing_limit"), "a limit where `pacing = \"never\"`", "one of the two"));
        }
        connection.keepalive.check().map_err(|e| e.under(&at("keepalive")))?;
        law::check(self, &at)?;
        recovery.check(&at)?;
        controller.early.check(&at)?;
        host.host_queue.check(&at)?;
        receiver.ack_habit.check().map_err(|e| e.under(&at("ack_habit")))?;
        if receiver.receive_window == ReceiveWindow::Growing {
            conn::window::check(self, &at)?;
        }
        if receiver.receive_buffer.0 > 1 << 30 {
            return Err(ConfigError::new(
                at("receive_buffer"),
                format!("{} B", receiver.receive_buffer.0),
                "at most 1 GiB (RFC 7323 section 2.3)",
            ));
        }
        if recovery.detection.needs_sack() && !connection.sack.on() {
            return Err(ConfigError::new(at("recovery"), "sack recovery with `sack = \"off\"`", "sack = \"on\"")
                .hint("use recovery = \"newreno\" or switch sack on"));
        }
        // 40 bytes of options: two for the kind and length, eight per block (RFC 2018 section 3).
        if connection.sack.on() && !(1..=4).contains(&receiver.sack_blocks) {
            return Err(ConfigError::new(at("sack_blocks"), receiver.sack_blocks.to_string(), "1 to 4 blocks"));
        }
        if matches!(undo.frto, Frto::Sack | Frto::AnyOriginal) && !connection.sack.on() {
            return Err(ConfigError::new(at("frto"), "\"sack\" with `sack = \"off\"`", "sack = \"on\", or \"basic\""));
        }
        self.check_spurious(&at)?;
        if connection.timestamps.on() && connection.timestamp_tick.0 == 0 {
            return Err(ConfigError::new(at("timestamp_tick"), "0", "a positive tick"));
        }
        Ok(())
    }

    fn check_spurious(&self, at: &dyn Fn(&str) -> String) -> Result<(), ConfigError> {
        let TcpParams { connection, recovery, timers, undo, sharing, .. } = self;
        let needs = |key: &str, found: &str, expected: &str| Err(ConfigError::new(at(key), found, expected));
        if undo.eifel.on() && !connection.timestamps.on() {
            return needs("eifel", "\"on\" with `timestamps = \"off\"`", "timestamps = \"on\"");
        }
        if undo.eifel.on() && undo.frto != Frto::Off {
            return needs(
                "eifel",
                "\"on\" beside `frto`",
                "one detector of spurious timeouts: eifel = \"off\" or frto = \"off\"",
            );
        }
        if recovery.tail_probe == TailProbe::On && !connection.sack.on() {
            return needs("tail_probe", "\"on\" with `sack = \"off\"`", "sack = \"on\"");
        }
        if undo.dsack.on() && !connection.sack.on() {
            return needs("dsack", "\"on\" with `sack = \"off\"`", "sack = \"on\"");
        }
        for (key, rule) in [("recovery_undo", undo.recovery_undo), ("timeout_undo", undo.timeout_undo)] {
            if rule == Undo::Dsack && !undo.dsack.on() {
                return needs(key, "\"dsack\" with `dsack = \"off\"`", "dsack = \"on\"");
            }
            if rule == Undo::Timestamps && !connection.timestamps.on() {
                return needs(key, "\"timestamps\" with `timestamps = \"off\"`", "timestamps = \"on\"");
            }
        }
        if sharing.share_rtt.on() && !timers.rto.hands_on_state() {
            let found = "\"on\" with another timer than that of Linux 2.4, the only one that hands its state on";
            return needs("share_rtt", found, "rto = \"linux-2.4\", or share_rtt = \"off\"");
        }
        if recovery.dupacks_after_timeout == DuplicatesRule::TimestampHeuristic && !connection.timestamps.on() {
            let found = "\"timestamp-heuristic\" with `timestamps = \"off\"`";
            return needs("dupacks_after_timeout", found, "timestamps = \"on\", or \"ack-heuristic\"");
        }
        let n = &recovery.newreno;
        if n.partial_segments == 0 || n.heuristic_segments == 0 {
            let key = if n.heuristic_segments == 0 { "heuristic_segments" } else { "partial_segments" };
            return needs(&format!("newreno.{key}"), "0", "a number of at least 1");
        }
        Ok(())
    }
}
