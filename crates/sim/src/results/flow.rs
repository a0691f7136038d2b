//! The rows of flows, and of pages and their objects.

use super::ends::{Ends, Other, fetch, rate_bps};
use super::outcome::FlowOutcome;
use super::row::{Row, StageRow, quantiles};
use crate::flows::workload::page::Session;
use crate::flows::{App, Endpoint};
use crate::scenario::WorkloadParams;
use crate::world::World;
use crosswind_base::{Dur, Histogram, Time};
use crosswind_record::{Table, Tables};
use crosswind_transport::tcp::conn::State;
use crosswind_transport::udp::Receiver;

pub(super) fn flow_row(w: &World<'_>, flow: usize, end: Time, t: &mut Table) {
    let plan = &w.plan.flows[flow];
    let ends = Ends::of(w, flow);
    let (tx, rx) = (&w.ends[2 * flow], &w.ends[2 * flow + 1]);
    let (open, close) = (ends.open(), ends.close());
    let elapsed = open.and_then(|o| ends.closed().map(|c| c.since(o)));
    let active = match &ends {
        // Of datagrams that leave as they are made, bursts alone count.
        Ends::Other(Endpoint { app: App::Source(s), conn, .. }, _) if conn.name() == "udp" => Some(s.span()),
        _ => open.map(|o| close.unwrap_or(end).since(o)),
    };
    let delivered = w.ends[2 * flow + 1].delivered();
    let mut row = Row(t);
    row.int("flow", flow as u64).text("name", &plan.name).text("group", &w.plan.group(plan).name);
    row.time("open_ns", open).time("close_ns", close).span("elapsed_ns", elapsed);
    row.text("outcome", FlowOutcome::of(w, flow).text())
        .text("protocol", ends.transports()[0].name())
        .int("size_bytes", delivered)
        .int("wire_size_bytes", ends.wire_size())
        .float("goodput_bps", rate_bps(delivered, active))
        .float("throughput_bps", rate_bps(rx.arrivals().bytes, active))
        .int("sent_packets", tx.port().sent_packets)
        .int("sent_bytes", tx.port().sent_bytes)
        .int("received_packets", rx.arrivals().packets)
        .int("received_bytes", rx.arrivals().bytes);
    let l = w.losses.flows[flow];
    row.int("drops_packets", l.drops_packets).int("lost_packets", l.lost_packets).int("marks_packets", l.marks_packets);
    if matches!(w.plan.group(plan).workload, WorkloadParams::Ping(_)) {
        row.int("reply_packets", tx.arrivals().packets)
            .float("reply_delay_p50_ns", tx.arrivals().delay_ns.quantile(0.5));
    }
    if let Some(f) = &rx.arrivals().freshness {
        row.int("valid_packets", f.valid_packets)
            .int("stale_packets", f.stale_packets)
            .int("stale_bytes", f.stale_bytes)
            .int("cut_packets", f.cut_packets);
    }
    quantiles(&mut row, "delay", &rx.arrivals().delay_ns);
    quantiles(&mut row, "queue_delay", &rx.arrivals().queue_delay_ns());
    row.float("delay_p25_ns", rx.arrivals().delay_ns.quantile(0.25))
        .float("delay_p75_ns", rx.arrivals().delay_ns.quantile(0.75))
        .float("jitter_mean_ns", rx.arrivals().jitter.mean_ns())
        .float("simultaneous_Bps", w.simultaneous.rate_of(flow));
    match ends {
        Ends::Tcp(tx, rx) => {
            connection(&mut row, tx, rx);
            row.int("unnecessary_retransmissions_packets", unnecessary_retransmissions(w, flow, (tx, rx)));
        }
        Ends::Other(tx, rx) => {
            other(&mut row, (w, flow), tx, rx);
        }
    }
    if !w.losses.discards.is_empty() {
        let [local, budget] = w.losses.discards.get(flow).copied().unwrap_or_default();
        row.int("drops_local_delay_packets", local).int("drops_delay_budget_packets", budget);
    }
    row.end();
}

/// Of a flow over anything but TCP.
fn other(row: &mut Row<'_>, (w, flow): (&World<'_>, usize), tx: &Other, rx: &Other) {
    if let Some(data) = rx.arrivals.data() {
        datagrams(row, tx, data);
        // What is on its way at the end is not lost; and what is lost is sent again, where all of it arrives in order.
        let is_settled = tx.conn.closed_at().is_some() && w.on_their_way(flow) == 0;
        let known = data.highest().map_or(0, |h| h + 1);
        let goes_on = rx.conn.delivered().is_some() || !is_settled;
        loss_runs(row, &data.loss_runs(if goes_on { known } else { tx.port.sent_packets }));
    }
    if let (App::Echo, Some(heard)) = (&rx.app, &tx.arrivals.heard) {
        quantiles(row, "rtt", &heard.rtt_ns);
    }
    for (name, n) in LATE_COLUMNS.iter().zip(rx.arrivals.late()) {
        row.int(name, *n);
    }
    if let Some(why) = tx.conn.failure().or_else(|| rx.conn.failure()) {
        row.text("failure", why);
    }
    tx.conn.report(&mut StageRow(row));
    rx.conn.report(&mut StageRow(row));
}

