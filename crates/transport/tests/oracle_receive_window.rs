//! The receive window of Linux 2.4 against the kernel's functions, written out with the kernel's names and order.

use crosswind_base::{Packet, Size, Streams, TcpFlags, Time};
use crosswind_transport::tcp::TcpParams;
use crosswind_transport::tcp::conn::receiver::Receiver;
use crosswind_transport::tcp::params::{ReceiveWindow, Switch};
use crosswind_transport::tcp::preset::preset;

fn params(mss: u64) -> TcpParams {
    let p = preset("baseline-linux-2.4").expect("a preset");
    assert_eq!((p.receiver.receive_window, p.receiver.receive_buffer), (ReceiveWindow::Growing, Size(87380)));
    p.with(|p| p.connection.mss = Size(mss))
}

/// The fields of `struct tcp_opt` and `struct sock` that matter, all signed as in most of the kernel's arithmetic.
struct Kernel {
    rcvbuf: i64,
    truesize: i64,
    adv_win_scale: u32,
    advmss: i64,
    window_clamp: i64,
    rcv_ssthresh: i64,
    rcv_mss: i64,
    rcv_wnd: i64,
    rcv_wup: i64,
    rcv_nxt: i64,
}

impl Kernel {
    fn new(p: &TcpParams) -> Kernel {
        let mss = p.connection.mss.0 as i64;
        let mut k = Kernel {
            rcvbuf: p.receiver.receive_buffer.0 as i64,
            truesize: p.receiver.receive_truesize.0 as i64,
            adv_win_scale: p.receiver.receive_overhead_shift,
            advmss: mss,
            window_clamp: 0,
            rcv_ssthresh: 0,
            rcv_mss: mss.min(536),
            rcv_wnd: 0,
            rcv_wup: 0,
            rcv_nxt: 0,
        };
        // tcp_select_initial_window
        let mut space = k.win_from_space(k.rcvbuf);
        if space > mss {
            space = space / mss * mss;
        }
        k.rcv_wnd = space.min(32767);
        let init_cwnd = if mss > 1460 * 3 {
            2
        } else if mss > 1460 {
            3
        } else {
            4
        };
        if k.rcv_wnd > init_cwnd * mss {
            k.rcv_wnd = init_cwnd * mss;
        }
        k.window_clamp = 65535 << if p.connection.window_scaling == Switch::On { 14 } else { 0 };
        k.rcv_ssthresh = k.rcv_wnd;
        // tcp_init_buffer_space
        let maxwin = k.win_from_space(k.rcvbuf);
        if k.window_clamp >= maxwin {
            k.window_clamp = maxwin;
            if maxwin > 4 * mss {
                k.window_clamp = (maxwin - (maxwin >> p.receiver.receive_application_shift)).max(4 * mss);
            }
        }
        if k.window_clamp > 2 * mss && k.window_clamp + mss > maxwin {
            k.window_clamp = (2 * mss).max(maxwin - mss);
        }
        k.rcv_ssthresh = k.rcv_ssthresh.min(k.window_clamp);
        k
    }
    fn win_from_space(&self, space: i64) -> i64 {
        space - (space >> self.adv_win_scale)
    }
    fn space(&self, rmem: i64) -> i64 {
        self.win_from_space((self.rcvbuf - rmem).max(0))
    }
    fn event_data_recv(&mut self, len: i64, rmem: i64) {
        self.rcv_mss = self.rcv_mss.max(len.min(self.advmss));
        if len < 128 {
            return;
        }
        if self.rcv_ssthresh < self.window_clamp && self.rcv_ssthresh < self.space(rmem) {
            let incr = if self.win_from_space(self.truesize) <= len { 2 * self.advmss } else { self.grow(len) };
            if incr > 0 {
                self.rcv_ssthresh = (self.rcv_ssthresh + incr).min(self.window_clamp);
            }
        }
    }
    fn grow(&self, len: i64) -> i64 {
        let mut truesize = self.win_from_space(self.truesize) / 2;
        let mut window = self.win_from_space(self.rcvbuf) / 2;
        while self.rcv_ssthresh <= window {
            if truesize <= len {
                return 2 * self.rcv_mss;
            }
            truesize >>= 1;
            window >>= 1;
        }
        0
    }
    /// tcp_select_window around __tcp_select_window.
    fn select_window(&mut self, rmem: i64) -> i64 {
        let cur_win = (self.rcv_wup + self.rcv_wnd - self.rcv_nxt).max(0);
        let full_space = self.window_clamp.min(self.win_from_space(self.rcvbuf));
        let mss = self.rcv_mss.min(full_space);
        let mut free_space = self.space(rmem);
        let new_win = if free_space < full_space / 2 && free_space < mss {
            0
        } else {
            free_space = free_space.min(self.rcv_ssthresh);
            let window = self.rcv_wnd;
            if window <= free_space - mss || window > free_space { free_space / mss * mss } else { window }
        };
        self.rcv_wnd = new_win.max(cur_win);
        self.rcv_wup = self.rcv_nxt;
        self.rcv_wnd
    }
}

