//! The rows of the metric registry.

use super::kinds::Metric;
use super::kinds::MetricKind::{self, Boundary, Class, Column, Flow, Hist, Link, Object, Page, Run, Sample};
use super::kinds::Unit::{self, BitsPerSecond, Bytes, BytesPerSecond, Count, Index, Ns, Packets, Ratio, Text, Varies};

const fn row(
    (kind, name, unit): (MetricKind, &'static str, Unit),
    definition: &'static str,
    Source(source): Source,
) -> Metric {
    Metric { name, unit, kind, definition, source }
}

struct Source(&'static str);

const OWN: Source = Source("Crosswind");
const GURTOV: Source = Source("[Gurtov 2004]");
const THESIS: Source = Source("[Järvinen 2006]");
const RIVA: Source = Source("[Riva 2003]");
const CONGESTION_CONTROL: Source = Source("RFC 5681");
const BBR_3: Source = Source("draft-ietf-ccwg-bbr");
const TIMER: Source = Source("RFC 6298");
const RATE_CONTROL: Source = Source("RFC 5348");
const ECN: Source = Source("RFC 3168");
const PERSIST: Source = Source("RFC 9293");
const PATH_MTU: Source = Source("RFC 1191");
const EVALUATION: Source = Source("RFC 5166 section 2");
const ONE_WAY_DELAY: Source = Source("RFC 7679");
const ROUND_TRIP: Source = Source("RFC 2681");
const COUPLED: Source = Source("RFC 9332");
const SOJOURN: Source = Source("RFC 8289");
const FLOW_QUEUES: Source = Source("RFC 8290");
const VARIATION: Source = Source("RFC 3393");
const LOSS_PATTERN: Source = Source("RFC 3357");
const DIFFSERV: Source = Source("RFC 2475");
const DISCARD: Source = Source("[Igarashi 2007]");
const RIO: Source = Source("[Clark Fang 1998]");
const RED: Source = Source("[Floyd Jacobson 1993]");

/// Every metric and column, by table.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    // --- what a row is about ---
    row((Column, "scenario", Index), "Number of the scenario in the list that was run.", OWN),
    row((Column, "rep", Index), "Number of the repetition; repetitions of one scenario differ in their random draws only.", OWN),
    row((Column, "flow", Index), "Number of the flow within its scenario, in order of declaration.", OWN),
    row((Column, "name", Text), "Name of the flow: that of its group, with a number when the group has several members.", OWN),
    row((Column, "group", Text), "Name of the group of equal flows that the flow was declared in.", OWN),
    row((Column, "domain", Text), "Name of the DiffServ domain in the scenario.", OWN),
    row((Column, "link", Text), "Name of the link in the scenario.", OWN),
    row((Column, "class", Text), "Name of the class of the queue; of a class inside another both, with a slash between. In a queue of flow queues `new` are the flows that have just become active, `old` the others, and each class that filters name is itself.", OWN),
    row((Column, "direction", Text), "forward is from the link's `from` to its `to`; reverse is the other way.", OWN),
    row((Column, "from", Text), "Node at which packets enter this direction of the link.", OWN),
    row((Column, "to", Text), "Node at which packets leave this direction of the link.", OWN),
    row((Column, "entity", Text), "Name of the flow or link that a sample or histogram belongs to.", OWN),
    row((Column, "metric", Text), "Name of the sampled or counted metric; it ends in the unit of the value.", OWN),
    row((Column, "time_ns", Ns), "Time since the start of the run.", OWN),
    row((Column, "value", Varies), "Value of the metric at that time.", OWN),
    row((Column, "low", Varies), "Smallest value that falls into the bucket.", OWN),
    row((Column, "high", Varies), "Smallest value above the bucket.", OWN),
    row((Column, "count", Count), "How many values fell into the bucket.", OWN),
    row((Column, "kind", Text), "What happened; the names are those of the event kinds.", OWN),
    row((Column, "seq", Varies), "Sequence number of the event as an offset from the initial one, or the value that the kind of event defines (a window in bytes, a round-trip time in nanoseconds).", OWN),
    row((Column, "len", Varies), "Payload bytes of the segment, or the length of the SACK block.", OWN),
    row((Column, "aux", Varies), "A further number that the kind of event defines: the stage that dropped or marked, the slow start threshold; for segments the TCP flags (bits 0 to 7; AE in bit 5, the place of URG) and the ECN field (bits 8 and 9).", OWN),
    row((Column, "end", Text), "The end of the flow that the event happened at, or that the packet came from: sender or receiver of the data.", OWN),

    // --- run ---
    row((Run, "seed", Index), "Seed of all random streams of the run.", OWN),
    row((Run, "end_ns", Ns), "Virtual time at which the run ended.", OWN),
    row((Run, "events", Count), "Events that the driver handled.", OWN),
    row((Run, "packets", Packets), "Packets that came into being.", OWN),
    row((Run, "peak_packets", Packets), "The most packets that existed at one time.", OWN),
    row((Run, "wall_ns", Ns), "Wall time that the run took. It differs from run to run and is no result.", OWN),
    row((Run, "outcome", Text), "Why the run ended: all flows closed (or those that it waits for), or the last of them gave up or closed; the duration was reached; nothing was left to do although a flow was open; the machine was out of memory.", OWN),
    row((Run, "leaked_packets", Packets), "Packets that were unaccounted for at the end; always 0, or the run is refused.", OWN),
    row((Run, "truncated_events", Count), "Events that did not fit into the log of this run.", OWN),
    row((Run, "elapsed_ns", Ns), "Total elapsed time: from the first packet of any flow to the last, set-up and tear-down included. -1 when some flow did not close as it should.", THESIS),
    row((Run, "overall_Bps", BytesPerSecond), "Overall throughput: what all flows delivered, with headers and each byte once, per second of the total elapsed time.", THESIS),
    row((Run, "simultaneous_jain_ratio", Ratio), "Jain's index (sum x)^2 / (n sum x^2) of the simultaneous throughputs of the traffic generators: transfers, streams, pages with all their connections.", THESIS),
    row((Run, "meetings_packets", Packets), "With shuffled ties: packets that came to a line at the instant at which one from elsewhere did, so that the order of simultaneous events decided which was first.", OWN),
    row((Run, "first_meeting_ns", Ns), "With shuffled ties: when that happened first; -1 when it never did.", OWN),
    row((Run, "first_meeting", Text), "With shuffled ties: the line at which it happened first.", OWN),
    row((Run, "lateness_p50_ns", Ns), "Median of how much later than its logical time a packet was handed to its device, in an emulation.", OWN),
    row((Run, "lateness_p99_ns", Ns), "99th percentile of how much later than its logical time a packet was handed to its device, in an emulation.", OWN),
    row((Run, "lateness_p999_ns", Ns), "99.9th percentile of how much later than its logical time a packet was handed to its device, in an emulation.", OWN),
    row((Run, "lateness_max_ns", Ns), "Largest value of how much later than its logical time a packet was handed to its device, in an emulation.", OWN),
    row((Run, "oversleep_p50_ns", Ns), "Median of how much later than asked a sleep of the emulation ended.", OWN),
    row((Run, "oversleep_p99_ns", Ns), "99th percentile of how much later than asked a sleep of the emulation ended.", OWN),
    row((Run, "oversleep_p999_ns", Ns), "99.9th percentile of how much later than asked a sleep of the emulation ended.", OWN),
    row((Run, "oversleep_max_ns", Ns), "Largest value of how much later than asked a sleep of the emulation ended.", OWN),

    // --- flow: times ---
    row((Flow, "open_ns", Ns), "When the first packet of the flow was sent: the first SYN of a TCP connection. -1 when none was.", THESIS),
    row((Flow, "close_ns", Ns), "When the flow was over: the acknowledgement of the last FIN of a TCP connection, or when it gave up or was broken off. -1 when it was still open at the end of the run.", THESIS),
    row((Flow, "elapsed_ns", Ns), "From the first SYN to the acknowledgement of the last FIN, set-up and tear-down included. -1 when that never came: the flow was still open, gave up, or was broken off.", THESIS),
    row((Flow, "outcome", Text), "What became of the flow: complete (the receiving application got all of it; a stream sent all of it), gave up (a transport did, before that), aborted (by the timeline, before that), cut off (by the end of the run), not opened, or endless (it has no end of its own).", OWN),

    // --- flow: volume ---
    row((Flow, "size_bytes", Bytes), "Application bytes that reached the receiving application, in order and once.", OWN),
    row((Flow, "protocol", Text), "Transport of the flow, by the name that `transport` has in scenarios.", OWN),
    row((Flow, "wire_size_bytes", Bytes), "The same bytes with the headers of as many full packets as they take; for a stream, the bytes of the packets that arrived.", THESIS),
    row((Flow, "goodput_bps", BitsPerSecond), "Application bits delivered per second, over the elapsed time of a closed flow and else until the end of the run. For a stream the time is the sender's: from the first to the last packet of each burst.", EVALUATION),
    row((Flow, "throughput_bps", BitsPerSecond), "As goodput, but of the delivered data with its transport and IP headers.", THESIS),
    row((Flow, "simultaneous_Bps", BytesPerSecond), "Bytes with headers per second while all flows were active, that is from the first packet of the last generator to start to the last packet of the first to finish (a page is one generator). Only original transmissions count: retransmissions of segments first sent before the interval do not. What another flow sends or receives at the very instant of either end counts or not by the order of simultaneous events.", THESIS),
    row((Flow, "sent_packets", Packets), "Packets that the data sender gave to the network, retransmissions included.", OWN),
    row((Flow, "sent_bytes", Bytes), "Bytes of those packets, IP header included.", OWN),
    row((Flow, "received_packets", Packets), "Packets that arrived at the receiver of the data.", OWN),
    row((Flow, "received_bytes", Bytes), "Bytes of those packets, IP header included.", OWN),

    // --- flow: recovery ---
    row((Flow, "handshake_ns", Ns), "From the first SYN to the establishment of the connection at the sender of its data. -1 when it was not established.", RIVA),
    row((Flow, "transmit_ns", Ns), "From the establishment of the connection, when a transfer sends its first data, to the last data packet, retransmissions included. -1 when no data was sent.", RIVA),
    row((Flow, "duplicate_acks", Count), "ACKs without data that acknowledge what was acknowledged before, while data is outstanding.", RIVA),
    row((Flow, "triple_duplicate_acks", Count), "How often a third duplicate ACK in a row arrived.", RIVA),
    row((Flow, "retransmitted_packets", Packets), "Packets whose data the sender had sent before.", OWN),
    row((Flow, "retransmitted_bytes", Bytes), "Payload bytes of those packets.", OWN),
    row((Flow, "unnecessary_retransmissions_packets", Packets), "Retransmitted packets of which an earlier copy arrived, or was still going to; whether the retransmitted copy arrived does not matter.", THESIS),
    row((Flow, "timeouts", Count), "Expiries of the retransmission timer.", TIMER),
    row((Flow, "spurious_timeouts", Count), "Expiries after which an acknowledgement of anything outstanding came that a packet from before them had caused. Known to the simulator, not to the sender.", THESIS),
    row((Flow, "avoidable_timeouts", Count), "Expiries that a longer timer would have avoided: the segment whose timer expired, or a copy of it on its way, had arrived or was still to arrive. A segment that was lost with its retransmission is none.", THESIS),
    row((Flow, "genuine_detected", Count), "Expiries that the sender itself found to be genuine.", Source("RFC 3522")),
    row((Flow, "spurious_episodes", Count), "Runs of expiries without new data acknowledged between them, after which the first acknowledgement that advanced was caused by a segment sent before the first of them. The rule is that of Eifel detection, whether the sender applies it or not: by timestamps where there are some.", Source("RFC 3522")),
    row((Flow, "genuine_episodes", Count), "Runs of expiries that are no spurious episodes.", Source("RFC 3522")),
    row((Flow, "syn_timeouts", Count), "Expiries of the timer of the SYN or SYN-ACK, at both ends.", TIMER),
    row((Flow, "syn_spurious_timeouts", Count), "Of those, the ones that a longer timer would have avoided.", THESIS),
    row((Flow, "spurious_detected", Count), "Expiries that the sender itself found to be spurious.", Source("RFC 5682")),
    row((Flow, "fast_recoveries", Count), "Loss recoveries that began without a timeout.", CONGESTION_CONTROL),
    row((Flow, "first_congestion_ns", Ns), "When the window was reduced for the first time. -1 when it never was.", CONGESTION_CONTROL),
    row((Flow, "last_timeout_ns", Ns), "The last expiry of the retransmission timer. -1 when there was none.", TIMER),
    row((Flow, "early_reductions", Count), "Reductions of the congestion window because the sender expected congestion (PERT). Missing where no flow makes any.", Source("[Bhandarkar 2006]")),
    row((Flow, "ecn_reductions", Count), "Reductions of the congestion window in answer to an ECN echo.", ECN),
    row((Flow, "window_probes", Count), "Probes of a window that the receiver had closed.", PERSIST),

    // --- flow: rate-based transports ---
    row((Flow, "allowed_rate_bps", BitsPerSecond), "Rate that the sender allowed itself at the end, headers included.", RATE_CONTROL),
    row((Flow, "no_feedback_expiries", Count), "How often the sender cut its rate because no feedback came.", RATE_CONTROL),
    row((Flow, "refused_packets", Packets), "Datagrams of the application that found the queue of its socket full.", OWN),
    row((Flow, "loss_reports", Count), "Reports of losses that reached the sender of a UDT or SABUL flow.", OWN),
    row((Flow, "rate_cuts", Count), "How often these reports made it reduce its rate.", OWN),
    row((Flow, "loss_events", Count), "Loss events that the receiver saw: losses within one round-trip time are one.", RATE_CONTROL),
    row((Flow, "loss_event_ratio", Ratio), "Loss event rate of the last report.", RATE_CONTROL),
    row((Flow, "reported_losses_packets", Packets), "Packets that the receiver took for lost.", RATE_CONTROL),
    row((Flow, "feedback_packets", Packets), "Reports that the receiver sent.", RATE_CONTROL),

    // --- flow: real stacks, in their own words ---
    row((Flow, "failure", Text), "Why the stack gave the connection up. Missing where none did.", OWN),
    row((Flow, "stack_sent_packets", Packets), "Packets that the stack says it has sent.", OWN),
    row((Flow, "stack_lost_packets", Packets), "Packets that the stack took for lost.", Source("RFC 9002")),
    row((Flow, "stack_lost_bytes", Bytes), "Bytes of the packets that the stack took for lost.", Source("RFC 9002")),
    row((Flow, "stack_retransmitted_packets", Packets), "Packets with data that the stack had sent before.", OWN),
    row((Flow, "stack_timeouts", Count), "Times that the retransmission timer of the stack ran out.", Source("RFC 6298")),
    row((Flow, "stack_congestion_events", Count), "Times that the stack told its controller of congestion.", Source("RFC 9002")),
    row((Flow, "stack_cwnd_bytes", Bytes), "Congestion window of the stack at the end.", Source("RFC 9002")),
    row((Flow, "stack_ssthresh_bytes", Bytes), "Slow start threshold of the stack at the end.", Source("RFC 9002")),
    row((Flow, "stack_srtt_ns", Ns), "Smoothed round-trip time of the stack at the end.", Source("RFC 9002")),
    row((Flow, "stack_min_rtt_ns", Ns), "Least round-trip time that the stack has seen.", Source("RFC 9002")),

    // --- flow: what the network did to it ---
    row((Flow, "drops_packets", Packets), "Congestion drops: packets of the flow, in both directions, that queues dropped.", THESIS),
    row((Flow, "valid_packets", Packets), "Packets with new data that arrived within the lifetime of their data.", GURTOV),
    row((Flow, "stale_packets", Packets), "Packets with new data that arrived after the lifetime of their data.", GURTOV),
    row((Flow, "stale_bytes", Bytes), "Payload of the packets that arrived after the lifetime of their data.", GURTOV),
    row((Flow, "cut_packets", Packets), "Packets that arrived without their payload, because its lifetime was over.", GURTOV),
    row((Flow, "reply_packets", Packets), "Answers to pings that came back.", GURTOV),
    row((Flow, "reply_delay_p50_ns", Ns), "One-way delay of the answers to pings, median.", ONE_WAY_DELAY),
    row((Flow, "lost_packets", Packets), "Error drops: packets of the flow, in both directions, that links lost.", THESIS),
    row((Flow, "marks_packets", Packets), "Packets of the flow on which a queue set the ECN codepoint CE.", ECN),
    row((Flow, "out_of_order_packets", Packets), "Data packets that arrived with a sequence number below one that had arrived before, retransmissions included.", Source("RFC 4737 section 3")),

    // --- flow: delays ---
    row((Flow, "rtt_min_ns", Ns), "Smallest round-trip time sample of the sender. Of a ping: from a question to its answer.", ROUND_TRIP),
    row((Flow, "rtt_mean_ns", Ns), "Mean of the round-trip time samples of the sender.", ROUND_TRIP),
    row((Flow, "rtt_p50_ns", Ns), "Median of the round-trip time samples of the sender.", ROUND_TRIP),
    row((Flow, "rtt_p95_ns", Ns), "95th percentile of the round-trip time samples of the sender.", ROUND_TRIP),
    row((Flow, "rtt_p99_ns", Ns), "99th percentile of the round-trip time samples of the sender.", ROUND_TRIP),
    row((Flow, "rtt_max_ns", Ns), "Largest round-trip time sample of the sender.", ROUND_TRIP),
    row((Flow, "delay_min_ns", Ns), "Smallest one-way delay of a data packet.", ONE_WAY_DELAY),
    row((Flow, "delay_mean_ns", Ns), "Mean one-way delay of data packets.", ONE_WAY_DELAY),
    row((Flow, "delay_p25_ns", Ns), "Lower quartile of the one-way delay of data packets.", ONE_WAY_DELAY),
    row((Flow, "delay_p50_ns", Ns), "Median one-way delay of data packets, from their transport to the receiving end.", ONE_WAY_DELAY),
    row((Flow, "delay_p75_ns", Ns), "Upper quartile of the one-way delay of data packets.", ONE_WAY_DELAY),
    row((Flow, "delay_p95_ns", Ns), "95th percentile of the one-way delay of data packets.", ONE_WAY_DELAY),
    row((Flow, "delay_p99_ns", Ns), "99th percentile of the one-way delay of data packets.", ONE_WAY_DELAY),
    row((Flow, "delay_max_ns", Ns), "Largest one-way delay of a data packet.", ONE_WAY_DELAY),
    row((Flow, "delay_over_150ms_ratio", Ratio), "Share of the packets of a stream that arrived more than 150 ms after they were sent.", THESIS),
    row((Flow, "delay_over_250ms_ratio", Ratio), "Share of the packets of a stream that arrived more than 250 ms after they were sent.", THESIS),
    row((Flow, "delay_over_400ms_ratio", Ratio), "Share of the packets of a stream that arrived more than 400 ms after they were sent.", THESIS),
    row((Flow, "delay_over_500ms_ratio", Ratio), "Share of the packets of a stream that arrived more than 500 ms after they were sent.", THESIS),
    row((Flow, "ipdv_min_ns", Ns), "Smallest delay variation of a stream: the delay of a packet less that of the packet before it, where both arrived and belong to one burst.", VARIATION),
    row((Flow, "ipdv_p25_ns", Ns), "Lower quartile of the delay variation, known to 0.1 ms.", VARIATION),
    row((Flow, "ipdv_p50_ns", Ns), "Median of the delay variation, known to 0.1 ms.", VARIATION),
    row((Flow, "ipdv_p75_ns", Ns), "Upper quartile of the delay variation, known to 0.1 ms.", VARIATION),
    row((Flow, "ipdv_max_ns", Ns), "Largest delay variation.", VARIATION),
    row((Flow, "ipdv_undefined_packets", Packets), "Consecutive pairs of packets of a burst whose delay variation is undefined, because one of them did not arrive.", VARIATION),
    row((Flow, "ipdv_over_20ms_ratio", Ratio), "Share of the delay variations that exceed 20 ms in either direction.", THESIS),
    row((Flow, "jitter_mean_ns", Ns), "Jitter: mean difference, in size, of the delays of packets that arrive one after the other.", Source("RFC 3550 section 6.4.1, before smoothing")),
    row((Flow, "loss_runs", Count), "How often one or more consecutive packets of a stream did not arrive.", LOSS_PATTERN),
    row((Flow, "loss_run_mean_packets", Packets), "Mean number of consecutive packets that did not arrive.", LOSS_PATTERN),
    row((Flow, "loss_run_p50_packets", Packets), "Median number of consecutive packets that did not arrive.", LOSS_PATTERN),
    row((Flow, "loss_run_max_packets", Packets), "The most consecutive packets that did not arrive; 0 when all did.", LOSS_PATTERN),

    row((Flow, "late_1_packets", Packets), "Packets that arrived after a sum of expected waits above the first limit of the flow.", DISCARD),
    row((Flow, "late_2_packets", Packets), "Packets that arrived after a sum of expected waits above the second limit of the flow.", DISCARD),
    row((Flow, "late_3_packets", Packets), "Packets that arrived after a sum of expected waits above the third limit of the flow.", DISCARD),
    row((Flow, "late_4_packets", Packets), "Packets that arrived after a sum of expected waits above the fourth limit of the flow.", DISCARD),
    row((Flow, "drops_local_delay_packets", Packets), "Packets of the flow dropped by their limit for one queue (MTQ).", DISCARD),
    row((Flow, "drops_delay_budget_packets", Packets), "Packets of the flow dropped by their budget for all queues (QTL).", DISCARD),

    // --- flow: windows ---
    row((Flow, "cwnd_max_bytes", Bytes), "Largest congestion window of the sender.", CONGESTION_CONTROL),
    row((Flow, "ssthresh_initial_bytes", Bytes), "Slow start threshold with which the connection began.", CONGESTION_CONTROL),
    row((Flow, "cwnd_bytes", Bytes), "Congestion window of the sender at the end.", CONGESTION_CONTROL),
    row((Flow, "ssthresh_bytes", Bytes), "Slow start threshold of the sender at the end.", CONGESTION_CONTROL),

    // --- page ---
    row((Page, "open_ns", Ns), "When the first SYN of the connection for the page itself was sent. -1 when it was not.", THESIS),
    row((Page, "done_ns", Ns), "When the last data segment of the last object arrived. -1 when some object did not.", THESIS),
    row((Page, "response_ns", Ns), "Response time: from the opening of the connection for the page itself to the last data segment of the last object. -1 when some object did not arrive.", THESIS),
    row((Page, "outcome", Text), "What became of the page: complete when all its objects arrived, else that of the connections which tells why not.", OWN),
    row((Page, "size_bytes", Bytes), "Application bytes of all its objects that arrived.", THESIS),
    row((Page, "drops_packets", Packets), "Congestion drops of all its connections, in both directions.", THESIS),
    row((Page, "lost_packets", Packets), "Error drops of all its connections, in both directions.", THESIS),
    row((Page, "marks_packets", Packets), "Packets of all its connections on which a queue set CE.", ECN),
    row((Page, "timeouts", Count), "Expiries of the timers of all its connections, at both ends, those of SYN and SYN-ACK included.", THESIS),
    row((Page, "spurious_timeouts", Count), "Of those, the ones after which an acknowledgement came that a packet from before them had caused.", THESIS),
    row((Page, "avoidable_timeouts", Count), "Of those, the ones that a longer timer would have avoided.", THESIS),
    row((Page, "unnecessary_retransmissions_packets", Packets), "Retransmitted packets of all its connections, in both directions, of which an earlier copy arrived or was still going to.", THESIS),
    row((Page, "simultaneous_Bps", BytesPerSecond), "Simultaneous throughput of all its connections together.", THESIS),

    // --- object ---
    row((Object, "page", Text), "Name of the page that the object belongs to.", OWN),
    row((Object, "object", Index), "Number of the object: 0 is the page itself.", OWN),
    row((Object, "open_ns", Ns), "When the first SYN of its connection was sent. -1 when it was not.", THESIS),
    row((Object, "first_byte_ns", Ns), "When its first data arrived, in order. -1 when none did.", THESIS),
    row((Object, "done_ns", Ns), "When its last data arrived, in order. -1 when it did not.", THESIS),
    row((Object, "response_ns", Ns), "From the first SYN to the last data. -1 when it did not arrive.", THESIS),
    row((Object, "outcome", Text), "What became of the object, in the words of the flow table.", OWN),
    row((Object, "size_bytes", Bytes), "Application bytes of the object that arrived.", THESIS),

    // --- link ---
    row((Link, "rate_bps", BitsPerSecond), "Capacity of the link; 0 when it has none.", OWN),
    row((Link, "arrived_packets", Packets), "Packets that came to this direction of the link, before any was dropped.", OWN),
    row((Link, "sent_packets", Packets), "Packets whose transmission on the link was completed.", OWN),
    row((Link, "sent_bytes", Bytes), "Bytes of those packets, IP header included.", OWN),
    row((Link, "delivered_packets", Packets), "Packets that left the far end of the link.", OWN),
    row((Link, "link_retransmitted_packets", Packets), "Retransmissions of the link itself, below IP (of frames, where packets are fragmented).", THESIS),
    row((Link, "busy_ns", Ns), "Time during which the link was transmitting.", OWN),
    row((Link, "utilisation_ratio", Ratio), "Share of the run during which the link was transmitting.", EVALUATION),
    row((Link, "drops_queue_full_packets", Packets), "Packets dropped because the limit of the queue was reached.", OWN),
    row((Link, "drops_early_drop_packets", Packets), "Packets that the law of the queue dropped before its limit was reached, since they could not be marked.", RED),
    row((Link, "drops_forced_drop_packets", Packets), "Packets dropped because the average queue was above the hard maximum of the law.", RED),
    row((Link, "drops_link_error_packets", Packets), "Packets that the link lost to errors, after its own retransmissions if it has any.", OWN),
    row((Link, "drops_listed_packets", Packets), "Packets dropped because the scenario listed them.", OWN),
    row((Link, "drops_no_endpoint_packets", Packets), "Packets that arrived where nobody listened any more.", OWN),
    row((Link, "drops_handover_packets", Packets), "Packets lost in a break of the radio link or a handover: on arrival, or out of the buffer that was left behind.", OWN),
    row((Link, "drops_expired_packets", Packets), "Packets discarded because their lifetime was over, or would have been before they arrived.", OWN),
    row((Link, "drops_reset_packets", Packets), "Packets thrown out of the queue because their connection had been reset.", OWN),
    row((Link, "drops_too_big_packets", Packets), "Packets that were larger than the link takes.", PATH_MTU),
    row((Link, "drops_fat_flow_packets", Packets), "Packets dropped at the head of the longest flow queue because all of them together held too much.", FLOW_QUEUES),
    row((Link, "drops_ack_filter_packets", Packets), "Acknowledgements dropped because a newer one waited behind them (CAKE).", OWN),
    row((Link, "blue_drops_packets", Packets), "Of the early drops, those that BLUE made alone (COBALT).", OWN),
    row((Link, "bucket_drops_packets", Packets), "Of the forced drops, those whose smallest bin was full (SFB).", OWN),
    row((Link, "penalty_drops_packets", Packets), "Of the forced drops, those of flows that do not listen, beyond their penalty rate (SFB).", OWN),
    row((Link, "threshold_marks_packets", Packets), "Of the marks, those of packets that had waited longer than `ce_threshold`.", FLOW_QUEUES),
    row((Link, "step_marks_packets", Packets), "Of the marks, those of packets of the L queue of DualPI2 for their own wait.", COUPLED),
    row((Link, "marks_packets", Packets), "Packets on which the queue of the link set the ECN codepoint CE.", ECN),
    row((Link, "queue_mean_bytes", Bytes), "Mean backlog of the queue over time.", OWN),
    row((Link, "queue_p95_bytes", Bytes), "Backlog that was exceeded by one arrival in twenty.", OWN),
    row((Link, "queue_max_bytes", Bytes), "Largest backlog of the queue.", OWN),
    row((Link, "queue_delay_min_ns", Ns), "Shortest time that a packet spent in the queue.", SOJOURN),
    row((Link, "queue_delay_mean_ns", Ns), "Mean time from a packet's arrival at the queue to the start of its transmission.", SOJOURN),
    row((Link, "queue_delay_p50_ns", Ns), "Median of the time that packets spent in the queue.", SOJOURN),
    row((Link, "queue_delay_p95_ns", Ns), "95th percentile of the time that packets spent in the queue.", SOJOURN),
    row((Link, "queue_delay_p99_ns", Ns), "99th percentile of the time that packets spent in the queue.", SOJOURN),
    row((Link, "queue_delay_max_ns", Ns), "Longest time that a packet spent in the queue.", SOJOURN),

    row((Link, "drops_policed_packets", Packets), "Packets that a policer dropped, because a contract does not cover them.", DIFFSERV),
    row((Link, "drops_local_delay_packets", Packets), "Packets dropped because they would have waited longer than their limit for one queue (MTQ).", DISCARD),
    row((Link, "drops_delay_budget_packets", Packets), "Packets dropped because they would have waited longer than what was left of their budget (QTL).", DISCARD),
    row((Link, "green_arrived_packets", Packets), "Packets in profile that came to a queue which treats colours differently.", RIO),
    row((Link, "yellow_arrived_packets", Packets), "Packets out of profile that came to a queue which treats colours differently.", RIO),
    row((Link, "red_arrived_packets", Packets), "Packets far out of profile that came to a queue which treats colours differently.", RIO),
    row((Link, "green_early_drops_packets", Packets), "Packets in profile that the law of such a queue dropped.", RIO),
    row((Link, "yellow_early_drops_packets", Packets), "Packets out of profile that the law of such a queue dropped.", RIO),
    row((Link, "red_early_drops_packets", Packets), "Packets far out of profile that the law of such a queue dropped.", RIO),
    row((Link, "green_full_drops_packets", Packets), "Packets in profile that found such a queue full.", RIO),
    row((Link, "yellow_full_drops_packets", Packets), "Packets out of profile that found such a queue full.", RIO),
    row((Link, "red_full_drops_packets", Packets), "Packets far out of profile that found such a queue full.", RIO),

    // --- class ---
    row((Class, "arrived_packets", Packets), "Packets that came to the class, before any was dropped.", OWN),
    row((Class, "arrived_bytes", Bytes), "Bytes of those packets, IP header included.", OWN),
    row((Class, "sent_packets", Packets), "Packets that left the class.", OWN),
    row((Class, "sent_bytes", Bytes), "Bytes of those packets, IP header included.", OWN),
    row((Class, "marks_packets", Packets), "Marks on packets of the class, by its law and by its threshold.", ECN),
    row((Class, "drops_packets", Packets), "Packets of the class that were dropped, for any reason.", OWN),
    row((Class, "drops_queue_full_packets", Packets), "Packets dropped because the limit of the class was reached.", OWN),
    row((Class, "drops_early_drop_packets", Packets), "Packets that the law of the class dropped before its limit was reached, since they could not be marked.", RED),
    row((Class, "drops_forced_drop_packets", Packets), "Packets dropped because the average queue was above the hard maximum of the law.", RED),
    row((Class, "drops_local_delay_packets", Packets), "Packets dropped because they would have waited longer than their limit for one queue (MTQ).", DISCARD),
    row((Class, "drops_delay_budget_packets", Packets), "Packets dropped because they would have waited longer than what was left of their budget (QTL).", DISCARD),
    row((Class, "drops_handover_packets", Packets), "Packets lost in a break of the radio link while they waited.", OWN),
    row((Class, "drops_expired_packets", Packets), "Packets discarded because their lifetime was over, or would have been before they arrived.", OWN),
    row((Class, "drops_reset_packets", Packets), "Packets thrown out because their connection had been reset.", OWN),
    row((Class, "drops_fat_flow_packets", Packets), "Packets dropped at the head of the longest flow queue because all of them together held too much.", FLOW_QUEUES),
    row((Class, "drops_ack_filter_packets", Packets), "Acknowledgements dropped because a newer one waited behind them (CAKE).", OWN),
    row((Class, "queue_delay_min_ns", Ns), "Shortest time that a packet spent in the class.", SOJOURN),
    row((Class, "queue_delay_mean_ns", Ns), "Mean time from the arrival of a packet at the class until it left it.", SOJOURN),
    row((Class, "queue_delay_p50_ns", Ns), "Median of the time that packets spent in the class.", SOJOURN),
    row((Class, "queue_delay_p95_ns", Ns), "95th percentile of the time that packets spent in the class.", SOJOURN),
    row((Class, "queue_delay_p99_ns", Ns), "99th percentile of the time that packets spent in the class.", SOJOURN),
    row((Class, "queue_delay_max_ns", Ns), "Longest time that a packet spent in the class.", SOJOURN),

    // --- boundary ---
    row((Boundary, "arrived_green_packets", Packets), "Packets of the flow that came to the boundary with the best drop precedence of an assured class.", DIFFSERV),
    row((Boundary, "arrived_yellow_packets", Packets), "Packets of the flow that came to the boundary with the second drop precedence.", DIFFSERV),
    row((Boundary, "arrived_red_packets", Packets), "Packets of the flow that came to the boundary with the third drop precedence.", DIFFSERV),
    row((Boundary, "arrived_other_packets", Packets), "Packets of the flow that came to the boundary in no assured class.", DIFFSERV),
    row((Boundary, "left_green_packets", Packets), "Packets of the flow that the boundary let pass with the best drop precedence.", DIFFSERV),
    row((Boundary, "left_yellow_packets", Packets), "Packets of the flow that the boundary let pass with the second drop precedence.", DIFFSERV),
    row((Boundary, "left_red_packets", Packets), "Packets of the flow that the boundary let pass with the third drop precedence.", DIFFSERV),
    row((Boundary, "left_other_packets", Packets), "Packets of the flow that the boundary let pass in no assured class.", DIFFSERV),
    row((Boundary, "remarked_packets", Packets), "Packets of the flow that came with a drop precedence and left with a worse one.", DIFFSERV),
    row((Boundary, "policed_packets", Packets), "Packets of the flow that the boundary dropped, because the contract does not cover them.", DIFFSERV),
    row((Boundary, "shaper_drops_packets", Packets), "Packets of the flow that passed the meter and found no place in the shaper of the contract.", DIFFSERV),

    // --- sample ---
    row((Sample, "queue_bytes", Bytes), "Backlog of the queue, or of one class of it.", OWN),
    row((Sample, "queue_packets", Packets), "Backlog of the queue, or of one class of it, in packets.", OWN),
    row((Sample, "green_avg_packets", Packets), "Moving average on which packets in profile are judged.", RIO),
    row((Sample, "yellow_avg_packets", Packets), "Moving average on which packets out of profile are judged.", RIO),
    row((Sample, "red_avg_packets", Packets), "Moving average on which packets far out of profile are judged.", RIO),
    row((Sample, "red_avg_bytes", Bytes), "Moving average of the backlog on which RED decides.", RED),
    row((Sample, "in_transit_packets", Packets), "Packets between the router's queue and the send buffer of the link.", THESIS),
    row((Sample, "channel_bad_ratio", Ratio), "1 while the radio channel of the link is in its bad state, else 0.", THESIS),
    row((Sample, "send_buffer_bytes", Bytes), "Bytes that the send buffer of the link holds.", THESIS),
    row((Sample, "cwnd_bytes", Bytes), "Congestion window of the sender.", CONGESTION_CONTROL),
    row((Sample, "ssthresh_bytes", Bytes), "Slow start threshold of the sender.", CONGESTION_CONTROL),
    row((Sample, "stack_lost_packets", Packets), "Packets that a real stack has taken for lost so far.", Source("RFC 9002")),
    row((Sample, "srtt_ns", Ns), "Smoothed round-trip time of the sender.", TIMER),
    row((Sample, "rttvar_ns", Ns), "Variation of the round-trip time as the timeout uses it.", TIMER),
    row((Sample, "rto_ns", Ns), "Retransmission timeout of the sender, back-off included.", TIMER),
    row((Sample, "queue_delay_ns", Ns), "Backlog of the queue divided by the rate of its link. Of a class: mean time that the packets which left it since the sample before had waited.", SOJOURN),
    row((Sample, "throughput_bps", BitsPerSecond), "Bits sent on the link, or by one class of its queue, per second since the sample before, headers included.", EVALUATION),
    row((Sample, "in_flight_bytes", Bytes), "Payload bytes that the sender takes to be in the network.", Source("RFC 6675")),
    row((Sample, "allowed_rate_bps", BitsPerSecond), "Rate that the sender of a rate-based transport allows itself, headers included.", RATE_CONTROL),
    row((Sample, "path_capacity_bps", BitsPerSecond), "Capacity of the path as packet pairs of UDT show it.", OWN),
    row((Sample, "loss_event_ratio", Ratio), "Loss event rate of the receiver's last report.", RATE_CONTROL),
    row((Sample, "pacing_rate_bps", BitsPerSecond), "Rate at which the controller lets segments leave.", Source("[Cardwell 2017]")),
    row((Sample, "marked_ratio", Ratio), "What the controller takes for the share of packets that carry congestion marks (DCTCP, Prague: alpha).", Source("[RFC 8257]")),
    row((Sample, "path_rate_bps", BitsPerSecond), "What the controller takes for the rate of the path.", Source("[Cardwell 2017]")),
    row((Sample, "least_rtt_ns", Ns), "What the controller takes for the round-trip time of the path without queues.", Source("[Cardwell 2017]")),
    row((Sample, "bbr_state", Count), "State of BBR version 3: 0 Startup, 1 Drain, 2 DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 ProbeRTT.", BBR_3),
    row((Sample, "bbr_rounds", Count), "Round trips that BBR version 3 has counted.", BBR_3),
    row((Sample, "bbr_bunches_bytes", Bytes), "How far ACKs have run ahead of the rate lately (`extra_acked`).", BBR_3),
    row((Sample, "rate_cap_bps", BitsPerSecond), "What the controller holds its rate below while it loses outside of probes (`bw_shortterm`); while there is one.", BBR_3),
    row((Sample, "flight_cap_bytes", Bytes), "What is in flight at most, from the last probe that lost too much (`inflight_longterm`); once there is one.", BBR_3),
    row((Sample, "flight_cap_now_bytes", Bytes), "What is in flight at most while it loses outside of probes (`inflight_shortterm`); while there is one.", BBR_3),
    row((Sample, "goodput_bps", BitsPerSecond), "Application bits delivered per second since the sample before.", EVALUATION),

    row((Sample, "codel_sojourn_ns", Ns), "Time that the packet which left the queue last had waited, as CoDel sees it.", SOJOURN),
    row((Sample, "codel_count_packets", Packets), "Packets that CoDel has picked since it began to, or would go on from.", SOJOURN),
    row((Sample, "aqm_base_p_ratio", Ratio), "The probability that PI2 and DualPI2 control: Classic packets are picked with its square.", COUPLED),
    row((Sample, "aqm_coupled_p_ratio", Ratio), "Probability with which DualPI2 marks a packet of its L queue because of the Classic one.", COUPLED),
    row((Sample, "aqm_p_ratio", Ratio), "Probability with which the law of the queue picks a packet now.", OWN),
    row((Sample, "size_bytes", Bytes), "Totals: application bytes that reached the receiving application so far, in order and once.", OWN),
    row((Sample, "fast_recoveries", Count), "Totals: loss recoveries so far that began without a timeout.", CONGESTION_CONTROL),
    row((Sample, "timeouts", Count), "Totals: expiries of the retransmission timer so far.", TIMER),
    row((Sample, "sent_packets", Packets), "Totals: packets that the sender of data, the link, or the class has sent so far.", OWN),
    row((Sample, "sent_bytes", Bytes), "Totals: bytes that the link or the class has sent so far.", OWN),
    row((Sample, "arrived_packets", Packets), "Totals: packets that came to this direction of the link, or to the class, so far.", OWN),
    row((Sample, "drops_packets", Packets), "Totals: packets that the queue of the link, or the class, has dropped so far.", OWN),
    row((Sample, "marks_packets", Packets), "Totals: marks that the queue of the link, or the class, has set so far.", ECN),
    row((Sample, "queue_mean_bytes", Bytes), "Totals: mean backlog of the queue from the start of the run up to now.", OWN),

    // --- hist ---
    row((Hist, "expected_wait_ns", Ns), "Sum of the waits that queues expected when a packet of the flow arrived at them, in buckets of 0.08 ms.", DISCARD),
    row((Hist, "green_interval_ns", Ns), "Time between consecutive packets that came to a contract in profile.", DIFFSERV),
    row((Hist, "queue_bytes", Bytes), "Backlog of the queue as each arriving packet found it.", OWN),
    row((Hist, "queue_delay_ns", Ns), "Time from a packet's arrival at the queue to the start of its transmission.", SOJOURN),
    row((Hist, "rtt_ns", Ns), "Round-trip time samples of the sender.", ROUND_TRIP),
    row((Hist, "delay_ns", Ns), "One-way delay of data packets, from their transport to the receiving end.", ONE_WAY_DELAY),
    row((Hist, "ipdv_ns", Ns), "Delay variation of consecutive packets of a stream, in buckets of 0.1 ms.", VARIATION),
    row((Hist, "lateness_ns", Ns), "By how much later than its logical time each packet was handed to its device, in an emulation.", OWN),
    row((Hist, "oversleep_ns", Ns), "By how much later than asked each sleep of an emulation ended.", OWN),
];
