//! PRR against RFC 6937 section 3 and against Linux's `tcp_cwnd_reduction`, in whole segments on random recoveries.

use super::prr::{Progress, Prr, Reduction, Safety};
use crosswind_base::Streams;

/// RFC 6937, line by line; MSS is 1.
struct Rfc {
    recover_fs: i64,
    ssthresh: i64,
    prr_delivered: i64,
    prr_out: i64,
}

impl Rfc {
    fn on_ack(&mut self, delivered_data: i64, pipe: i64, is_ssrb: bool) -> i64 {
        self.prr_delivered += delivered_data;
        if pipe > self.ssthresh {
            let product = self.prr_delivered * self.ssthresh;
            (product + self.recover_fs - 1) / self.recover_fs - self.prr_out
        } else {
            let conservative = self.prr_delivered - self.prr_out;
            let limit = if is_ssrb { conservative.max(delivered_data) + 1 } else { conservative };
            (self.ssthresh - pipe).min(limit)
        }
    }
}

/// Linux 6.18, with its own names.
struct Linux {
    prior_cwnd: i64,
    snd_ssthresh: i64,
    prr_delivered: i64,
    prr_out: i64,
}

impl Linux {
    fn reduce(&mut self, newly_acked_sacked: i64, in_flight: i64, advanced: bool, newly_lost: bool) -> i64 {
        let delta = self.snd_ssthresh - in_flight;
        self.prr_delivered += newly_acked_sacked;
        let mut sndcnt = if delta < 0 {
            (self.snd_ssthresh * self.prr_delivered + self.prior_cwnd - 1) / self.prior_cwnd - self.prr_out
        } else {
            let mut n = (self.prr_delivered - self.prr_out).max(newly_acked_sacked);
            n += i64::from(advanced && !newly_lost);
            n.min(delta)
        };
        sndcnt = sndcnt.max(i64::from(self.prr_out == 0));
        sndcnt
    }
}

/// RFC 9937 section 6.2, with its names; SMSS is 1.
struct Rfc9937 {
    recover_fs: i64,
    ssthresh: i64,
    prr_delivered: i64,
    prr_out: i64,
}

impl Rfc9937 {
    /// Returns SndCnt.
    fn on_ack(&mut self, delivered_data: i64, inflight: i64, safe_ack: bool) -> i64 {
        self.prr_delivered += delivered_data;
        let mut snd_cnt;
        if inflight > self.ssthresh {
            let product = self.prr_delivered * self.ssthresh;
            snd_cnt = (product + self.recover_fs - 1) / self.recover_fs - self.prr_out;
        } else {
            snd_cnt = (self.prr_delivered - self.prr_out).max(delivered_data);
            if safe_ack {
                snd_cnt += 1;
            }
            snd_cnt = snd_cnt.min(self.ssthresh - inflight);
        }
        if self.prr_out == 0 && snd_cnt <= 0 {
            snd_cnt = 1;
        }
        snd_cnt
    }
}

#[test]
fn prr_of_rfc_9937_is_what_it_says_on_random_recoveries() {
    for seed in 0..300 {
        let mut r = Streams::new(seed).named("prr9937");
        let recover_fs = 4 + r.below(100) as i64;
        let ssthresh = (recover_fs * 7 / 10).max(2);
        let mut pipe = recover_fs - r.below(recover_fs as u64) as i64;
        let mut rfc = Rfc9937 { recover_fs, ssthresh, prr_delivered: 0, prr_out: 0 };
        let mut ours = Prr::new(recover_fs as f64, ssthresh as f64);
        for step in 0..120 {
            let newly = (1 + r.below(3) as i64).min(pipe);
            if newly <= 0 {
                break;
            }
            let lost = if r.chance(0.2) { r.below(3) as i64 } else { 0 };
            pipe = (pipe - newly - lost).max(0);
            let safe_ack = r.chance(0.5) && lost == 0;
            let is_safe = if safe_ack { Safety::Safe } else { Safety::Unsafe };
            let progress = Progress { newly: newly as f64, pipe: pipe as f64, is_safe };
            let got = ours.release(progress, Reduction::PrrRfc9937);
            // What would be negative releases nothing.
            let want = rfc.on_ack(newly, pipe, safe_ack).max(0);
            assert_eq!(got, want as f64, "seed {seed} step {step}");
            let sent = if r.chance(0.9) { want } else { want / 2 };
            pipe += sent;
            ours.on_sent(sent as f64);
            rfc.prr_out += sent;
        }
    }
}