fn connection(row: &mut Row<'_>, tx: &Endpoint, rx: &Endpoint) {
    let s = tx.conn.tx.stats();
    let opened = [tx, rx].into_iter().filter_map(|e| e.conn.opened_at.get()).min();
    let established = tx.conn.established_at.get();
    let sender = tx.conn.tx.get().filter(|_| s.segments > 0);
    let transmit = sender.and_then(|x| established.map(|e| x.last_sent().since(e)));
    row.span("handshake_ns", established.and_then(|e| opened.map(|o| e.since(o))))
        .span("transmit_ns", transmit)
        .int("duplicate_acks", u64::from(s.duplicates.acks))
        .int("triple_duplicate_acks", u64::from(s.duplicates.triples))
        .int("retransmitted_packets", s.retransmitted_segments)
        .int("retransmitted_bytes", s.retransmitted_bytes)
        .int("timeouts", s.timeouts)
        .int("spurious_timeouts", s.spurious_timeouts)
        .int("avoidable_timeouts", s.avoidable_timeouts)
        .int("spurious_detected", s.spurious_detected)
        .int("genuine_detected", s.genuine_detected)
        .int("spurious_episodes", s.spurious_episodes)
        .int("genuine_episodes", s.genuine_episodes)
        .int("syn_timeouts", u64::from(tx.conn.syn_retransmissions + rx.conn.syn_retransmissions))
        .int("syn_spurious_timeouts", u64::from(tx.conn.syn_spurious + rx.conn.syn_spurious))
        .int("fast_recoveries", s.fast_recoveries)
        .int("ecn_reductions", s.ecn_reductions)
        .int("window_probes", s.window_probes)
        .time("first_congestion_ns", s.first_loss_at.get())
        .time("last_timeout_ns", s.last_timeout_at.get())
        .int("out_of_order_packets", rx.conn.rx.stats.out_of_order_segments);
    if tx.conn.params().controller.early.is_on() {
        row.int("early_reductions", s.early_reductions);
    }
    quantiles(row, "rtt", &s.rtt_ns);
    let window = tx.conn.window();
    row.float("cwnd_max_bytes", s.cwnd_max_bytes)
        .float("cwnd_bytes", window.cwnd())
        .float("ssthresh_bytes", window.ssthresh())
        .int("ssthresh_initial_bytes", tx.conn.ssthresh_initial);
}

/// Retransmissions of data of which an earlier copy arrived. Those still on their way when the connection is closed are among
/// them: all data had arrived.
fn unnecessary_retransmissions(w: &World<'_>, flow: usize, (tx, rx): (&Endpoint, &Endpoint)) -> u64 {
    let known = rx.arrivals.retransmissions + w.losses.flows[flow].retransmissions;
    let on_their_way = tx.conn.tx.stats().retransmitted_segments.saturating_sub(known);
    rx.arrivals.unnecessary_retransmissions + if tx.conn.state == State::Done { on_their_way } else { 0 }
}

fn datagrams(row: &mut Row<'_>, tx: &Other, rx: &Receiver) {
    row.int("out_of_order_packets", rx.out_of_order_packets);
    let v = &rx.variation_ns;
    let pairs = match &tx.app {
        App::Source(s) if tx.conn.name() == "udp" => s.pairs(),
        _ => tx.port.sent_packets.saturating_sub(1),
    };
    let (min, max) = v.range().map_or((f64::NAN, f64::NAN), |(a, b)| (a as f64, b as f64));
    row.float("ipdv_min_ns", min)
        .float("ipdv_p25_ns", v.quantile(0.25))
        .float("ipdv_p50_ns", v.quantile(0.5))
        .float("ipdv_p75_ns", v.quantile(0.75))
        .float("ipdv_max_ns", max)
        .int("ipdv_undefined_packets", pairs.saturating_sub(v.count()))
        .float("ipdv_over_20ms_ratio", share(rx.variations_over_mark, v.count()));
    for (name, n) in DELAY_COLUMNS.iter().zip(rx.delays_over_marks) {
        row.float(name, share(n, rx.packets));
    }
}

fn loss_runs(row: &mut Row<'_>, runs: &Histogram) {
    let longest = if runs.count() > 0 { runs.max() } else { 0 };
    row.int("loss_runs", runs.count())
        .float("loss_run_mean_packets", runs.mean())
        .float("loss_run_p50_packets", runs.quantile(0.5))
        .int("loss_run_max_packets", longest);
}