fn segment(seq: u64, len: u64) -> Packet {
    Packet { seq, payload: len as u16, flags: TcpFlags::ACK, ..Packet::default() }
}

/// A receiver after the handshake: it has sent its first window.
fn receiver(p: &TcpParams) -> Receiver {
    let mut rx = Receiver::new(p);
    rx.next = 1;
    rx
}

#[test]
fn the_window_is_the_kernels_on_random_traces() {
    for seed in 0..200u64 {
        let mut rng = Streams::new(seed).named("trace");
        let mss = [536, 1000, 1460, 300, 1960, 4400][rng.below(6) as usize];
        let truesize = [1728, 2300, 4000, 1100][rng.below(4) as usize].max(mss);
        let scaled = rng.chance(0.3);
        let p = params(mss).with(|p| {
            p.receiver.receive_truesize = Size(truesize);
            p.receiver.receive_buffer = Size([87_380, 43_690, 1_398_080][rng.below(3) as usize]);
            p.connection.window_scaling = if scaled { Switch::On } else { Switch::Off };
        });
        let (mut rx, mut kernel) = (receiver(&p), Kernel::new(&p));
        kernel.rcv_nxt = 1;
        assert_eq!(rx.window(&p), kernel.rcv_wnd as u64, "seed {seed}: the first window");
        rx.acked();
        kernel.select_window(0);
        // In order mostly; now and then one is missing for a while and those behind it wait.
        let (mut next, mut waiting) = (1u64, 0u64);
        for step in 0..400 {
            if rng.chance(0.1) {
                let many = 1 + rng.below(6);
                for k in 1..=many {
                    rx.on_segment(&segment(next + k * mss, mss), &p, Time(step));
                    waiting += mss;
                    // Out of order: acknowledged at once, and no growth.
                    let rmem = (waiting as i64 + kernel.rcv_mss - 1) / kernel.rcv_mss * kernel.truesize;
                    assert_eq!(rx.window(&p), kernel.select_window(rmem) as u64, "seed {seed}, step {step}, hole");
                    rx.acked();
                }
                rx.on_segment(&segment(next, mss), &p, Time(step));
                next += (many + 1) * mss;
                waiting = 0;
            } else {
                let len = if rng.chance(0.1) { 1 + rng.below(mss) } else { mss };
                rx.on_segment(&segment(next, len), &p, Time(step));
                next += len;
                kernel.rcv_nxt = next as i64;
                kernel.event_data_recv(len as i64, kernel.truesize);
            }
            if kernel.rcv_nxt != next as i64 {
                kernel.rcv_nxt = next as i64;
                kernel.event_data_recv(mss as i64, kernel.truesize);
            }
            if rng.chance(0.6) {
                assert_eq!(rx.window(&p), kernel.select_window(0) as u64, "seed {seed}, step {step}");
                rx.acked();
            }
        }
    }
}

/// The windows that a receiver of full segments sends, one ACK for two segments.
fn windows(p: &TcpParams, segments: u64) -> Vec<u64> {
    let mut rx = receiver(p);
    let mss = p.connection.mss.0;
    let mut out = vec![rx.window(p)];
    rx.acked();
    for k in 0..segments {
        rx.on_segment(&segment(1 + k * mss, mss), p, Time(k));
        if k % 2 == 1 {
            out.push(rx.window(p));
            rx.acked();
        }
    }
    out
}

#[test]
fn small_segments_in_large_buffers_stop_at_thirty_two_of_them() {
    let all = windows(&params(536), 100);
    // Four segments at first, then two more for each that came, until the threshold exceeds a quarter of the space.
    assert_eq!(&all[..4], &[4 * 536, 8 * 536, 12 * 536, 16 * 536]);
    assert_eq!((all[7], all[50]), (32 * 536, 32 * 536));
    assert_eq!(32 * 536, 17_152);
}

#[test]
fn the_less_memory_a_segment_takes_the_larger_the_window() {
    let last = |mss: u64, truesize: u64| {
        let p = params(mss).with(|p| p.receiver.receive_truesize = Size(truesize));
        *windows(&p, 400).last().expect("windows")
    };
    // A copied packet (data and little more) lets it grow to the clamp, whole segments below 65535 - 536.
    assert_eq!(last(536, 700), 64_999 / 536 * 536);
    // Full Ethernet segments fill their buffer well enough.
    assert_eq!(last(1460, 1728), 64_075 / 1460 * 1460);
    // Twice the memory, half the window.
    assert_eq!(last(536, 2900), 8576 + 2 * 536 - 536 * 2);
    assert!(last(536, 1400) > 32_000 && last(536, 1400) < 36_000);
}

#[test]
fn large_buffers_with_scaling_do_not_limit_a_processing_delay() {
    let p = params(536).with(|p| {
        p.receiver.receive_buffer = Size(1_398_080);
        p.connection.window_scaling = Switch::On;
    });
    let last = *windows(&p, 2000).last().expect("windows");
    assert!((262_140..=264_300).contains(&last), "{last}");
}