/// A window of 20 with these segments lost; the ACKs of the others one by one, two of which limited transmit answers. The window after each ACK, and
/// what left: new segments, or retransmissions while there are lost ones.
fn example(lost: usize, acks: usize) -> (Vec<f64>, String) {
    let (mut pipe, mut waiting) = (18.0, lost);
    let mut prr = Prr::new(20.0, 10.0);
    let (mut windows, mut sent) = (vec![20.0, 20.0], "NN".to_string());
    // Two have left for two that were reported, and the third report tells of the losses.
    pipe += 2.0 - lost as f64;
    for _ in 2..acks {
        pipe -= 1.0;
        let count = prr.release(Progress { newly: 1.0, pipe, is_safe: Safety::Unsafe }, Reduction::PrrRfc9937);
        windows.push(pipe + count);
        for _ in 0..count as u64 {
            sent.push(if waiting > 0 { 'R' } else { 'N' });
            waiting = waiting.saturating_sub(1);
            prr.on_sent(1.0);
            pipe += 1.0;
        }
        if count == 0.0 {
            sent.push('.');
        }
    }
    (windows, sent)
}

#[test]
fn the_examples_of_rfc_9937_come_out() {
    let (windows, sent) = example(1, 18);
    let printed = [20, 20, 19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11].map(f64::from);
    assert_eq!(windows, printed);
    assert_eq!(sent, "NNR.N.N.N.N.N.N.N.");
    // The first fifteen of twenty lost, five ACKs.
    let (windows, sent) = example(15, 5);
    assert_eq!(windows, [20.0, 20.0, 5.0, 5.0, 5.0]);
    assert_eq!(sent, "NNRRR");
}

#[test]
fn prr_is_what_rfc_6937_and_linux_say() {
    let mut below = 0;
    for seed in 0..300 {
        let mut r = Streams::new(seed).named("prr");
        let base = 4 + r.below(100) as i64;
        let ssthresh = (base / 2).max(2);
        let mut pipe = base - r.below(base as u64) as i64;
        let how = [Reduction::PrrCrb, Reduction::PrrSsrb, Reduction::PrrSafeAck][(seed % 3) as usize];
        let mut rfc = Rfc { recover_fs: base, ssthresh, prr_delivered: 0, prr_out: 0 };
        let mut linux = Linux { prior_cwnd: base, snd_ssthresh: ssthresh, prr_delivered: 0, prr_out: 0 };
        let mut ours = Prr::new(base as f64, ssthresh as f64);
        for step in 0..120 {
            let newly = (1 + r.below(3) as i64).min(pipe);
            if newly <= 0 {
                break;
            }
            let lost = if r.chance(0.2) { r.below(3) as i64 } else { 0 };
            pipe = (pipe - newly - lost).max(0);
            let advanced = r.chance(0.5);
            let is_safe = if advanced && lost == 0 { Safety::Safe } else { Safety::Unsafe };
            let got = ours.release(Progress { newly: newly as f64, pipe: pipe as f64, is_safe }, how);
            let want = match how {
                Reduction::PrrSafeAck => linux.reduce(newly, pipe, advanced, lost > 0),
                _ => rfc.on_ack(newly, pipe, how == Reduction::PrrSsrb).max(i64::from(rfc.prr_out == 0)).max(0),
            };
            let want = want.max(0);
            assert_eq!(got, want as f64, "seed {seed} step {step} {how:?}: base {base}, pipe {pipe}");
            below += usize::from(pipe < ssthresh);
            // Not everything that may be sent always is.
            let sent = if r.chance(0.9) { want } else { want / 2 };
            pipe += sent;
            ours.on_sent(sent as f64);
            rfc.prr_out += sent;
            linux.prr_out += sent;
        }
    }
    assert!(below > 500, "both halves of the rule are tried: {below}");
}

#[test]
fn with_prr_the_window_falls_by_half_over_one_round_trip() {
    // Twenty segments in the network, one lost: 19 ACKs release one segment for every second one.
    let mut prr = Prr::new(20.0, 10.0);
    let (mut pipe, mut sent) = (19.0, 0.0);
    for _ in 0..19 {
        pipe -= 1.0;
        let n = prr.release(Progress { newly: 1.0, pipe, is_safe: Safety::Safe }, Reduction::PrrSafeAck);
        prr.on_sent(n);
        (pipe, sent) = (pipe + n, sent + n);
    }
    assert_eq!((pipe, sent), (10.0, 10.0));
}
