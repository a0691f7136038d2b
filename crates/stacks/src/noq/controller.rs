//! A window law of Crosswind as a congestion controller of noq. That of quinn is a file of its own, for an author gets one of the two
//! whole (`crosswind port`), and the traits of the stacks differ.

use super::law::{LawFactory, Ported};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

impl ControllerFactory for LawFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Ported::new(&self.law, self.initial_window, current_mtu, now))
    }
}

impl Controller for Ported {
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _number: u64,
        app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        self.acked(sent, bytes, app_limited);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.frame_ends(now, in_flight, app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost: u64,
    ) {
        self.congested(now, sent, is_persistent, is_ecn, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.resized(new_mtu);
    }

    fn window(&self) -> u64 {
        self.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.threshold();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