const LATE_COLUMNS: [&str; 4] = ["late_1_packets", "late_2_packets", "late_3_packets", "late_4_packets"];
const DELAY_COLUMNS: [&str; 4] =
    ["delay_over_150ms_ratio", "delay_over_250ms_ratio", "delay_over_400ms_ratio", "delay_over_500ms_ratio"];

fn share(part: u64, of: u64) -> f64 {
    if of == 0 { f64::NAN } else { part as f64 / of as f64 }
}

/// The tables `page` and `object`.
pub(super) fn pages(w: &World<'_>, tables: &mut Tables) {
    for page in &w.pages {
        page_row(w, page, tables.table("page"));
        for flow in page.flows() {
            object_row(w, flow, tables.table("object"));
        }
    }
}

fn page_row(w: &World<'_>, page: &Session, t: &mut Table) {
    let first = &w.plan.flows[page.first_flow as usize];
    let open = Ends::of(w, page.first_flow as usize).open();
    let mut done = Some(Time::ZERO);
    let (mut size, mut simultaneous) = (0, 0.0);
    let (mut drops, mut lost, mut marks) = (0, 0, 0);
    let (mut timeouts, mut spurious, mut avoidable, mut unnecessary) = (0, 0, 0, 0);
    for flow in page.flows() {
        let Some(f) = fetch(w, flow) else { continue };
        done = done.and_then(|d| f.done_at.map(|at| d.max(at)));
        size += w.ends[2 * flow + 1].delivered();
        simultaneous += w.simultaneous.rate_of(flow);
        let l = w.losses.flows[flow];
        (drops, lost, marks) = (drops + l.drops_packets, lost + l.lost_packets, marks + l.marks_packets);
        let Ends::Tcp(tx, rx) = Ends::of(w, flow) else { continue };
        for end in [tx, rx] {
            let s = end.conn.tx.stats();
            timeouts += s.timeouts + end.conn.syn_retransmissions;
            spurious += s.spurious_timeouts + end.conn.syn_spurious;
            avoidable += s.avoidable_timeouts + end.conn.syn_spurious;
        }
        unnecessary += unnecessary_retransmissions(w, flow, (tx, rx)) + tx.arrivals.unnecessary_retransmissions;
    }
    let response = done.and_then(|d| open.map(|o| d.since(o)));
    Row(t)
        .text("name", first.member())
        .text("group", &w.plan.group(first).name)
        .time("open_ns", open)
        .time("done_ns", done)
        .span("response_ns", response)
        .text("outcome", FlowOutcome::of_page(w, page.flows()).text())
        .int("size_bytes", size)
        .int("drops_packets", drops)
        .int("lost_packets", lost)
        .int("marks_packets", marks)
        .int("timeouts", timeouts)
        .int("spurious_timeouts", spurious)
        .int("avoidable_timeouts", avoidable)
        .int("unnecessary_retransmissions_packets", unnecessary)
        .float("simultaneous_Bps", simultaneous)
        .end();
}

fn object_row(w: &World<'_>, flow: usize, t: &mut Table) {
    let plan = &w.plan.flows[flow];
    let Some(f) = fetch(w, flow) else { return };
    let open = Ends::of(w, flow).open();
    let response = f.done_at.and_then(|d| open.map(|o| d.since(o)));
    Row(t)
        .int("flow", flow as u64)
        .text("name", &plan.name)
        .text("page", plan.member())
        .int("object", u64::from(plan.connection))
        .time("open_ns", open)
        .time("first_byte_ns", f.first_at)
        .time("done_ns", f.done_at)
        .span("response_ns", response)
        .text("outcome", FlowOutcome::of(w, flow).text())
        .int("size_bytes", w.ends[2 * flow + 1].delivered())
        .end();
}

/// What the whole run gave: from the first packet of any flow to the last, and how evenly.
pub(super) struct Whole {
    pub elapsed: Option<Dur>,
    pub overall_bytes_per_s: f64,
    pub simultaneous_jain: f64,
}

pub(super) fn whole(w: &World<'_>) -> Whole {
    let flows = w.plan.flows.len();
    let ends = || (0..flows).map(|f| Ends::of(w, f));
    let first = ends().filter_map(|e| e.open()).min();
    let last = ends().map(|e| e.closed()).try_fold(Time::ZERO, |last, close| close.map(|c| c.max(last)));
    let elapsed = first.and_then(|a| last.map(|b| b.since(a)));
    let bytes: u64 = ends().map(|e| e.wire_size()).sum();
    let mut shares: Vec<f64> = Vec::new();
    for (flow, connections) in w.plan.generators().iter().enumerate() {
        if *connections > 0 {
            let rates = (flow..flow + *connections as usize).map(|f| w.simultaneous.rate_of(f));
            shares.push(rates.sum());
        }
    }
    let (sum, squares): (f64, f64) = shares.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    Whole {
        elapsed,
        overall_bytes_per_s: rate_bps(bytes, elapsed) / 8.0,
        simultaneous_jain: sum * sum / (shares.len() as f64 * squares),
    }
}
